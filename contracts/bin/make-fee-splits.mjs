#!/usr/bin/env node
// Writes ten thousand fee splits, computed here in BigInt without any of our code. Both forge and pytest compare the product with
// them. The file is generated before the tests and not committed; its SHA-256 is (tests/vectors/fee_splits.sha256), so that it
// can't change unnoticed. With --checksum only that SHA-256 is written, after an intended change.
//
// var/vectors/fee_splits.bin is a sequence of records of seven 32-byte big-endian words:
//   grossOutput, totalFeeBps, partnerShareBps, totalFee, partnerFee, protocolFee, userAmount
// The first records are edge cases, each gross with each fee and each share; the rest is pseudo-random (keccak256 of a counter).
import { createHash } from "node:crypto";
import { mkdirSync, writeFileSync } from "node:fs";
import { concatBytes, keccak256, maxUint256, numberToBytes } from "viem";

const TARGET = new URL("../../var/vectors/", import.meta.url);
const CHECKSUM = new URL("../../tests/vectors/fee_splits.sha256", import.meta.url);

const COUNT = 10_000;
const WHOLE_BPS = 10_000n;
const MAX_FEE_BPS = 300n;

const EDGE_GROSSES = [0n, 1n, 33n, 34n, 9_999n, 10_000n, 10_001n, 10n ** 18n, 2n ** 128n - 1n, 2n ** 128n];
EDGE_GROSSES.push(maxUint256 / MAX_FEE_BPS, maxUint256 / MAX_FEE_BPS + 1n, maxUint256 - 1n, maxUint256);
const EDGE_FEES_BPS = [0n, 1n, 75n, MAX_FEE_BPS - 1n, MAX_FEE_BPS];
const EDGE_SHARES_BPS = [0n, 1n, 4_000n, WHOLE_BPS - 1n, WHOLE_BPS];

let drawn = 0n;
/// Deterministic 256-bit numbers.
const draw = () => BigInt(keccak256(numberToBytes(drawn++, { size: 32 })));

/// Gross outputs of every bit length, because small outputs are as likely to be split wrongly as large ones.
const randomCase = () => [draw() >> (draw() % 256n), draw() % (MAX_FEE_BPS + 1n), draw() % (WHOLE_BPS + 1n)];

function split([grossOutput, totalFeeBps, partnerShareBps]) {
  const totalFee = (grossOutput * totalFeeBps) / WHOLE_BPS;
  const partnerFee = (totalFee * partnerShareBps) / WHOLE_BPS;
  return [grossOutput, totalFeeBps, partnerShareBps, totalFee, partnerFee, totalFee - partnerFee, grossOutput - totalFee];
}

const edges = EDGE_GROSSES.flatMap((gross) =>
  EDGE_FEES_BPS.flatMap((feeBps) => EDGE_SHARES_BPS.map((shareBps) => [gross, feeBps, shareBps])),
);
const cases = [...edges, ...Array.from({ length: COUNT - edges.length }, randomCase)];
const file = concatBytes(cases.flatMap(split).map((word) => numberToBytes(word, { size: 32 })));

if (process.argv.includes("--checksum")) {
  writeFileSync(CHECKSUM, `${createHash("sha256").update(file).digest("hex")}\n`);
} else {
  mkdirSync(TARGET, { recursive: true });
  writeFileSync(new URL("fee_splits.bin", TARGET), file);
}
