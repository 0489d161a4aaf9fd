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
//       "route": {"legs": [{"token", "amount", "floor", "hop", "packedHop"}], "lastHop", "packedLastHop", "maxSkipped",
//                 "routerCalls": [{"leg", "router", "data"}]},
//                                                           // a hop is {"fee", "venue", "joined", "skippable", "dropped",
//                                                           // "least"}; packed, as the contract takes it
//       "legsHash": keccak256(abi.encode(route)),
//       "authorization": {"user", "partnerId", "partnerRecipient", "protocolRecipient", "outputToken", "totalFeeBps",
//                         "partnerShareBps", "nonce", "deadline", "legsHash"},
//       "authorizationDigest", "authorizationSignature",    // EIP-712 digest and the fee signer's 65 bytes r, s, v
//       "order": {"outputToken", "floors", "maxSkipped", "totalFeeBps", "partnerId", "authorizationNonce"},
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
//       "route",                                            // as above
//       "order": {"outputToken", "floors", "maxSkipped", "feeBps", "sweepRef"},
//       "witness", "permitNonce", "permitDeadline", "permitDigest", "permitSignature"
//     }]
//   }
import { mkdirSync, writeFileSync } from "node:fs";
import { encodeAbiParameters, hashStruct, hashTypedData, keccak256, maxUint128, maxUint256, toHex } from "viem";
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

const ROUTE = [
  { name: "legs", type: "tuple[]", components: fields("address token,uint256 amount,uint256 floor,uint256 hop") },
  ...fields("uint256 lastHop,uint256 maxSkipped"),
  { name: "routerCalls", type: "tuple[]", components: fields("uint256 leg,address router,bytes data") },
];
const FEE_AUTHORIZATION = fields(
  "address user,bytes32 partnerId,address partnerRecipient,address protocolRecipient,address outputToken," +
    "uint16 totalFeeBps,uint16 partnerShareBps,uint256 nonce,uint256 deadline,bytes32 legsHash",
);
const SWEEP_ORDER = fields(
  "address outputToken,uint256[] floors,uint8 maxSkipped,uint16 totalFeeBps,bytes32 partnerId,uint256 authorizationNonce",
);
const SWEEP_ORDER_V4 = fields("address outputToken,uint256[] floors,uint8 maxSkipped,uint16 feeBps,bytes32 sweepRef");
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

const hop = (changes = {}) => ({ fee: 0, venue: 0, joined: false, skippable: false, dropped: false, least: 0n, ...changes });
const pool = (changes = {}) => hop({ fee: 3000, venue: 1, ...changes });

/// A hop from its highest bits to its lowest: 128 least, 85 unused, 3 flags, 16 venue, 24 fee.
const packed = ({ fee, venue, joined, skippable, dropped, least }) => {
  const flags = [dropped, skippable, joined].map(Number).join("");
  const bits = [least.toString(2).padStart(128, "0"), "0".repeat(85), flags, venue.toString(2).padStart(16, "0")];
  return BigInt(`0b${bits.join("")}${fee.toString(2).padStart(24, "0")}`);
};

const leg = (seed, changes = {}) => ({
  token: address(`token ${seed}`),
  amount: 1_000_000n,
  floor: 123_456_789n,
  hop: pool(),
  ...changes,
});

const routerCall = (index, length = 228) => ({
  leg: BigInt(index),
  router: address(`router ${index}`),
  data: bytes(`data ${index}`, length),
});

const routeOf = ({ legs, lastHop = hop(), maxSkipped = 0, routerCalls = [] }) => ({
  legs: legs.map((one) => ({ ...one, packedHop: packed(one.hop) })),
  lastHop,
  packedLastHop: packed(lastHop),
  maxSkipped,
  routerCalls,
});

/// The route as the ABI encodes it.
const encodable = ({ legs, packedLastHop, maxSkipped, routerCalls }) => ({
  legs: legs.map(({ token, amount, floor, packedHop }) => ({ token, amount, floor, hop: packedHop })),
  lastHop: packedLastHop,
  maxSkipped: BigInt(maxSkipped),
  routerCalls,
});

const permittedOf = ({ legs }) => legs.map(({ token, amount }) => ({ token, amount }));
const termsOf = ({ legs, maxSkipped }) => ({ floors: legs.map(({ floor }) => floor), maxSkipped });

