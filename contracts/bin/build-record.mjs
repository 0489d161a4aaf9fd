#!/usr/bin/env node
// Writes sweepapi/evm/abi/build.json, a record of the contracts' bytecode: it lets anyone verify deployed code without a compiler.
// The contracts are built from scratch for it, in an empty folder. With --check nothing is written, and the exit code is 1 if that
// build or the one in out/ differs from the committed record.
//
//   {
//     "compiler": the solc version,
//     "settings": the solc settings that affect the bytecode,
//     "contracts": {
//       name: {
//         "source": the file that defines it,
//         "creationCodeHash",      // keccak256 of the creation code, without constructor arguments
//         "creationCodeBytes",
//         "runtimeCodeHash",       // keccak256 of the deployed code, with the bytes of immutables set to zero
//         "runtimeCodeBytes",
//         "immutables": {name: [{"start", "length"}]}   // byte ranges of its value in the runtime code
//       }
//     }
//   }
import { execFileSync } from "node:child_process";
import { cpSync, mkdtempSync, readdirSync, readFileSync, rmSync, symlinkSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { delimiter, dirname, join } from "node:path";
import { fileURLToPath } from "node:url";
import { keccak256 } from "viem";

const PROJECT = fileURLToPath(new URL("../", import.meta.url));
const RECORD = fileURLToPath(new URL("../../sweepapi/evm/abi/build.json", import.meta.url));
const FORGE = join(PROJECT, "node_modules/@foundry-rs/forge-linux-amd64/bin/forge");
const CONTRACTS = ["AccessManager", "BatchAccount", "ServiceBatchV4", "ServiceBatchV5PartnerFees", "SimulationWallet", "TokenSurvey", "TransferProbe"];

const artifact = (out, name) => JSON.parse(readFileSync(join(out, `${name}.sol/${name}.json`), "utf8"));
const byteLength = (code) => code.length / 2 - 1;

/** Builds the project in an empty folder and calls `read` with the `out` folder of that build. */
function withFreshBuild(read) {
  const folder = mkdtempSync(join(tmpdir(), "contracts-"));
  try {
    for (const part of ["bin", "src", "dev", "foundry.toml"]) {
      cpSync(join(PROJECT, part), join(folder, part), { recursive: true });
    }
    symlinkSync(join(PROJECT, "node_modules"), join(folder, "node_modules"));
    const path = dirname(process.execPath) + delimiter + process.env.PATH;
    const env = { ...process.env, PATH: path, FOUNDRY_PROFILE: "default" };
    execFileSync(FORGE, ["build", "--quiet", "--ast", "src", "dev/Authority.sol"], { cwd: folder, env, stdio: "inherit" });
    return read(join(folder, "out"));
  } finally {
    rmSync(folder, { recursive: true });
  }
}

/** Returns the names of all immutables of a build by their AST id. */
function immutableNames(out) {
  const names = {};
  const visit = (node) => {
    if (node === null || typeof node !== "object") return;
    if (node.nodeType === "VariableDeclaration" && node.mutability === "immutable") names[node.id] = node.name;
    Object.values(node).forEach(visit);
  };
  for (const entry of readdirSync(out, { recursive: true })) {
    if (entry.endsWith(".json")) visit(JSON.parse(readFileSync(join(out, entry), "utf8")).ast);
  }
  return names;
}

function withImmutablesZero(code, positions) {
  for (const { start, length } of positions) {
    const [from, to] = [2 + 2 * start, 2 + 2 * (start + length)];
    code = code.slice(0, from) + "0".repeat(to - from) + code.slice(to);
  }
  return code;
}

function describe({ bytecode, deployedBytecode, metadata }, names) {
  const references = Object.entries(deployedBytecode.immutableReferences ?? {});
  const byName = references.map(([id, positions]) => [names[id], positions]).sort(([a], [b]) => (a < b ? -1 : 1));
  const masked = withImmutablesZero(deployedBytecode.object, references.flatMap(([, positions]) => positions));
  return {
    source: Object.keys(metadata.settings.compilationTarget)[0],
    creationCodeHash: keccak256(bytecode.object),
    creationCodeBytes: byteLength(bytecode.object),
    runtimeCodeHash: keccak256(masked),
    runtimeCodeBytes: byteLength(deployedBytecode.object),
    immutables: Object.fromEntries(byName),
  };
}

function record(out) {
  const names = immutableNames(out);
  const { compiler, settings } = artifact(out, "ServiceBatchV5PartnerFees").metadata;
  const { optimizer, evmVersion, viaIR, metadata } = settings;
  return {
    compiler: compiler.version,
    settings: { optimizer, evmVersion, viaIR, metadata },
    contracts: Object.fromEntries(CONTRACTS.map((name) => [name, describe(artifact(out, name), names)])),
  };
}

function check(fresh, committed) {
  const differs = (what) => {
    process.stderr.write(`${what} differs from sweepapi/evm/abi/build.json: run \`make abi\` if this is intended\n`);
    process.exitCode = 1;
  };
  for (const name of CONTRACTS) {
    const { creationCodeHash, creationCodeBytes } = fresh.contracts[name];
    process.stdout.write(`${name}: ${creationCodeBytes} bytes of creation code, ${creationCodeHash}, built from scratch\n`);
    const existing = keccak256(artifact(join(PROJECT, "out"), name).bytecode.object);
    if (existing !== committed.contracts[name]?.creationCodeHash) differs(`out/${name}.sol`);
  }
  if (JSON.stringify(fresh) !== JSON.stringify(committed)) differs("a build from scratch");
}

const fresh = withFreshBuild(record);
if (process.argv.includes("--check")) check(fresh, JSON.parse(readFileSync(RECORD, "utf8")));
else writeFileSync(RECORD, JSON.stringify(fresh, null, 2) + "\n");
