// Requests of a page to the handler of its own back end.
import { answered } from "./requests.ts";

const REPEATED = 2;

export interface BackendOptions {
  /** Where your handler is, such as `/api/sweeps`. */
  backend: string;
  signal?: AbortSignal;
  fetch?: typeof globalThis.fetch;
}

/** Returns a function that makes a request and returns its data; it throws `SweepApiError` and `NoAnswerError`. */
export function callsTo(backend: string, { signal, fetch = globalThis.fetch }: BackendOptions) {
  return <Data>(method: string, path: string, body?: object): Promise<Data> => {
    const init: RequestInit = {
      method,
      ...(body && { body: JSON.stringify(body), headers: { "Content-Type": "application/json" } }),
      ...(signal && { signal }),
    };
    return answered<Data>(
      async () => {
        const response = await fetch(backend + path, init);
        const answer: unknown = await response.json().catch(() => null);
        return response.ok ? { data: answer as { data: Data }, response } : { error: answer, response };
      },
      { times: REPEATED, signal },
    );
  };
}
