// A partner's calls by the client that hey-api generates.
import { client } from "../../../var/generated/hey-api/client.gen";
import { buildSweep, confirmSweep, getSweep } from "../../../var/generated/hey-api/sdk.gen";
import { BASE_URL, KEY, REQUEST } from "./request";

client.setConfig({ baseUrl: BASE_URL, headers: { "x-api-key": KEY } });

export async function build(): Promise<string> {
  const { data, error } = await buildSweep({ body: REQUEST, headers: { "Idempotency-Key": "order-17" } });
  if (error) {
    throw new Error(`${error.error.code} (${error.error.requestId})`);
  }
  return data.data.sweepId;
}

export async function confirm(sweepId: string, txHash: string): Promise<string | null> {
  const { data, error } = await confirmSweep({ path: { sweep_id: sweepId }, body: { txHash } });
  if (error) {
    throw new Error(error.error.code);
  }
  return data.data.feeAuthorization.actualFees?.userAmount ?? null;
}

export async function status(sweepId: string): Promise<string> {
  const { data } = await getSweep({ path: { sweep_id: sweepId }, throwOnError: true });
  return data.data.status;
}
