// Prepares the built files for the server: adds every page as Markdown with a list of them (llms.txt), compresses what can be, and writes
// down what the server's Content-Security-Policy has to allow.
import { createHash } from "node:crypto";
import { copyFileSync, mkdirSync, readFileSync, readdirSync, writeFileSync } from "node:fs";
import { dirname, extname, join, relative } from "node:path";
import { fileURLToPath } from "node:url";
import { constants, gzipSync } from "node:zlib";
import { operations } from "../reference/document.mjs";
import { markdownOf } from "../reference/markdown.mjs";

const TEXTS = new Set([".html", ".css", ".js", ".svg", ".json", ".xml", ".txt", ".md"]);
const SOURCES = fileURLToPath(new URL("../content/docs", import.meta.url));
const ERRORS = fileURLToPath(new URL("../../../errors.md", import.meta.url));
const PAGE = /^---\ntitle: (.*)\ndescription: "?(.*?)"?\n---\n+([\s\S]*)$/;
const ABOUT =
  "Turns many small tokens of a wallet into one, in one transaction. The OpenAPI document is /v2/openapi.json; all errors are in /docs/errors.md.";
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
  const written = filesIn(SOURCES).map((source) => {
    const [, title, description, content] = readFileSync(source, "utf8").match(PAGE);
    return { name: relative(SOURCES, source), title, description, content };
  });
  const reference = operations.map((operation) => ({
    name: `reference/${operation.slug}.md`,
    title: operation.summary,
    description: `${operation.method} ${operation.path}`,
    content: markdownOf(operation),
  }));
  for (const { name, title, description, content } of [...written, ...reference]) {
    const page = join(folder, name);
    mkdirSync(dirname(page), { recursive: true });
    writeFileSync(page, `# ${title}\n\n${description}\n\n${content}`);
  }
  copyFileSync(ERRORS, join(folder, "errors.md"));
  const pages = `## Pages\n\n${listed(written).sort().join("\n")}`;
  writeFileSync(join(folder, "llms.txt"), `# SweepAPI\n\n> ${ABOUT}\n\n${pages}\n\n## Reference\n\n${listed(reference).join("\n")}\n`);
}

function listed(pages) {
  return pages.map(({ name, title, description }) => `- [${title}](/docs/${name}): ${description}`);
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
