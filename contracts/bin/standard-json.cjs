// Wraps the npm build of solc so that forge can use it like a native compiler where only npm is reachable. forge uses two
// commands: `--version`, and `--standard-json` with the input on stdin. The input contains all sources, so path options need no
// import callback and are ignored. The package's own `solcjs` writes non-JSON lines to stdout, which forge cannot parse.
"use strict";

const fs = require("node:fs");

module.exports = function runAsCompiler(solc) {
  const args = process.argv.slice(2);
  if (args.includes("--version")) {
    // forge parses the platform in the version and does not know Emscripten.
    const version = solc.version().replace("Emscripten.clang", "Linux.g++");
    process.stdout.write(`solc, the solidity compiler commandline interface\nVersion: ${version}\n`);
    return;
  }
  if (!args.includes("--standard-json")) {
    process.stderr.write(`only --version and --standard-json are supported, got: ${args.join(" ")}\n`);
    process.exitCode = 1;
    return;
  }
  // Written synchronously: process.stdout.write to a pipe is asynchronous and may be truncated at exit.
  const output = Buffer.from(solc.compile(fs.readFileSync(0, "utf8")));
  for (let written = 0; written < output.length; ) {
    written += writeSome(output, written);
  }
};

function writeSome(buffer, offset) {
  try {
    return fs.writeSync(1, buffer, offset);
  } catch (error) {
    if (error.code === "EAGAIN") return 0; // the pipe is full
    throw error;
  }
}
