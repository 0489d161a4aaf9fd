// Prepares the built files for the server: adds every page as Markdown with a list of them (llms.txt), compresses what can be, and writes
// down what the server's Content-Security-Policy has to allow.
import { createHash } from "node:crypto";
import { mkdirSync, readFileSync, readdirSync, writeFileSync } from "node:fs";
import { dirname, extname, join, relative } from "node:path";
import { fileURLToPath } from "node:url";
import { constants, gzipSync } from "node:zlib";

const TEXTS = new Set([".html", ".css", ".js", ".svg", ".json", ".xml", ".txt", ".md"]);
const SOURCES = fileURLToPath(new URL("../content/docs", import.meta.url));
const PAGE = /^---\ntitle: (.*)\ndescription: (.*)\n---\n+([\s\S]*)$/;
const ABOUT =
  "Turns many small tokens of a wallet into one, in one transaction. The operations are in /v2/openapi.json, the errors in /docs/errors.";
const INLINE_SCRIPT = /<script(?![^>]*\ssrc=)[^>]*>([\s\S]*?)<\/script>/g;

export const serving = {
  name: "serving",
  hooks: {
    "astro:build:done": ({ dir }) => {
      const folder = fileURLToPath(dir);
      writeMarkdown(folder);
      const files = filesIn(folder);
      const hashes = new Set(files.filter((file) => extname(file) === ".html").flatMap(scriptHashes));
      for (const file of files.filter((file) => TEXTS.has(extname(file)))) {
        writeFileSync(`${file}.gz`, gzipSync(readFileSync(file), { level: constants.Z_BEST_COMPRESSION }));
      }
      writeFileSync(join(folder, "script-hashes.json"), JSON.stringify([...hashes].sort())); // last: the server waits for it
    },
  },
};

function writeMarkdown(folder) {
  const listed = filesIn(SOURCES).map((source) => {
    const name = relative(SOURCES, source);
    const [, title, description, content] = readFileSync(source, "utf8").match(PAGE);
    const page = join(folder, name);
    mkdirSync(dirname(page), { recursive: true });
    writeFileSync(page, `# ${title}\n\n${description}\n\n${content}`);
    return `- [${title}](/docs/${name}): ${description}`;
  });
  writeFileSync(join(folder, "llms.txt"), `# SweepAPI\n\n> ${ABOUT}\n\n## Pages\n\n${listed.sort().join("\n")}\n`);
}

function filesIn(folder) {
  return readdirSync(folder, { recursive: true, withFileTypes: true })
    .filter((entry) => entry.isFile())
    .map((entry) => join(entry.parentPath, entry.name));
}

function scriptHashes(file) {
  const scripts = [...readFileSync(file, "utf8").matchAll(INLINE_SCRIPT)].map((match) => match[1]);
  return scripts.map((script) => `sha256-${createHash("sha256").update(script).digest("base64")}`);
}
