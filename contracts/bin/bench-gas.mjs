#!/usr/bin/env node
// Compares the gas of sweeps with that of other ways to make the same swaps, as measured by test/GasComparison.t.sol and
// test/FirstTimers.t.sol. Prints a table, the numbers of legs from which a sweep is cheaper, and each target with its measured
// value; exits with 1 if a target is missed. Also writes var/bench/gas.json; its figures are the gas used by transactions, after
// refunds:
//
//   {
//     "rows": [{"way", "balances": "emptied" or "keeping", "gas": {legs: gas}}],
//     "leastGasLimits": {legs: {"limit", "gasUsed"}},           // of sweeps through V3 pools, emptied
//     "breakEvenLegs": [{"way", "than", "balances", "legs"}],   // the way is cheaper from here on; null if it never is
//     "targets": [{"name", "measured", "target", "met"}]
//   }
import { execFileSync } from "node:child_process";
import { mkdirSync, writeFileSync } from "node:fs";
import { fileURLToPath } from "node:url";

const PROJECT = fileURLToPath(new URL("../", import.meta.url));
const TARGET = new URL("../../var/bench/", import.meta.url);
const FORGE = `${PROJECT}node_modules/@foundry-rs/forge-linux-amd64/bin/forge`;
const CONTRACTS = ["GasComparison", "FirstTimers"];
const MATCH = ["--match-contract", `^(${CONTRACTS.join("|")})$`, "--match-test", "test_measures_"];
const SHOWN_LEGS = [1, 2, 3, 5, 10, 20];
const BALANCES = { emptied: "users sweep their whole balance of each token", keeping: "users keep some of each token" };
// The first form of the contracts, which used routers only: ten approvals of Permit2, then a sweep of ten approved legs.
const FIRST_FORM_FIRST_TIME_GAS = 1_687_000;

function measure() {
  const command = ["test", "--json", "-vv", ...MATCH];
  const output = execFileSync(FORGE, command, { cwd: PROJECT, encoding: "utf8", maxBuffer: 2 ** 26 });
  const suites = JSON.parse(output.slice(output.indexOf('{"')));
  const results = CONTRACTS.flatMap((name) => Object.values(suites[`test/${name}.t.sol:${name}`].test_results));
  const rows = new Map();
  const leastGasLimits = {};
  for (const line of results.flatMap((result) => result.decoded_logs)) {
    const limit = line.match(/^least gas limit: (\d+) (\d+) (\d+)$/);
    if (limit) {
      leastGasLimits[limit[1]] = { limit: Number(limit[2]), gasUsed: Number(limit[3]) };
    } else {
      const [, way, balances, legs, gas] = line.match(/^gas: (.+); (emptied|keeping); (\d+) (\d+)$/);
      const row = rows.get(way + balances) ?? { way, balances, gas: {} };
      row.gas[legs] = Number(gas);
      rows.set(way + balances, row);
    }
  }
  return { rows: [...rows.values()], leastGasLimits };
}

const { rows, leastGasLimits } = measure();
const gasOf = (way, balances = "emptied") => rows.find((row) => row.way === way && row.balances === balances).gas;

function breakEven(way, than, balances) {
  const [mine, theirs] = [gasOf(way, balances), gasOf(than, balances)];
  const cheaper = Object.keys(mine).map((legs) => [Number(legs), mine[legs] < theirs[legs]]);
  const from = cheaper.findLastIndex(([, isCheaper]) => !isCheaper) + 1;
  return { way, than, balances, legs: cheaper[from]?.[0] ?? null };
}

/// Targets apply to sweeps of whole balances.
function targets() {
  const sweep = gasOf("V5, V3 pools");
  const furtherLeg = Math.round((sweep[3] - sweep[1]) / 2);
  const ratio = (gas, other) => Number((gas / other).toFixed(3));
  const limitRatio = (legs) => ratio(leastGasLimits[legs].limit, leastGasLimits[legs].gasUsed);
  return [
    ["fixed gas: one leg less a further leg", sweep[1] - furtherLeg, 105_000],
    ["gas of a further leg: the mean of the second and third", furtherLeg, 70_500],
    ["ten legs relative to ten bare swaps with existing approvals", ratio(sweep[10], gasOf("bare swaps")[10]), 0.8],
    ["ten legs and the Universal Router's, a second time", sweep[10], gasOf("Universal Router again")[10] - 1],
    [
      "ten legs to USDC relative to ten bare swaps of two hops",
      ratio(gasOf("V5 to USDC, shared last hop")[10], gasOf("bare two-hop swaps to USDC")[10]),
      0.525,
    ],
    ["ten legs through V2 pools, the first swap of each", gasOf("V5, V2 pools' first swaps")[10], 1_085_000],
    [
      "ten legs, first time, call bundle, relative to the first form's approvals and sweep",
      ratio(gasOf("first time: call bundle")[10], FIRST_FORM_FIRST_TIME_GAS),
      0.55,
    ],
    ["least gas limit relative to the gas used, ten legs", limitRatio(10), 1.2],
    ["least gas limit relative to the gas used, twenty legs", limitRatio(20), 1.5],
    ["least gas limit relative to the gas used, thirty legs", limitRatio(30), 1.9],
    ["least gas limit of thirty legs, in a transaction's at most", leastGasLimits[30].limit, 16_777_216],
  ].map(([name, measured, target]) => ({ name, measured, target, met: measured <= target }));
}

const breakEvens = Object.keys(BALANCES).flatMap((balances) => [
  ...["V5, V3 pools", "V5, router legs", "V4, V3 pools"].flatMap((way) =>
    ["bare swaps", "bare swaps with approvals", "Universal Router", "Universal Router again"].map((than) =>
      breakEven(way, than, balances),
    ),
  ),
  breakEven("V5 to USDC, shared last hop", "bare two-hop swaps to USDC", balances),
]);
const report = { rows, leastGasLimits, breakEvenLegs: breakEvens, targets: targets() };
mkdirSync(TARGET, { recursive: true });
writeFileSync(new URL("gas.json", TARGET), JSON.stringify(report, null, 2) + "\n");

const number = (value) => value.toLocaleString("en-US");
const print = (line = "") => process.stdout.write(`${line}\n`);
for (const [balances, description] of Object.entries(BALANCES)) {
  print(`gas, ${description}`);
  print("legs".padEnd(36) + SHOWN_LEGS.map((legs) => String(legs).padStart(12)).join(""));
  for (const { way, gas } of rows.filter((row) => row.balances === balances)) {
    print(way.padEnd(36) + SHOWN_LEGS.map((legs) => number(gas[legs]).padStart(12)).join(""));
  }
  for (const { way, than, legs } of breakEvens.filter((entry) => entry.balances === balances)) {
    print(`${way}: ${legs === null ? `never cheaper than ${than}` : `cheaper than ${than} from ${legs} legs`}`);
  }
  print();
}
for (const [legs, { limit, gasUsed }] of Object.entries(leastGasLimits)) {
  print(`${legs} legs through V3 pools: least gas limit ${number(limit)}, gas used ${number(gasUsed)}`);
}
print();
for (const { name, measured, target, met } of report.targets) {
  print(`${name}: measured ${number(measured)}, target at most ${number(target)}, ${met ? "met" : "missed"}`);
}
if (report.targets.some(({ met }) => !met)) process.exitCode = 1;
