// Compiles only if the types generated from the document are as exact as a partner's client needs.
import type { components, operations } from "../../var/openapi";

type Schemas = components["schemas"];

// The responses of an operation, with any status.
type Answer<Name extends keyof operations> = {
  [Status in keyof operations[Name]["responses"]]: operations[Name]["responses"][Status] extends {
    content: { "application/json": infer Body };
  }
    ? Body
    : never;
}[keyof operations[Name]["responses"]];

export const request: Schemas["BuildRequest"] = {
  chain: "base",
  wallet: "0xC45AbE1c48539b9D69801EF05c5dB34155fe45CF",
  tokens: [{ mint: "0x833589fCD6eDb6E08f4c7C32D4f71b54bdA02913", amount: "25000000" }],
  outputMint: "0x4200000000000000000000000000000000000006",
  slippageBps: 50,
};

// @ts-expect-error: no such field
export const misspelt: Schemas["BuildRequest"] = { ...request, slipageBps: 50 };

// @ts-expect-error: no such policy
export const policy: Schemas["UnroutablePolicy"] = "ignore";

// `ok` distinguishes a success from a failure.
export function approvals(answer: Answer<"buildSweep">): Schemas["ApprovalTransaction"][] {
  if (!answer.ok) {
    throw new Error(`${answer.error.code} (${answer.error.requestId})`);
  }
  return answer.data.issues.allowance.flatMap((issue) =>
    issue.resetTransaction === null ? [issue.transaction] : [issue.resetTransaction, issue.transaction],
  );
}

// A value that may be null must be checked before it is used.
export function userAmount(answer: Answer<"confirmSweep">): string | null {
  // @ts-expect-error: a failure has no data
  answer.data;
  return answer.ok ? (answer.data.feeAuthorization.actualFees?.userAmount ?? null) : null;
}
