// The server of the example: it serves the page, and passes on to the API what the page asks, with the key that the page never sees.
import { createHandler, createSweepServer, type User } from "@sweepapi/client/server";
import { randomUUID } from "node:crypto";
import { readFile } from "node:fs/promises";
import { createServer, type IncomingMessage, type ServerResponse } from "node:http";
import { extname, join } from "node:path";
import { text } from "node:stream/consumers";

const { BASE_URL = "", API_KEY = "", CHAIN = "", OUTPUT_TOKEN = "", WALLET_URL = "", PORT = "8080" } = process.env;
const ORIGIN = `http://127.0.0.1:${PORT}`;
const FILES = join(import.meta.dirname, "dist");
const TYPES: Record<string, string> = { ".html": "text/html; charset=utf-8", ".css": "text/css", ".js": "text/javascript" };
// Wallets announce their icons as data.
const POLICY =
  "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self' data:; connect-src 'self'; " +
  "base-uri 'none'; form-action 'none'; frame-ancestors 'none'";

const service = createSweepServer({ baseUrl: BASE_URL, apiKey: API_KEY });
const sessions = new Map<string, User>();
const sweeps = createHandler({
  baseUrl: BASE_URL,
  apiKey: API_KEY,
  prefix: "/api/sweeps",
  allowed: ["discover", "build", "refresh", "finalize", "confirm", "sweep", "receipt", "cancel"],
  user: (request) => sessions.get(sessionOf(request.headers.get("cookie") ?? "")) ?? null,
});

createServer((request, response) => {
  answer(request, response).catch((error: unknown) => {
    console.error(error);
    response.writeHead(500).end();
  });
}).listen(Number(PORT), "127.0.0.1", () => {
  console.log(`the page is at ${ORIGIN}/`);
});

async function answer(request: IncomingMessage, response: ServerResponse): Promise<void> {
  const { pathname } = new URL(request.url ?? "/", ORIGIN);
  if (pathname.startsWith("/api/sweeps/")) {
    await passBack(await sweeps(await fetched(request)), response);
  } else if (pathname === "/api/login" && request.method === "POST") {
    logIn(((await json(request)) as { wallet: string }).wallet, response);
  } else if (pathname === "/api/settings") {
    const { chains } = await service.status();
    const chain = chains.find(({ name }) => name === CHAIN);
    send(response, "application/json", JSON.stringify({ chain, outputToken: OUTPUT_TOKEN, hasLocalWallet: WALLET_URL !== "" }));
  } else if (pathname === "/api/local-wallet" && WALLET_URL !== "" && request.method === "POST") {
    await passBack(await fetch(WALLET_URL, { method: "POST", body: await text(request) }), response);
  } else {
    await serveFile(pathname === "/" ? "/index.html" : pathname, response);
  }
}

/** Your own login belongs here. Before real users come, have the wallet sign a message of yours, as ERC-4361 describes. */
function logIn(wallet: string, response: ServerResponse): void {
  const session = randomUUID();
  sessions.set(session, { id: wallet.toLowerCase(), wallets: [wallet] });
  response.setHeader("Set-Cookie", `session=${session}; Path=/; HttpOnly; SameSite=Strict`);
  response.writeHead(204).end();
}

function sessionOf(cookies: string): string {
  return /(?:^|; )session=([0-9a-f-]+)/.exec(cookies)?.[1] ?? "";
}

async function fetched(request: IncomingMessage): Promise<Request> {
  const headers = new Headers(Object.entries(request.headers) as [string, string][]);
  const { method = "GET" } = request;
  return new Request(ORIGIN + (request.url ?? "/"), { method, headers, ...(method === "POST" && { body: await text(request) }) });
}

async function json(request: IncomingMessage): Promise<unknown> {
  return JSON.parse(await text(request));
}

async function passBack(from: Response, response: ServerResponse): Promise<void> {
  const headers = Object.fromEntries(["content-type", "retry-after", "cache-control"].flatMap((name) => {
    const value = from.headers.get(name);
    return value === null ? [] : [[name, value]];
  }));
  response.writeHead(from.status, headers).end(Buffer.from(await from.arrayBuffer()));
}

async function serveFile(path: string, response: ServerResponse): Promise<void> {
  const type = TYPES[extname(path)];
  const content = type && /^\/[\w-]+\.\w+$/.test(path) ? await readFile(FILES + path).catch(() => null) : null;
  if (type && content !== null) {
    send(response, type, content);
  } else {
    response.writeHead(404).end();
  }
}

function send(response: ServerResponse, type: string, content: string | Buffer): void {
  response.writeHead(200, { "Content-Type": type, "Content-Security-Policy": POLICY, "Cache-Control": "no-cache" }).end(content);
}
