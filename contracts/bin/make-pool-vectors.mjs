#!/usr/bin/env node
// Writes tests/vectors/pools.json: addresses of pools made by viem, which shares no code with ours; the first two exist on
// Ethereum. Both forge and pytest compare the product with them. The format (`saltRule` is a name of IVenueList.SaltRule):
//
//   {"pools": [{"name", "deployer", "saltRule", "initCodeHash", "tokenA", "tokenB", "fee", "address"}]}
import { writeFileSync } from "node:fs";
import { encodeAbiParameters, encodePacked, getContractAddress, keccak256, toHex } from "viem";

const TARGET = new URL("../../tests/vectors/pools.json", import.meta.url);
const ADDRESS = { type: "address" };

// What the salt of a pool is the hash of, by the rule's name in the contracts.
const SALTS = {
  PairAndFee: (pair, fee) => encodeAbiParameters([ADDRESS, ADDRESS, { type: "uint24" }], [...pair, fee]),
  Pair: (pair) => encodeAbiParameters([ADDRESS, ADDRESS], pair),
  PackedPair: (pair) => encodePacked(["address", "address"], pair),
};

const LOW = `0x${"00".repeat(19)}01`;
const HIGH = `0x${"ff".repeat(20)}`;
const [USDC, WETH] = ["0xA0b86991c6218b36c1d19D4a2e9Eb0cE3606eB48", "0xC02aaA39b223FE8D0A0e5C4F27eAD9083C756Cc2"];
const UNISWAP_V3 = {
  deployer: "0x1F98431c8aD98523631AE4a59f267346ea31F984",
  saltRule: "PairAndFee",
  initCodeHash: "0xe34f199b19b2b4f47f68442619d555527d244f78a3297ea89325f843f87b8b54",
};
const UNISWAP_V2 = {
  deployer: "0x5C69bEe701ef814a2B6a3EDD4B1652CB9cc5aA6f",
  saltRule: "PackedPair",
  initCodeHash: "0x96e8ac4277198ff8b6f785478aa9a39f403cb768dd02cbee326c3e7da348845f",
};
const ALGEBRA = { deployer: `0x${"de".repeat(20)}`, saltRule: "Pair", initCodeHash: keccak256(toHex("a pool's code")) };
const POOLS = [
  { name: "USDC and WETH at 0.05 % in Uniswap V3", ...UNISWAP_V3, tokenA: USDC, tokenB: WETH, fee: 500 },
  { name: "USDC and WETH in Uniswap V2", ...UNISWAP_V2, tokenA: USDC, tokenB: WETH, fee: 0 },
  { name: "the largest fee, tokens in the other order", ...UNISWAP_V3, tokenA: HIGH, tokenB: LOW, fee: 2 ** 24 - 1 },
  { name: "packed tokens in the other order", ...UNISWAP_V2, tokenA: HIGH, tokenB: LOW, fee: 0 },
  { name: "a salt without a fee", ...ALGEBRA, tokenA: WETH, tokenB: USDC, fee: 0 },
];

function vector({ deployer, saltRule, initCodeHash, tokenA, tokenB, fee, ...rest }) {
  const pair = [tokenA, tokenB].sort((one, other) => (BigInt(one) < BigInt(other) ? -1 : 1));
  const salt = keccak256(SALTS[saltRule](pair, fee));
  const found = getContractAddress({ opcode: "CREATE2", from: deployer, salt, bytecodeHash: initCodeHash });
  return { ...rest, deployer, saltRule, initCodeHash, tokenA, tokenB, fee, address: found };
}

writeFileSync(TARGET, JSON.stringify({ pools: POOLS.map(vector) }, null, 2) + "\n");
