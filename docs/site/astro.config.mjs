// The documentation for partners as static files, which the service serves below /docs/.
import starlight from "@astrojs/starlight";
import { defineConfig } from "astro/config";
import { groups } from "./src/reference/document.mjs";
import { serving } from "./src/integrations/serving.mjs";

export default defineConfig({
  base: "/docs",
  trailingSlash: "always",
  outDir: "../../var/docs",
  publicDir: "../../sweepapi/static/sweepapi/icon", // the same icon as that of the pages that need no build
  integrations: [
    starlight({
      title: "SweepAPI",
      description: "Turn many small tokens of a wallet into one, in one transaction.",
      disable404Route: true,
      components: { PageTitle: "./src/components/PageTitle.astro" },
      customCss: ["./src/styles/pages.css"],
      routeMiddleware: "./src/integrations/errors-link.mjs",
      sidebar: [
        { label: "Overview", link: "/" },
        { label: "Quickstarts", items: ["quickstarts/typescript", "quickstarts/python", "quickstarts/curl"] },
        { label: "Concepts", items: ["concepts/life", "concepts/signatures", "concepts/money", "guides/protection"] },
        {
          label: "Guides",
          items: [
            "guides/executing",
            "guides/one-prompt",
            "guides/signing",
            "guides/contract-wallets",
            "guides/economics",
            "guides/confirming",
            "guides/webhooks",
            "guides/retries",
            "guides/ledger",
            "guides/solana",
            "guides/typescript-client",
            "guides/python-client",
            "guides/sandbox",
            "guides/bad-tokens",
            "guides/testing",
            "guides/going-live",
            "guides/coming-from",
          ],
        },
        {
          label: "Reference",
          items: [
            { label: "Operations", link: "/reference/" },
            ...[...groups].map(([tag, operations]) => ({
              label: tag,
              collapsed: true,
              items: operations.map(({ slug, summary }) => ({ label: summary, link: `/reference/${slug}/` })),
            })),
            { label: "Errors", link: "/errors" },
          ],
        },
      ],
    }),
    serving,
  ],
});
