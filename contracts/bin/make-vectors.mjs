#!/usr/bin/env node
// Writes tests/vectors/eip712.json: hashes, digests and signatures made by viem, an implementation that shares no code with ours.
// Both forge and pytest compare the product with them. The format (integers are decimal strings, everything else is 0x-hex):
//
//   {
//     "permit2": address,                                   // verifyingContract of the permit's domain {name "Permit2", chainId}
//     "user":      {"address", "privateKey"},               // signs the permit; one of anvil's default keys
//     "feeSigner": {"address", "privateKey"},               // signs the authorization; another default key
//     "vectors": [{
//       "name": a description,
//       "chainId", "verifyingContract",                     // the V5 contract, which is also the permit's spender
//       "legs": [{"token", "amount", "router", "funding", "data"}],
//       "legsHash": keccak256(abi.encode(legs)),
//       "authorization": {"user", "partnerId", "partnerRecipient", "protocolRecipient", "outputToken", "totalFeeBps",
//                         "partnerShareBps", "nonce", "deadline", "legsHash"},
//       "authorizationDigest", "authorizationSignature",    // EIP-712 digest and the fee signer's 65 bytes r, s, v
//       "order": {"outputToken", "minUserOutput", "totalFeeBps", "partnerId", "authorizationNonce"},
//       "witness": hashStruct(order),
//       "permitNonce", "permitDeadline",                    // permitted tokens and amounts are the legs'
//       "permitDigest", "permitSignature"                   // EIP-712 digest and the user's 65 bytes r, s, v
//     }]
//   }
//
// And tests/vectors/eip712_v4.json, where only the user signs:
//
//   {
//     "permit2", "user",                                    // as above
//     "vectors": [{
//       "name", "chainId", "verifyingContract",             // as above, for the V4 contract
//       "permitted": [{"token", "amount"}],
//       "order": {"outputToken", "minUserOutput", "feeBps", "sweepRef"},
//       "witness", "permitNonce", "permitDeadline", "permitDigest", "permitSignature"
//     }]
//   }
import { mkdirSync, writeFileSync } from "node:fs";
import { encodeAbiParameters, hashStruct, hashTypedData, keccak256, maxUint256, toHex } from "viem";
import { privateKeyToAccount } from "viem/accounts";

const TARGET = new URL("../../tests/vectors/", import.meta.url);

const USER_KEY = "0xac0974bec39a17e36ba4a6b4d238ff944bacb478cbed5efcae784d7bf4f2ff80";
const FEE_SIGNER_KEY = "0x59c6995e998f97a5a0044966f0945389dc9e86dae88c7a8412f4603b6b78690d";
const PERMIT2 = "0x000000000022D473030F116dDEE9F6B43aC78BA3";
const CONTRACT = "0x5FbDB2315678afecb367f032d93F642f64180aa3";
const NATIVE = "0xEeeeeEeeeEeEeeEeEeEeeEEEeeeeEeeeeeeeEEeE";
const ZERO = "0x0000000000000000000000000000000000000000";

const user = privateKeyToAccount(USER_KEY);
const feeSigner = privateKeyToAccount(FEE_SIGNER_KEY);

const fields = (text) => text.split(",").map((field) => ({ type: field.split(" ")[0], name: field.split(" ")[1] }));

const LEG = fields("address token,uint256 amount,address router,uint8 funding,bytes data");
const FEE_AUTHORIZATION = fields(
  "address user,bytes32 partnerId,address partnerRecipient,address protocolRecipient,address outputToken," +
    "uint16 totalFeeBps,uint16 partnerShareBps,uint256 nonce,uint256 deadline,bytes32 legsHash",
);
const SWEEP_ORDER = fields(
  "address outputToken,uint256 minUserOutput,uint16 totalFeeBps,bytes32 partnerId,uint256 authorizationNonce",
);
const SWEEP_ORDER_V4 = fields("address outputToken,uint256 minUserOutput,uint16 feeBps,bytes32 sweepRef");
const permitTypes = (orderName, order) => ({
  PermitBatchWitnessTransferFrom: fields(
    `TokenPermissions[] permitted,address spender,uint256 nonce,uint256 deadline,${orderName} witness`,
  ),
  TokenPermissions: fields("address token,uint256 amount"),
  [orderName]: order,
});

/// The typed data that the user signs: the tokens, with the contract as spender and the order as witness.
const permitDataOf = ({ chainId, permitted, permit, types, order }) => ({
  domain: { name: "Permit2", chainId, verifyingContract: PERMIT2 },
  types,
  primaryType: "PermitBatchWitnessTransferFrom",
  message: { permitted, spender: CONTRACT, nonce: permit.nonce, deadline: permit.deadline, witness: order },
});

/// Deterministic addresses and bytes.
const address = (seed) => toHex(BigInt(keccak256(toHex(seed))) >> 96n, { size: 20 });
const bytes = (seed, length) => `0x${keccak256(toHex(seed)).slice(2).repeat(8).slice(0, length * 2)}`;

const leg = (seed, changes = {}) => ({
  token: address(`token ${seed}`),
  amount: 1_000_000n,
  router: address("router"),
  funding: 0,
  data: bytes(`data ${seed}`, 228),
  ...changes,
});

