// A partner's calls by the client that orval generates.
import { buildSweep, confirmSweep, getSweep } from "../../../var/generated/orval/client";
import { KEY, REQUEST } from "./request";

const options: RequestInit = { headers: { "x-api-key": KEY } };

export async function build(): Promise<string> {
  const answer = await buildSweep(REQUEST, options);
  if (answer.status !== 201) {
    throw new Error(`${answer.status} ${answer.data.error.code} (${answer.data.error.requestId})`);
  }
  return answer.data.data.sweepId;
}

export async function confirm(sweepId: string, txHash: string): Promise<string | null> {
  const { data } = await confirmSweep(sweepId, { txHash }, options);
  if (!data.ok) {
    throw new Error(data.error.code);
  }
  return data.data.feeAuthorization.actualFees?.userAmount ?? null;
}

export async function status(sweepId: string): Promise<string> {
  const { data } = await getSweep(sweepId, options);
  return data.ok ? data.data.status : data.error.code;
}
