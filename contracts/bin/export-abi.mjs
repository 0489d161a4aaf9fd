#!/usr/bin/env node
// Exports the parts of the build that Python needs into the Python package, so that the service runs without a compiler:
//   ServiceBatchV4.json             the ABI, a JSON array
//   ServiceBatchV5PartnerFees.json  the ABI, a JSON array
//   SimulationWallet.json           {"abi": [...], "deployedBytecode": "0x..."}, code for a state override
//   BatchAccount.json, TokenSurvey.json, TransferProbe.json  the same
// With --check nothing is written; the exit code is 1 if a committed file differs from the build. Run `forge build` first.
import { mkdirSync, readFileSync, writeFileSync } from "node:fs";

const BUILD = new URL("../out/", import.meta.url);
const TARGET = new URL("../../sweepapi/evm/abi/", import.meta.url);

const artifact = (name) => JSON.parse(readFileSync(new URL(`${name}.sol/${name}.json`, BUILD), "utf8"));

const withCode = (name) => {
  const { abi, deployedBytecode } = artifact(name);
  return { abi, deployedBytecode: deployedBytecode.object };
};

const exports = {
  "BatchAccount.json": withCode("BatchAccount"),
  "ServiceBatchV4.json": artifact("ServiceBatchV4").abi,
  "ServiceBatchV5PartnerFees.json": artifact("ServiceBatchV5PartnerFees").abi,
  "SimulationWallet.json": withCode("SimulationWallet"),
  "TransferProbe.json": withCode("TransferProbe"),
  "TokenSurvey.json": withCode("TokenSurvey"),
};

function committed(file) {
  try {
    return readFileSync(new URL(file, TARGET), "utf8");
  } catch (error) {
    if (error.code === "ENOENT") return null;
    throw error;
  }
}

const checkOnly = process.argv.includes("--check");
for (const [file, content] of Object.entries(exports)) {
  const text = JSON.stringify(content, null, 2) + "\n";
  if (committed(file) === text) continue;
  if (checkOnly) {
    process.stderr.write(`sweepapi/evm/abi/${file} differs from the build: run contracts/bin/export-abi.mjs\n`);
    process.exitCode = 1;
  } else {
    mkdirSync(TARGET, { recursive: true });
    writeFileSync(new URL(file, TARGET), text);
    process.stdout.write(`wrote sweepapi/evm/abi/${file}\n`);
  }
}
