// A handler of requests for your back end: passes what a page may ask on to the API, with the key that the page never sees.

export type Operation =
  | "status"
  | "discover"
  | "quote"
  | "build"
  | "refresh"
  | "finalize"
  | "confirm"
  | "sweep"
  | "receipt"
  | "cancel";

/** Who sent a request, by your login. */
export interface User {
  id: string;
  /** The wallets that the user may sweep, as addresses on EVM chains and on Solana; no other one is passed on. */
  wallets: readonly string[];
}

export interface HandlerOptions {
  baseUrl: string;
  apiKey: string;
  /** Your login: who sent the request; null without a login. */
  user: (request: Request) => User | null | Promise<User | null>;
  /** Below which path of yours the handler is; "" unless it is said. */
  prefix?: string;
  /** All but `cancel` unless it is said. */
  allowed?: readonly Operation[];
  /** Of each user in this process; 120 unless it is said. */
  requestsPerMinute?: number;
  fetch?: typeof globalThis.fetch;
}

const MAX_BODY_BYTES = 2 * 1024 * 1024; // what the API takes for a confirm, which is the most
const MAX_REMEMBERED = 10_000;
const MINUTE_MILLISECONDS = 60_000;
const PASSED_ON = ["content-type", "idempotency-key", "x-request-id"];
const PASSED_BACK = ["content-type", "retry-after", "x-request-id"];
const ID = "([0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12})";
const ROUTES: readonly [Operation, string, RegExp][] = [
  ["status", "GET", /^\/v[12]\/status$/],
  ["discover", "POST", /^\/v[12]\/sweep\/discover$/],
  ["quote", "POST", /^\/v2\/sweep\/quote$/],
  ["build", "POST", /^\/v[12]\/sweep\/build$/],
  ["refresh", "POST", new RegExp(`^/v2/sweep/build/${ID}/refresh$`)],
  ["finalize", "POST", new RegExp(`^/v2/sweep/status/${ID}/finalize$`)],
  ["confirm", "POST", new RegExp(`^/v2/sweep/status/${ID}/confirm$`)],
  ["sweep", "GET", new RegExp(`^/v[12]/sweep/status/${ID}$`)],
  ["receipt", "GET", new RegExp(`^/v[12]/sweep/status/${ID}/receipt$`)],
  ["cancel", "POST", new RegExp(`^/v2/sweep/status/${ID}/cancel$`)],
];
const WITH_WALLET = new Set<Operation>(["discover", "quote", "build"]);
const USUAL = ROUTES.map(([operation]) => operation).filter((operation) => operation !== "cancel");

/** Returns the handler, for any framework whose requests and responses are those of `fetch`. */
export function createHandler(options: HandlerOptions): (request: Request) => Promise<Response> {
  const { baseUrl, apiKey, prefix = "", allowed = USUAL, requestsPerMinute = 120, fetch = globalThis.fetch } = options;
  const admits = limiter(requestsPerMinute);
  const walletOf = rememberedWallets(send);

  return async (request) => {
    const user = await options.user(request);
    if (user === null) {
      return refusal(401, "not_logged_in", "Log in first.");
    }
    if (!admits(user.id)) {
      return refusal(429, "too_many_requests", "Try again in a minute.", { "Retry-After": "60" });
    }
    const path = new URL(request.url).pathname.slice(prefix.length);
    const route = ROUTES.find(([, method, pattern]) => method === request.method && pattern.test(path));
    if (route === undefined || !allowed.includes(route[0])) {
      return refusal(404, "not_allowed", "This is not passed on.");
    }
    const body = request.method === "POST" ? await bounded(request) : null;
    if (body === undefined) {
      return refusal(413, "payload_too_large", "The body is too large.");
    }
    const [operation, , pattern] = route;
    const id = pattern.exec(path)?.[1];
    const named = id === undefined ? undefined : await walletOf(`${path.slice(0, 3)}/sweep/status/${id}`);
    const wallet = WITH_WALLET.has(operation) ? walletIn(body) : named;
    if (wallet instanceof Response) {
      return wallet;
    }
    if (wallet !== undefined && !owns(user, wallet)) {
      return refusal(403, "not_your_wallet", "This wallet is not the user's.");
    }
    return passedBack(await send(path, request.method, body, request.headers));
  };

  function send(path: string, method: string, body: string | null, given = new Headers()): Promise<Response> {
    const headers = new Headers({ "x-api-key": apiKey });
    for (const name of PASSED_ON) {
      const value = given.get(name);
      if (value !== null) {
        headers.set(name, value);
      }
    }
    return fetch(baseUrl + path, { method, headers, body, redirect: "error" });
  }
}

/** Returns a function that tells whose sweep it is, which never changes; a `Response` if the API does not say. */
function rememberedWallets(send: (path: string, method: string, body: null) => Promise<Response>) {
  const wallets = new Map<string, string>();
  return async (path: string): Promise<string | Response> => {
    const known = wallets.get(path);
    if (known !== undefined) {
      return known;
    }
    const response = await send(path, "GET", null);
    if (!response.ok) {
      return passedBack(response);
    }
    const { data } = (await response.json()) as { data: { wallet: string } };
    if (wallets.size >= MAX_REMEMBERED) {
      wallets.clear();
    }
    wallets.set(path, data.wallet);
    return data.wallet;
  };
}

function limiter(requestsPerMinute: number): (user: string) => boolean {
  let began = Date.now();
  let counts = new Map<string, number>();
  return (user) => {
    if (Date.now() - began >= MINUTE_MILLISECONDS) {
      began = Date.now();
      counts = new Map();
    }
    const count = (counts.get(user) ?? 0) + 1;
    counts.set(user, count);
    return count <= requestsPerMinute;
  };
}

/** Returns the body, or undefined if it is longer than any that the API takes. */
async function bounded(request: Request): Promise<string | undefined> {
  if (Number(request.headers.get("content-length")) > MAX_BODY_BYTES) {
    return undefined;
  }
  const body = await request.text();
  return body.length <= MAX_BODY_BYTES ? body : undefined;
}

/** Returns the wallet that a body names; "" if it names none, which belongs to no user. */
function walletIn(body: string | null): string {
  try {
    const { wallet } = JSON.parse(body ?? "") as { wallet?: unknown };
    return typeof wallet === "string" ? wallet : "";
  } catch {
    return "";
  }
}

function owns(user: User, wallet: string): boolean {
  // An EVM address may be written in any case; an address on Solana is another one then.
  const isSame = wallet.startsWith("0x")
    ? (own: string) => own.toLowerCase() === wallet.toLowerCase()
    : (own: string) => own === wallet;
  return user.wallets.some(isSame);
}

function passedBack(response: Response): Response {
  const headers = new Headers({ "Cache-Control": "no-store" });
  for (const name of PASSED_BACK) {
    const value = response.headers.get(name);
    if (value !== null) {
      headers.set(name, value);
    }
  }
  return new Response(response.body, { status: response.status, headers });
}

/** Returns a refusal of this handler, in the shape of the API's, so that a page reads both alike. */
function refusal(status: number, code: string, message: string, headers: Record<string, string> = {}): Response {
  const error = { code, message, details: [], retryable: status === 429, requestId: crypto.randomUUID(), docUrl: "" };
  return Response.json({ ok: false, error }, { status, headers: { ...headers, "Cache-Control": "no-store" } });
}

