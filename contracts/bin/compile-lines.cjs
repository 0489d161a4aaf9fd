// A compiler process for many inputs: each line on stdin is a standard JSON input, each line on stdout its output. Loading solc
// takes longer than compiling a contract, and mutation testing compiles thousands.
"use strict";

const readline = require("node:readline");
const solc = require("solc");

readline.createInterface({ input: process.stdin }).on("line", (input) => {
  process.stdout.write(`${JSON.stringify(JSON.parse(solc.compile(input)))}\n`);
});
