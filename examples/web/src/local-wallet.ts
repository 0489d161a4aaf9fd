// A wallet for the local world, where no browser extension knows the chain: it asks in a dialog, and signs on the server.

const ASKS: Record<string, string> = {
  eth_requestAccounts: "Show your address to this page?",
  eth_signTypedData_v4: "Sign a permit for your tokens?",
  eth_sendTransaction: "Send a transaction?",
  wallet_sendCalls: "Send everything as one transaction?",
};
const ICON =
  "data:image/svg+xml," +
  encodeURIComponent(
    '<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 32 32"><rect width="32" height="32" rx="8" fill="#3b4fd8"/>' +
      '<path d="M8 11h16v12H8z" fill="none" stroke="#fff" stroke-width="2"/><circle cx="20" cy="17" r="1.8" fill="#fff"/></svg>',
  );

const provider = {
  async request({ method, params = [] }: { method: string; params?: unknown }): Promise<unknown> {
    const question = ASKS[method];
    if (question !== undefined && !(await confirmed(question))) {
      throw Object.assign(new Error("declined"), { code: 4001 });
    }
    const body = JSON.stringify({ jsonrpc: "2.0", id: 1, method, params });
    const response = await fetch("/api/local-wallet", { method: "POST", body });
    const { result, error } = (await response.json()) as { result?: unknown; error?: { code: number; message: string } };
    if (error) {
      throw Object.assign(new Error(error.message), { code: error.code });
    }
    return result;
  },
};

function confirmed(question: string): Promise<boolean> {
  const dialog = document.createElement("dialog");
  dialog.className = "local-wallet";
  dialog.setAttribute("aria-labelledby", "local-wallet-title");
  dialog.innerHTML = `<form method="dialog"><h2 id="local-wallet-title">Local wallet</h2><p></p>
    <button value="">Decline</button><button value="yes" class="main">Confirm</button></form>`;
  dialog.querySelector("p")!.textContent = question;
  document.body.append(dialog);
  dialog.showModal();
  return new Promise((resolve) => {
    dialog.addEventListener("close", () => {
      dialog.remove();
      resolve(dialog.returnValue === "yes");
    });
  });
}

function announce(): void {
  const info = { uuid: "b1a5c3d2-0000-4000-8000-00000000cafe", name: "Local wallet", icon: ICON, rdns: "local.wallet" };
  window.dispatchEvent(new CustomEvent("eip6963:announceProvider", { detail: Object.freeze({ info, provider }) }));
}

const { hasLocalWallet } = (await (await fetch("/api/settings")).json()) as { hasLocalWallet: boolean };
if (hasLocalWallet) {
  window.addEventListener("eip6963:requestProvider", announce);
  announce();
}

export {}; // a module, so that await can be used here
