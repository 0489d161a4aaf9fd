// Prepares the built files for the server: compresses them, and writes down what its Content-Security-Policy has to allow.
import { createHash } from "node:crypto";
import { readFileSync, readdirSync, writeFileSync } from "node:fs";
import { extname, join } from "node:path";
import { fileURLToPath } from "node:url";
import { constants, gzipSync } from "node:zlib";

const TEXTS = new Set([".html", ".css", ".js", ".svg", ".json", ".xml", ".txt", ".md"]);
const INLINE_SCRIPT = /<script(?![^>]*\ssrc=)[^>]*>([\s\S]*?)<\/script>/g;

export const serving = {
  name: "serving",
  hooks: {
    "astro:build:done": ({ dir }) => {
      const folder = fileURLToPath(dir);
      const files = readdirSync(folder, { recursive: true, withFileTypes: true })
        .filter((entry) => entry.isFile())
        .map((entry) => join(entry.parentPath, entry.name));
      const hashes = new Set(files.filter((file) => extname(file) === ".html").flatMap(scriptHashes));
      writeFileSync(join(folder, "script-hashes.json"), JSON.stringify([...hashes].sort()));
      for (const file of files.filter((file) => TEXTS.has(extname(file)))) {
        writeFileSync(`${file}.gz`, gzipSync(readFileSync(file), { level: constants.Z_BEST_COMPRESSION }));
      }
    },
  },
};

function scriptHashes(file) {
  const scripts = [...readFileSync(file, "utf8").matchAll(INLINE_SCRIPT)].map((match) => match[1]);
  return scripts.map((script) => `sha256-${createHash("sha256").update(script).digest("base64")}`);
}