const CASES = [
  { name: "one approved leg", legs: [leg(0)] },
  {
    name: "native output with an unrouted leg",
    legs: [leg(0, { router: ZERO, funding: 2, data: "0x" }), leg(1, { funding: 1 })],
    order: { outputToken: NATIVE },
  },
  {
    name: "maximum integers",
    legs: [leg(0, { amount: maxUint256, funding: 255, data: bytes("odd", 33) })],
    order: { minUserOutput: maxUint256, totalFeeBps: 65535, authorizationNonce: maxUint256 },
    authorization: { partnerShareBps: 65535, deadline: maxUint256 },
    permit: { nonce: maxUint256, deadline: maxUint256 },
  },
  {
    name: "zero integers without recipients, on another chain",
    chainId: 8453,
    legs: [leg(0, { amount: 0n, data: "0x00" })],
    order: { minUserOutput: 0n, totalFeeBps: 0, authorizationNonce: 0n, partnerId: toHex(0, { size: 32 }) },
    authorization: { partnerRecipient: ZERO, protocolRecipient: ZERO, partnerShareBps: 0, deadline: 0n },
    permit: { nonce: 0n, deadline: maxUint256 },
  },
  {
    name: "thirty legs with all funding modes",
    legs: Array.from({ length: 30 }, (_, i) =>
      leg(i, { amount: 10n ** BigInt(i), funding: i % 3, data: bytes(`data ${i}`, i * 7) }),
    ),
  },
];

async function vector({ name, chainId = 31337, legs, order = {}, authorization = {}, permit = {} }) {
  const legsHash = keccak256(encodeAbiParameters([{ type: "tuple[]", components: LEG }], [legs]));
  order = {
    outputToken: address("output"),
    minUserOutput: 123_456_789n,
    totalFeeBps: 75,
    partnerId: keccak256(toHex("partner")),
    authorizationNonce: 42n,
    ...order,
  };
  authorization = {
    user: user.address,
    partnerId: order.partnerId,
    partnerRecipient: address("partner"),
    protocolRecipient: address("protocol"),
    outputToken: order.outputToken,
    totalFeeBps: order.totalFeeBps,
    partnerShareBps: 4000,
    nonce: order.authorizationNonce,
    deadline: 1_900_000_000n,
    legsHash,
    ...authorization,
  };
  permit = { nonce: 7n, deadline: 1_900_000_000n, ...permit };

  const authorizationData = {
    domain: { name: "ServiceBatchV5PartnerFees", version: "5", chainId, verifyingContract: CONTRACT },
    types: { FeeAuthorization: FEE_AUTHORIZATION },
    primaryType: "FeeAuthorization",
    message: authorization,
  };
  const permitData = permitDataOf({
    chainId,
    permitted: legs.map(({ token, amount }) => ({ token, amount })),
    permit,
    types: permitTypes("SweepOrder", SWEEP_ORDER),
    order,
  });
  return {
    name,
    chainId,
    verifyingContract: CONTRACT,
    legs,
    legsHash,
    authorization,
    authorizationDigest: hashTypedData(authorizationData),
    authorizationSignature: await feeSigner.signTypedData(authorizationData),
    order,
    witness: hashStruct({ data: order, types: { SweepOrder: SWEEP_ORDER }, primaryType: "SweepOrder" }),
    permitNonce: permit.nonce,
    permitDeadline: permit.deadline,
    permitDigest: hashTypedData(permitData),
    permitSignature: await user.signTypedData(permitData),
  };
}

const CASES_V4 = [
  { name: "one token" },
  { name: "two tokens for the native coin", count: 2, order: { outputToken: NATIVE } },
  {
    name: "maximum integers",
    order: { minUserOutput: maxUint256, feeBps: 65535, sweepRef: toHex(maxUint256) },
    permit: { nonce: maxUint256, deadline: maxUint256 },
  },
  {
    name: "zero integers, on another chain",
    chainId: 8453,
    order: { minUserOutput: 0n, feeBps: 0, sweepRef: toHex(0, { size: 32 }) },
    permit: { nonce: 0n, deadline: maxUint256 },
  },
  { name: "thirty tokens", count: 30 },
];

async function vectorV4({ name, chainId = 31337, count = 1, order = {}, permit = {} }) {
  const permitted = Array.from({ length: count }, (_, i) => ({ token: address(`token ${i}`), amount: 10n ** BigInt(i) }));
  order = {
    outputToken: address("output"),
    minUserOutput: 123_456_789n,
    feeBps: 75,
    sweepRef: keccak256(toHex("sweep")),
    ...order,
  };
  permit = { nonce: 7n, deadline: 1_900_000_000n, ...permit };
  const types = permitTypes("SweepOrderV4", SWEEP_ORDER_V4);
  const permitData = permitDataOf({ chainId, permitted, permit, types, order });
  return {
    name,
    chainId,
    verifyingContract: CONTRACT,
    permitted,
    order,
    witness: hashStruct({ data: order, types: { SweepOrderV4: SWEEP_ORDER_V4 }, primaryType: "SweepOrderV4" }),
    permitNonce: permit.nonce,
    permitDeadline: permit.deadline,
    permitDigest: hashTypedData(permitData),
    permitSignature: await user.signTypedData(permitData),
  };
}

const decimal = (_, value) => (typeof value === "bigint" || typeof value === "number" ? value.toString() : value);
function write(file, document) {
  mkdirSync(TARGET, { recursive: true });
  writeFileSync(new URL(file, TARGET), JSON.stringify(document, decimal, 2) + "\n");
}

const signingUser = { address: user.address, privateKey: USER_KEY };
write("eip712.json", {
  permit2: PERMIT2,
  user: signingUser,
  feeSigner: { address: feeSigner.address, privateKey: FEE_SIGNER_KEY },
  vectors: await Promise.all(CASES.map(vector)),
});
write("eip712_v4.json", { permit2: PERMIT2, user: signingUser, vectors: await Promise.all(CASES_V4.map(vectorV4)) });
