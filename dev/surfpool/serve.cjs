// Runs a Solana node until a signal ends it: node serve.cjs SLOT_MILLISECONDS FILE. Its URLs are written to the file,
// because it chooses the ports itself.
const { renameSync, writeFileSync } = require("node:fs");
const { Surfnet } = require("@solana/surfpool-linux-x64-gnu");

const [slotMilliseconds, file] = process.argv.slice(2);
const node = Surfnet.startWithConfig({
  offline: true,
  blockProductionMode: "clock",
  slotTimeMs: Number(slotMilliseconds),
  // An airdrop at the start is awaited for less time than slots as long as on mainnet take to show it.
  airdropSol: 0,
});
writeFileSync(`${file}.new`, JSON.stringify({ rpcUrl: node.rpcUrl, wsUrl: node.wsUrl }));
renameSync(`${file}.new`, file);
setInterval(() => {}, 2 ** 30); // the node's threads alone keep no process alive
