// Bundles both entries into dist, checks their sizes, and that no page can import the server's.
import { build } from "esbuild";
import { strict as assert } from "node:assert";

const BUDGETS = { server: 24_000, wallet: 15_000 }; // bytes, minified

await build({
  entryPoints: { server: "src/server.ts", wallet: "src/wallet.ts" },
  bundle: true,
  format: "esm",
  target: "es2023",
  outdir: "dist",
  external: ["openapi-fetch"],
  logLevel: "warning",
});
for (const [entry, budget] of Object.entries(BUDGETS)) {
  const { outputFiles } = await bundled(`@sweepapi/client/${entry}`, "node");
  const size = outputFiles[0].contents.length;
  assert(size <= budget, `${entry} has ${size} bytes minified, more than ${budget}`);
  console.log(`${entry}: ${size} bytes minified, of ${budget}`);
}
await bundled("@sweepapi/client/wallet", "browser");
await assert.rejects(bundled("@sweepapi/client/server", "browser"), "a page can import the entry that holds the key");

function bundled(entry, platform) {
  const stdin = { contents: `export * from "${entry}";`, resolveDir: import.meta.dirname };
  return build({ stdin, bundle: true, minify: true, format: "esm", platform, write: false, logLevel: "silent" });
}
