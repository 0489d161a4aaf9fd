// Bundles the page, and checks that nothing in it is the server's.
import { build } from "esbuild";
import { strict as assert } from "node:assert";
import { copyFileSync } from "node:fs";

const { metafile } = await build({
  entryPoints: ["src/page.ts", "src/local-wallet.ts"],
  bundle: true,
  minify: true,
  format: "esm",
  target: "es2023",
  outdir: "dist",
  metafile: true,
  logLevel: "warning",
});
const sources = Object.keys(metafile.inputs);
assert(!sources.some((source) => source.includes("server")), "the page contains code of the server");
for (const file of ["index.html", "page.css"]) {
  copyFileSync(`src/${file}`, `dist/${file}`);
}
