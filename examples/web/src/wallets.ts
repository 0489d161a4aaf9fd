// The wallets of this browser, which announce themselves (EIP-6963), and what the page asks of one before it sweeps.
import { UserRejectedError, type Provider } from "@sweepapi/client/wallet";

export interface Wallet {
  name: string;
  icon: string;
  provider: Provider;
}

interface Announcement {
  info: { uuid: string; name: string; icon: string };
  provider: Provider;
}

/** Calls back with all wallets whenever another one announces itself. */
export function watchWallets(changed: (wallets: Wallet[]) => void): void {
  const known = new Map<string, Wallet>();
  window.addEventListener("eip6963:announceProvider", (event) => {
    const { info, provider } = (event as CustomEvent<Announcement>).detail;
    known.set(info.uuid, { name: info.name, icon: info.icon, provider });
    changed([...known.values()]);
  });
  window.dispatchEvent(new Event("eip6963:requestProvider"));
}

/** Returns the user's address, once the wallet is on the chain. */
export async function connect({ provider }: Wallet, chainId: number): Promise<string> {
  const [address] = (await asked(provider, "eth_requestAccounts")) as string[];
  if (address === undefined) {
    throw new UserRejectedError("the wallet shows no account to this page");
  }
  const wanted = `0x${chainId.toString(16)}`;
  if (Number(await asked(provider, "eth_chainId")) !== chainId) {
    await asked(provider, "wallet_switchEthereumChain", { chainId: wanted });
  }
  return address;
}

async function asked(provider: Provider, method: string, ...params: unknown[]): Promise<unknown> {
  try {
    return await provider.request({ method, params });
  } catch (error) {
    if ((error as { code?: unknown }).code === 4001) {
      throw new UserRejectedError("the user declined in the wallet", { cause: error });
    }
    throw error;
  }
}
