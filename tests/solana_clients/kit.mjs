// What an application with kit does, with the factories that confirm over the WebSocket: reads its task as JSON.
import * as kit from "@solana/kit";
import { task } from "./task.mjs";

const commitment = "confirmed";
const SYSTEM_PROGRAM = kit.address("11111111111111111111111111111111");
const PAID = 5_000_000n; // lamports, more than an account must hold
const TRANSFER = 2;

const rpc = kit.createSolanaRpc(task.rpcUrl);
const rpcSubscriptions = kit.createSolanaRpcSubscriptions(task.wsUrl);
const sendAndConfirm = kit.sendAndConfirmTransactionFactory({ rpc, rpcSubscriptions });
const user = await kit.createKeyPairSignerFromBytes(Uint8Array.from(task.secretKey));

async function airdropped() {
  const recipientAddress = (await kit.generateKeyPairSigner()).address;
  const airdrop = kit.airdropFactory({ rpc, rpcSubscriptions });
  await airdrop({ recipientAddress, lamports: kit.lamports(PAID), commitment });
  return balance(recipientAddress);
}

async function paid() {
  const recipient = (await kit.generateKeyPairSigner()).address;
  const { value: lifetime } = await rpc.getLatestBlockhash({ commitment }).send();
  const message = kit.pipe(
    kit.createTransactionMessage({ version: 0 }),
    (empty) => kit.setTransactionMessageFeePayerSigner(user, empty),
    (unlimited) => kit.setTransactionMessageLifetimeUsingBlockhash(lifetime, unlimited),
    (limited) => kit.appendTransactionMessageInstruction(transfer(recipient), limited),
  );
  await sendAndConfirm(await kit.signTransactionMessageWithSigners(message), { commitment });
  return balance(recipient);
}

function transfer(recipient) {
  const data = kit.getStructEncoder([["kind", kit.getU32Encoder()], ["lamports", kit.getU64Encoder()]]);
  return {
    programAddress: SYSTEM_PROGRAM,
    accounts: [
      { address: user.address, role: kit.AccountRole.WRITABLE_SIGNER },
      { address: recipient, role: kit.AccountRole.WRITABLE },
    ],
    data: data.encode({ kind: TRANSFER, lamports: PAID }),
  };
}

async function balance(key) {
  return Number((await rpc.getBalance(key, { commitment }).send()).value);
}

async function sent({ transaction, lastValidBlockHeight }) {
  const built = kit.getTransactionDecoder().decode(kit.getBase64Encoder().encode(transaction));
  const { lifetimeToken: blockhash } = kit.getCompiledTransactionMessageDecoder().decode(built.messageBytes);
  const lifetimeConstraint = { blockhash, lastValidBlockHeight: BigInt(lastValidBlockHeight) };
  const signed = await kit.signTransaction([user.keyPair], { ...built, lifetimeConstraint });
  await sendAndConfirm(signed, { commitment });
  return kit.getSignatureFromTransaction(signed);
}

const [airdrop, payment] = [await airdropped(), await paid()];
const sweep = await Promise.all(task.transactions.map(sent));
console.log(JSON.stringify({ airdrop, payment, sweep }));
process.exit(); // the subscriptions' socket stays open