const KINDS_OF_LEGS = [
  pool(),
  hop(),
  pool({ skippable: true }),
  pool({ fee: 0, venue: 2, joined: true, least: 10n ** 15n }),
  pool({ joined: true, skippable: true, least: 1n }),
  hop({ dropped: true }),
];
const THIRTY_LEGS = Array.from({ length: 30 }, (_, i) =>
  leg(i, { amount: 10n ** BigInt(i), floor: BigInt(i), hop: KINDS_OF_LEGS[i % KINDS_OF_LEGS.length] }),
);
const LARGEST_POOL = { fee: 2 ** 24 - 1, venue: 2 ** 16 - 1 };
const ALL_FLAGS = { joined: true, skippable: true, dropped: true };
const ROUTES = {
  pool: { legs: [leg(0)] },
  mixed: {
    legs: [leg(0, { hop: hop() }), leg(1, { hop: pool({ skippable: true }) })],
    maxSkipped: 1,
    routerCalls: [routerCall(0)],
  },
  zero: { legs: [leg(0, { amount: 0n, floor: 0n, hop: hop() })], routerCalls: [{ ...routerCall(0), data: "0x" }] },
  largest: {
    legs: [leg(0, { amount: maxUint128, floor: maxUint128, hop: { ...LARGEST_POOL, ...ALL_FLAGS, least: maxUint128 } })],
    lastHop: hop(LARGEST_POOL),
    maxSkipped: 255,
    routerCalls: [{ leg: maxUint256, router: `0x${"ff".repeat(20)}`, data: bytes("odd", 33) }],
  },
  thirty: {
    legs: THIRTY_LEGS,
    lastHop: hop({ fee: 500, venue: 1 }),
    maxSkipped: 29,
    routerCalls: THIRTY_LEGS.flatMap(({ hop }, i) => (hop.venue === 0 && !hop.dropped ? [routerCall(i, i * 7)] : [])),
  },
};

const CASES = [
  { name: "one pool leg", route: ROUTES.pool },
  { name: "native output, a pool leg beside a router leg", route: ROUTES.mixed, authorization: { outputToken: NATIVE } },
  {
    name: "maximum integers",
    route: ROUTES.largest,
    authorization: { totalFeeBps: 65535, partnerShareBps: 65535, nonce: maxUint256, deadline: maxUint256 },
    permit: { nonce: maxUint256, deadline: maxUint256 },
  },
  {
    name: "zero integers without recipients, on another chain",
    chainId: 8453,
    route: ROUTES.zero,
    authorization: {
      partnerId: toHex(0, { size: 32 }),
      partnerRecipient: ZERO,
      protocolRecipient: ZERO,
      totalFeeBps: 0,
      partnerShareBps: 0,
      nonce: 0n,
      deadline: 0n,
    },
    permit: { nonce: 0n, deadline: maxUint256 },
  },
  { name: "thirty legs of all kinds", route: ROUTES.thirty },
];

async function vector({ name, chainId = 31337, route, authorization = {}, permit = {} }) {
  route = routeOf(route);
  const legsHash = keccak256(encodeAbiParameters([{ type: "tuple", components: ROUTE }], [encodable(route)]));
  authorization = {
    user: user.address,
    partnerId: keccak256(toHex("partner")),
    partnerRecipient: address("partner"),
    protocolRecipient: address("protocol"),
    outputToken: address("output"),
    totalFeeBps: 75,
    partnerShareBps: 4000,
    nonce: 42n,
    deadline: 1_900_000_000n,
    legsHash,
    ...authorization,
  };
  const { outputToken, totalFeeBps, partnerId, nonce: authorizationNonce } = authorization;
  const order = { outputToken, ...termsOf(route), totalFeeBps, partnerId, authorizationNonce };
  permit = { nonce: 7n, deadline: 1_900_000_000n, ...permit };

  const authorizationData = {
    domain: { name: "ServiceBatchV5PartnerFees", version: "5", chainId, verifyingContract: CONTRACT },
    types: { FeeAuthorization: FEE_AUTHORIZATION },
    primaryType: "FeeAuthorization",
    message: authorization,
  };
  const types = permitTypes("SweepOrder", SWEEP_ORDER);
  const permitData = permitDataOf({ chainId, permitted: permittedOf(route), permit, types, order });
  return {
    name,
    chainId,
    verifyingContract: CONTRACT,
    route,
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
  { name: "one pool leg", route: ROUTES.pool },
  { name: "native output, a pool leg beside a router leg", route: ROUTES.mixed, order: { outputToken: NATIVE } },
  {
    name: "maximum integers",
    route: ROUTES.largest,
    order: { feeBps: 65535, sweepRef: toHex(maxUint256) },
    permit: { nonce: maxUint256, deadline: maxUint256 },
  },
  {
    name: "zero integers, on another chain",
    chainId: 8453,
    route: ROUTES.zero,
    order: { feeBps: 0, sweepRef: toHex(0, { size: 32 }) },
    permit: { nonce: 0n, deadline: maxUint256 },
  },
  { name: "thirty legs of all kinds", route: ROUTES.thirty },
];

async function vectorV4({ name, chainId = 31337, route, order = {}, permit = {} }) {
  route = routeOf(route);
  order = { outputToken: address("output"), ...termsOf(route), feeBps: 75, sweepRef: keccak256(toHex("sweep")), ...order };
  permit = { nonce: 7n, deadline: 1_900_000_000n, ...permit };
  const types = permitTypes("SweepOrderV4", SWEEP_ORDER_V4);
  const permitData = permitDataOf({ chainId, permitted: permittedOf(route), permit, types, order });
  return {
    name,
    chainId,
    verifyingContract: CONTRACT,
    route,
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
