// The task of a client: the node's URLs, the user's secret key, and the transactions of a build.
import { readFileSync } from "node:fs";

const STDIN = 0;

export const task = JSON.parse(readFileSync(STDIN, "utf8"));
