// Makes the npm build of solc look like a native compiler to forge, so that contracts build where only npm is reachable.
// forge speaks two commands: `--version`, and `--standard-json` with the input on stdin; it hands over every source inside
// that input, so its path options need no import callback and are ignored. The package's own `solcjs` writes non-JSON lines
// to stdout, which forge cannot parse.
"use strict";

const fs = require("node:fs");

module.exports = function runAsCompiler(solc) {
  const args = process.argv.slice(2);
  if (args.includes("--version")) {
    // forge parses the platform out of the version and does not know Emscripten.
    const version = solc.version().replace("Emscripten.clang", "Linux.g++");
    process.stdout.write(`solc, the solidity compiler commandline interface\nVersion: ${version}\n`);
    return;
  }
  if (!args.includes("--standard-json")) {
    process.stderr.write(`only --version and --standard-json are understood, got: ${args.join(" ")}\n`);
    process.exitCode = 1;
    return;
  }
  // writeSync to the descriptor: process.stdout.write to a pipe is asynchronous and may be cut off at exit.
  const output = Buffer.from(solc.compile(fs.readFileSync(0, "utf8")));
  for (let written = 0; written < output.length; ) {
    written += writeSome(output, written);
  }
};

function writeSome(buffer, offset) {
  try {
    return fs.writeSync(1, buffer, offset);
  } catch (error) {
    if (error.code === "EAGAIN") return 0; // the reader is slower than we are
    throw error;
  }
}
