// Adds up the tallies of the invariant runs in the given files, and fails if an outcome that the handler is meant to reach was never reached.
import { readFileSync } from "node:fs";

const paths = process.argv.slice(2);
// Parallel runs may write into each other's lines, and forge repeats the last sequence of each rule, which writes a duplicate.
const runs = new Set(paths.flatMap((path) => readFileSync(path, "utf8").match(/\{[^}]*\}/g) ?? []));

const totals = new Map([["runs", runs.size]]);
for (const run of runs) {
  for (const [name, count] of Object.entries(JSON.parse(run))) totals.set(name, (totals.get(name) ?? 0) + count);
}
for (const [name, total] of totals) console.log(`${String(total).padStart(12)}  ${name}`);

const missed = [...totals].filter(([, total]) => total === 0).map(([name]) => name);
if (missed.length !== 0) {
  console.error(`never reached: ${missed.join(", ")}`);
  process.exit(1);
}
