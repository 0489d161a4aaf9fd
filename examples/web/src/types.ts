// The shapes of the API that the page shows.
import type { createBackend, Offer, Sweep } from "@sweepapi/client/wallet";

type Backend = ReturnType<typeof createBackend>;
export type Discovered = Awaited<ReturnType<Backend["discover"]>>;
export type Token = Discovered["tokens"][number];
export type Chain = Awaited<ReturnType<Backend["status"]>>["chains"][number];
export type { Offer, Sweep };
