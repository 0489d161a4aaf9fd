// A partner's calls by openapi-fetch, over the types that openapi-typescript generates.
import createClient from "openapi-fetch";
import type { components, paths } from "../../../var/generated/openapi-typescript";
import { BASE_URL, KEY, REQUEST } from "./request";

type Schemas = components["schemas"];

const api = createClient<paths>({ baseUrl: BASE_URL, headers: { "x-api-key": KEY } });
const request: Schemas["BuildRequest"] = REQUEST;

// @ts-expect-error: no such field
export const misspelt: Schemas["BuildRequest"] = { ...request, slipageBps: 50 };

// @ts-expect-error: no such policy
export const policy: Schemas["UnroutablePolicy"] = "ignore";

export async function build(): Promise<Schemas["ApprovalTransaction"][]> {
  const { data, error, response } = await api.POST("/v2/sweep/build", {
    params: { header: { "Idempotency-Key": "order-17" } },
    body: request,
  });
  if (error) {
    throw new Error(`${response.status} ${error.error.code} (${error.error.requestId})`);
  }
  return data.data.issues.allowance.flatMap((issue) =>
    issue.resetTransaction === null ? [issue.transaction] : [issue.resetTransaction, issue.transaction],
  );
}

// A value that may be null must be checked before it is used.
export async function confirm(sweepId: string, txHash: string): Promise<string | null> {
  const { data, error } = await api.POST("/v2/sweep/status/{sweep_id}/confirm", {
    params: { path: { sweep_id: sweepId } },
    body: { txHash },
  });
  if (error) {
    throw new Error(error.error.details.map((detail) => `${detail.field}: ${detail.message}`).join(", "));
  }
  return data.data.feeAuthorization.actualFees?.userAmount ?? null;
}

// `ok` distinguishes a success from a failure, in problem documents as well.
export function code(answer: { ok: true } | Schemas["Failure"]): string | null {
  return answer.ok ? null : answer.error.code;
}
