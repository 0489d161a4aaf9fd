// Sums what the runs of the invariants came to, and fails if any outcome that the steps are made to reach was not reached.
import { readFileSync } from "node:fs";

const [path] = process.argv.slice(2);
// Runs end side by side, so lines may run into each other; and forge runs the last sequence of each rule again to show it.
const runs = new Set(readFileSync(path, "utf8").match(/\{[^}]*\}/g));

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
