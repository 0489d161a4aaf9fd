// One request, repeated while that can help and does no harm.
import { NoAnswerError, SweepApiError, refusalOf } from "./errors.ts";
import { wait } from "./waiting.ts";

const FIRST_WAIT_MILLISECONDS = 250;
const LONGEST_WAIT_SECONDS = 20;

export interface Answered<Data> {
  data?: { data: Data };
  error?: unknown;
  response: Response;
}

export interface Repetition {
  /** How often to repeat at most; 0 for what must not happen twice. */
  times: number;
  signal: AbortSignal | undefined;
}

/** Returns the data of an answer; throws `SweepApiError` and `NoAnswerError`, or the reason of the signal. */
export async function answered<Data>(send: () => Promise<Answered<Data>>, repetition: Repetition): Promise<Data> {
  for (let attempt = 0; ; attempt++) {
    const outcome = await once(send, repetition.signal);
    if (!(outcome instanceof Error)) {
      return outcome.data;
    }
    const seconds = outcome instanceof SweepApiError ? outcome.retryAfterSeconds : null;
    const helps = outcome instanceof NoAnswerError || outcome.retryable;
    if (!helps || attempt >= repetition.times || (seconds ?? 0) > LONGEST_WAIT_SECONDS) {
      throw outcome;
    }
    await wait(seconds === null ? FIRST_WAIT_MILLISECONDS * 2 ** attempt : seconds * 1000, repetition.signal);
  }
}

async function once<Data>(
  send: () => Promise<Answered<Data>>,
  signal: AbortSignal | undefined,
): Promise<{ data: Data } | SweepApiError | NoAnswerError> {
  signal?.throwIfAborted();
  try {
    const { data, error, response } = await send();
    return data ?? refusalOf(response, error);
  } catch (error) {
    signal?.throwIfAborted();
    return new NoAnswerError("no answer of the API arrived", { cause: error });
  }
}
