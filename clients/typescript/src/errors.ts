// What can go wrong, as types that a caller can tell apart.
import type { components } from "./generated/api.ts";

export type ErrorDetail = components["schemas"]["FieldError"];
export type Failure = components["schemas"]["Failure"];

/** The API refused a request: `code` is stable, and `details` names each field. */
export class SweepApiError extends Error {
  override readonly name = "SweepApiError";
  readonly status: number;
  readonly code: string;
  readonly details: readonly ErrorDetail[];
  readonly retryable: boolean;
  readonly retryAfterSeconds: number | null;
  readonly requestId: string;
  readonly docUrl: string;

  constructor(status: number, failure: Failure, retryAfterSeconds: number | null) {
    const { code, message, details, retryable, requestId, docUrl } = failure.error;
    super(`${code}: ${message}${details.map((detail) => `\n  ${detail.field}: ${detail.message}`).join("")}`);
    this.status = status;
    this.code = code;
    this.details = details;
    this.retryable = retryable;
    this.retryAfterSeconds = retryAfterSeconds;
    this.requestId = requestId;
    this.docUrl = docUrl;
  }
}

/** No answer of the API arrived: what was asked may have happened. */
export class NoAnswerError extends Error {
  override readonly name = "NoAnswerError";
}

/** Whether an error is a refusal with one of these codes. */
export function isRefusal(error: unknown, ...codes: string[]): error is SweepApiError {
  return error instanceof SweepApiError && (codes.length === 0 || codes.includes(error.code));
}

/** Returns the refusal in an answer's body, or a `NoAnswerError` if it is none of the API. */
export function refusalOf(response: Response, body: unknown): SweepApiError | NoAnswerError {
  if (isFailure(body)) {
    const seconds = Number(response.headers.get("Retry-After"));
    return new SweepApiError(response.status, body, seconds > 0 ? seconds : null);
  }
  return new NoAnswerError(`the answer with HTTP status ${response.status} is not the API's`);
}

function isFailure(body: unknown): body is Failure {
  if (typeof body !== "object" || body === null || !("error" in body)) {
    return false;
  }
  const { error } = body;
  return typeof error === "object" && error !== null && "code" in error && "details" in error;
}
