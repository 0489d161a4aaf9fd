#!/usr/bin/env node
// Compares the gas of sweeps with that of other ways to make the same swaps, as measured by test/GasComparison.t.sol. Prints a
// table, the numbers of legs from which a sweep is cheaper, and each target with its measured value; exits with 1 if a target is
// missed. Also writes var/bench/gas.json; its figures are the gas used by transactions, after refunds:
//
//   {
//     "rows": [{"way", "balances": "emptied" or "keeping", "gas": {legs: gas}}],
//     "breakEvenLegs": [{"way", "than", "balances", "legs"}],   // the way is cheaper from here on; null if it never is
//     "targets": [{"name", "measured", "target", "met"}]
//   }
import { execFileSync } from "node:child_process";
import { mkdirSync, writeFileSync } from "node:fs";
import { fileURLToPath } from "node:url";

const PROJECT = fileURLToPath(new URL("../", import.meta.url));
const TARGET = new URL("../../var/bench/", import.meta.url);
const FORGE = `${PROJECT}node_modules/@foundry-rs/forge-linux-amd64/bin/forge`;
const TEST = ["test", "--json", "-vv", "--match-contract", "^GasComparison$", "--match-test", "test_measures_the_whole_table"];
const SHOWN_LEGS = [1, 2, 3, 5, 10, 20];
const BALANCES = { emptied: "users sweep their whole balance of each token", keeping: "users keep some of each token" };

function measure() {
  const output = execFileSync(FORGE, TEST, { cwd: PROJECT, encoding: "utf8", maxBuffer: 2 ** 26 });
  const [suite] = Object.values(JSON.parse(output.slice(output.indexOf('{"'))));
  const [result] = Object.values(suite.test_results);
  const rows = new Map();
  for (const line of result.decoded_logs) {
    const [, way, balances, legs, gas] = line.match(/^gas: (.+); (emptied|keeping); (\d+) (\d+)$/);
    const row = rows.get(way + balances) ?? { way, balances, gas: {} };
    row.gas[legs] = Number(gas);
    rows.set(way + balances, row);
  }
  return [...rows.values()];
}

const rows = measure();
const gasOf = (way, balances) => rows.find((row) => row.way === way && row.balances === balances).gas;

function breakEven(way, than, balances) {
  const [mine, theirs] = [gasOf(way, balances), gasOf(than, balances)];
  const cheaper = Object.keys(mine).map((legs) => [Number(legs), mine[legs] < theirs[legs]]);
  const from = cheaper.findLastIndex(([, isCheaper]) => !isCheaper) + 1;
  return { way, than, balances, legs: cheaper[from]?.[0] ?? null };
}

/// Targets apply to prefunded sweeps of whole balances.
function targets() {
  const sweep = gasOf("V5 prefunded", "emptied");
  const additionalLeg = Math.round((sweep[3] - sweep[1]) / 2);
  return [
    { name: "fixed gas: one leg less an additional leg", measured: sweep[1] - additionalLeg, target: 105_000 },
    { name: "gas of an additional leg: the mean of the second and third", measured: additionalLeg, target: 84_000 },
    {
      name: "ten legs relative to ten bare swaps with existing approvals",
      measured: Number((sweep[10] / gasOf("bare swaps", "emptied")[10]).toFixed(3)),
      target: 0.95,
    },
  ].map((target) => ({ ...target, met: target.measured <= target.target }));
}

const breakEvens = Object.keys(BALANCES).flatMap((balances) =>
  ["V5 prefunded", "V5 approved", "V4 prefunded", "V4 approved"].flatMap((way) =>
    ["bare swaps", "bare swaps with approvals", "Universal Router"].map((than) => breakEven(way, than, balances)),
  ),
);
const report = { rows, breakEvenLegs: breakEvens, targets: targets() };
mkdirSync(TARGET, { recursive: true });
writeFileSync(new URL("gas.json", TARGET), JSON.stringify(report, null, 2) + "\n");

const number = (value) => value.toLocaleString("en-US");
const print = (line = "") => process.stdout.write(`${line}\n`);
for (const [balances, description] of Object.entries(BALANCES)) {
  print(`gas, ${description}`);
  print("legs".padEnd(28) + SHOWN_LEGS.map((legs) => String(legs).padStart(12)).join(""));
  for (const { way, gas } of rows.filter((row) => row.balances === balances)) {
    print(way.padEnd(28) + SHOWN_LEGS.map((legs) => number(gas[legs]).padStart(12)).join(""));
  }
  for (const { way, than, legs } of breakEvens.filter((entry) => entry.balances === balances)) {
    print(`${way}: ${legs === null ? `never cheaper than ${than}` : `cheaper than ${than} from ${legs} legs`}`);
  }
  print();
}
for (const { name, measured, target, met } of report.targets) {
  print(`${name}: measured ${number(measured)}, target at most ${number(target)}, ${met ? "met" : "missed"}`);
}
if (report.targets.some(({ met }) => !met)) process.exitCode = 1;
