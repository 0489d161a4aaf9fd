#!/usr/bin/env node
// Compares the test coverage of src/ with its targets: reads the trace file of `forge coverage --report lcov`, prints each source
// and each target, writes the figures as JSON, and exits with 1 if a target is missed. `make coverage` runs both.
//
//   check-coverage.mjs <trace file> <JSON to write>
//   {
//     "targets": [{"name", "measured", "target", "met"}],
//     "sources": {path: {"lines": [hit, found], "functions": [hit, found], "branches": [hit, found]}}
//   }
import { readFileSync, writeFileSync } from "node:fs";

const TARGET_PERCENT = { lines: 98, functions: 98 };
// The counters of a source in a trace file: hit and found.
const COUNTERS = { lines: ["LH", "LF"], functions: ["FNH", "FNF"], branches: ["BRH", "BRF"] };

function readTrace(text) {
  const sources = {};
  for (const block of text.split("end_of_record\n")) {
    const path = /^SF:(src\/.*)$/m.exec(block)?.[1];
    if (path === undefined) continue;
    const count = (counter) => Number(new RegExp(`^${counter}:(\\d+)$`, "m").exec(block)[1]);
    sources[path] = Object.fromEntries(Object.entries(COUNTERS).map(([kind, pair]) => [kind, pair.map(count)]));
  }
  return sources;
}

function totals(sources) {
  const sum = (kind, index) => Object.values(sources).reduce((soFar, source) => soFar + source[kind][index], 0);
  return Object.fromEntries(Object.keys(COUNTERS).map((kind) => [kind, [sum(kind, 0), sum(kind, 1)]]));
}

const percent = ([hit, found]) => (found === 0 ? 0 : (100 * hit) / found);
const fraction = ([hit, found]) => `${hit}/${found}`.padStart(10);

const [traceFile, resultFile] = process.argv.slice(2);
const sources = readTrace(readFileSync(traceFile, "utf8"));
const all = totals(sources);
const targets = Object.entries(TARGET_PERCENT).map(([kind, target]) => {
  const measured = percent(all[kind]);
  return { name: `${kind} of src, percent`, measured, target, met: measured >= target };
});

console.log(" ".repeat(36) + Object.keys(COUNTERS).map((kind) => kind.padStart(10)).join(""));
for (const [path, figures] of Object.entries({ ...sources, all })) {
  console.log(path.padEnd(36) + Object.values(figures).map(fraction).join(""));
}
for (const { name, measured, target, met } of targets) {
  console.log(`${name}: ${measured.toFixed(2)}, target ${target}: ${met ? "met" : "missed"}`);
}
writeFileSync(resultFile, JSON.stringify({ targets, sources }, null, 2) + "\n");
process.exitCode = targets.every(({ met }) => met) ? 0 : 1;
