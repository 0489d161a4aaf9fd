// What an application with web3.js 1.x and spl-token does: reads its task as JSON, and prints what it saw.
import {
  Connection,
  Keypair,
  SystemProgram,
  Transaction,
  VersionedTransaction,
  sendAndConfirmTransaction,
} from "@solana/web3.js";
import * as token from "@solana/spl-token";
import { task } from "./task.mjs";

const PAID = 5_000_000; // lamports, more than an account must hold
const MINTED = 1_000_000n;
const TRANSFERRED = 1_234n;
const DECIMALS = 6;

const connection = new Connection(task.rpcUrl, { commitment: "confirmed", wsEndpoint: task.wsUrl });
const user = Keypair.fromSecretKey(Uint8Array.from(task.secretKey));

async function paid() {
  const recipient = Keypair.generate().publicKey;
  const payment = SystemProgram.transfer({ fromPubkey: user.publicKey, toPubkey: recipient, lamports: PAID });
  await sendAndConfirmTransaction(connection, new Transaction().add(payment), [user]);
  return connection.getBalance(recipient);
}

// Creates a mint and two accounts, and transfers; returns what the recipient has, as the node parses it.
async function transferred(program) {
  const recipient = Keypair.generate().publicKey;
  const mint = await token.createMint(connection, user, user.publicKey, null, DECIMALS, undefined, undefined, program);
  const [from, to] = [await accountOf(user.publicKey, mint, program), await accountOf(recipient, mint, program)];
  await token.mintTo(connection, user, mint, from, user, MINTED, [], undefined, program);
  await token.transferChecked(connection, user, from, mint, to, user, TRANSFERRED, DECIMALS, [], undefined, program);
  const { value: held } = await connection.getParsedTokenAccountsByOwner(recipient, { mint });
  return held.map(({ account }) => account.data.parsed.info.tokenAmount.amount);
}

async function accountOf(owner, mint, program) {
  const associate = token.getOrCreateAssociatedTokenAccount;
  return (await associate(connection, user, mint, owner, false, undefined, undefined, program)).address;
}

async function sent({ transaction, lastValidBlockHeight }) {
  const built = VersionedTransaction.deserialize(Buffer.from(transaction, "base64"));
  built.sign([user]);
  const signature = await connection.sendTransaction(built);
  const blockhash = built.message.recentBlockhash;
  const { value } = await connection.confirmTransaction({ signature, blockhash, lastValidBlockHeight });
  if (value.err) throw new Error(`${signature} failed: ${JSON.stringify(value.err)}`);
  return signature;
}

const payment = await paid();
const transfers = await Promise.all([token.TOKEN_PROGRAM_ID, token.TOKEN_2022_PROGRAM_ID].map(transferred));
const sweep = await Promise.all(task.transactions.map(sent));
console.log(JSON.stringify({ payment, transfers, sweep }));
process.exit(); // the connection's socket stays open
