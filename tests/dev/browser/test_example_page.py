"""A user sweeps on the page in ``examples/web``: with each kind of wallet, and whatever goes wrong.

``MATRIX=1`` has everything go wrong with every wallet, as ``make lab-web`` does.
"""

import json
import os
from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import pytest
from django.conf import settings
from django.test import Client

from dev.browser.browser import Browser
from dev.browser.page import Page
from dev.chain.sender import calldata
from dev.node import node_folder
from dev.ports import free_port
from dev.processes.errors import WaitTimeoutError
from dev.processes.process import Program
from dev.processes.supervisor import Supervisor
from dev.processes.waiting import wait_until
from indexer import following
from sweeps.models import Sweep
from tests.dev.browser.barriers import barriers
from tests.local_chain import FINAL_AFTER, LocalChain
from tests.partner_app import PartnerApp

pytestmark = [pytest.mark.django_db(transaction=True), pytest.mark.usefixtures("checked")]

EXAMPLE = Path(settings.BASE_DIR, "examples", "web")
PHONE_PIXELS, DESK_PIXELS = 420, 1280
TTL_SECONDS, STALE_SECONDS = 900, 601
TRANSFER = "transfer(address,uint256)"
HASHES_ONLY = False  # of a block's transactions
# A wallet that asks no one; what it is told to answer otherwise, it does.
WALLET = """
const told = %s;
const provider = {
  async request({ method, params }) {
    if (method === "eth_requestAccounts") return [told.account];
    if (told.fails[method]) throw Object.assign(new Error("refused"), { code: told.fails[method] });
    if (method === "wallet_getCapabilities") return { [told.chainId]: { atomic: { status: told.atomic } } };
    const body = JSON.stringify({ jsonrpc: "2.0", id: 1, method, params });
    const { result, error } = await (await fetch("/api/local-wallet", { method: "POST", body })).json();
    if (error) throw Object.assign(new Error(error.message), { code: error.code });
    return result;
  },
};
const info = { uuid: "test", name: "Test wallet", icon: "data:,", rdns: "test.wallet" };
const announce = () => dispatchEvent(new CustomEvent("eip6963:announceProvider", { detail: { info, provider } }));
addEventListener("eip6963:requestProvider", announce);
"""
DECLINED, UNKNOWN_METHOD = 4001, -32601


@dataclass(frozen=True)
class Kind:
    """A kind of wallet: what it says of batches, and whether its account is a contract."""

    atomic: str | None  # None: it does not know the method
    is_contract: bool = False


KINDS = {
    "a key that can delegate": Kind("ready"),
    "a key without batches": Kind(None),
    "a contract wallet": Kind("supported", is_contract=True),
}
each_kind = pytest.mark.parametrize("kind", KINDS.values(), ids=KINDS)
in_matrix = (
    each_kind
    if os.environ.get("MATRIX")
    else pytest.mark.parametrize("kind", [KINDS["a key that can delegate"]], ids=[""])
)
UserOf = Callable[[Kind], "User"]


@pytest.fixture
def page_url(snippets: dict[str, str], tmp_path: Path) -> Iterator[str]:
    """The page, served by its own server."""
    port = free_port()
    argv, env = [str(node_folder() / "node"), str(EXAMPLE / "server.ts")], {**snippets, "PORT": str(port)}
    log = tmp_path / "page.log"
    with Supervisor(tmp_path / "page") as supervisor:
        supervisor.launch(Program(name="page", argv=argv, env=env, log=log))
        wait_until(lambda: "the page is at" in log.read_text(), within_seconds=30, what="start of the page's server")
        yield f"http://127.0.0.1:{port}/"


@dataclass(frozen=True)
class User:
    """Someone who uses the page with a wallet."""

    page: Page
    url: str
    chain: LocalChain
    address: str
    told: dict[str, Any]

    def opens(self) -> None:
        self.page.before_load(WALLET % json.dumps(self.told))
        self.page.goto(self.url)
        self.clicks("Test wallet")
        self.sees("worth sweeping")

    def clicks(self, text: str) -> None:
        """Click the button that says this."""
        found = f"[...document.querySelectorAll('button')].find((one) => one.textContent.trim() === {json.dumps(text)})"
        self.page.wait(found)
        self.page.evaluate(f"void ({found}).setAttribute('data-clicked', '')")
        self.page.click("[data-clicked]")
        self.page.evaluate("void document.querySelector('[data-clicked]')?.removeAttribute('data-clicked')")

    def sees(self, text: str) -> None:
        try:
            self.page.wait(f"document.querySelector('main').innerText.includes({json.dumps(text)})")
        except WaitTimeoutError as error:
            raise AssertionError(self.page.evaluate("document.querySelector('main').innerText")) from error

    def keeps_only(self, symbol: str) -> None:
        """Untick all tokens but one."""
        self.page.evaluate(
            "document.querySelectorAll('.tokens label').forEach((label) => {"
            f" label.querySelector('input').checked = label.innerText.includes({json.dumps(symbol)}); }})"
        )

    def wallet_fails(self, method: str, code: int) -> None:
        self.page.evaluate(f"void (told.fails[{json.dumps(method)}] = {code})")


@pytest.fixture
def user_of(
    browser: Browser, page_url: str, chain: LocalChain, sandbox_tokens: dict[str, str]
) -> Iterator[Callable[[Kind], User]]:
    """Open the page on a phone for the user of a wallet."""
    with browser.page(width=PHONE_PIXELS) as page:

        def use(kind: Kind) -> User:
            address = chain.world["contracts"]["contractWallet"] if kind.is_contract else chain.users[0].address
            if kind.is_contract:
                for token in sandbox_tokens.values():
                    data = calldata(TRANSFER, address, 30 * 10**18)
                    chain.receipt(chain.send(chain.users[0], {"to": token, "data": f"0x{data.hex()}", "value": "0"}))
            fails = {"wallet_getCapabilities": UNKNOWN_METHOD} if kind.atomic is None else {}
            told = {"account": address, "chainId": hex(chain.world["chainId"]), "atomic": kind.atomic, "fails": fails}
            return User(page, page_url, chain, address, told)

        yield use


@each_kind
def test_each_kind_of_wallet_sweeps_and_gets_a_receipt(user_of: UserOf, kind: Kind) -> None:
    user = user_of(kind)
    user.opens()
    assert barriers(user.page) == []
    user.clicks("See the offer")
    user.sees("You receive about")
    assert barriers(user.page) == []
    user.clicks("Sweep")
    user.sees("You received")
    sweep = Sweep.objects.get()
    assert (sweep.status, sweep.wallet) == ("completed", user.address)
    user.chain.mine(FINAL_AFTER)
    user.sees("Download your receipt")
    assert barriers(user.page) == []
    assert user.page.evaluate("document.querySelector('a[download]').href").startswith("blob:")
    assert user.page.faults() == []


@in_matrix
def test_what_stays_in_the_wallet_is_named_with_the_reason(user_of: UserOf, kind: Kind) -> None:
    user = user_of(kind)
    user.opens()
    user.page.click("summary")
    user.sees("No exchange buys it.")
    user.sees("Its contract does not let you sell it.")


@in_matrix
def test_only_what_is_ticked_is_swept(user_of: UserOf, kind: Kind) -> None:
    user = user_of(kind)
    user.opens()
    user.keeps_only("SCRIPT")
    user.clicks("See the offer")
    user.clicks("Sweep")
    user.sees("You received")
    assert [token.symbol for token in Sweep.objects.get().tokens.all()] == ["SCRIPT"]


def test_a_sweep_of_nothing_is_not_asked_for(user_of: UserOf) -> None:
    user = user_of(Kind("ready"))
    user.opens()
    user.keeps_only("no such token")
    user.clicks("See the offer")
    user.sees("Choose at least one token.")


@in_matrix
def test_a_user_who_declines_can_try_again(user_of: UserOf, kind: Kind) -> None:
    user = user_of(kind)
    user.opens()
    user.keeps_only("SCRIPT")
    user.clicks("See the offer")
    method = "eth_sendTransaction" if kind.atomic is None else "wallet_sendCalls"
    user.sees("You receive about")
    user.wallet_fails(method, DECLINED)
    user.clicks("Sweep")
    user.sees("You declined")
    assert barriers(user.page) == []
    assert Sweep.objects.get().status == "pending"
    user.wallet_fails(method, 0)
    user.clicks("Try again")
    user.sees("worth sweeping")


@in_matrix
def test_an_offer_that_is_about_to_end_is_replaced_before_the_user_signs(user_of: UserOf, kind: Kind) -> None:
    user = user_of(kind)
    user.opens()
    user.keeps_only("SCRIPT")
    user.clicks("See the offer")
    user.sees("You receive about")
    user.chain.mine(seconds=TTL_SECONDS - 20)
    following.follow()
    user.clicks("Sweep")
    user.sees("The offer had ended. This is a new one.")
    user.clicks("Sweep")
    user.sees("You received")


@pytest.mark.parametrize("sold", [5, 20], ids=["above the minimum", "below it"])
def test_a_price_that_fell_is_shown_before_the_user_signs(
    user_of: UserOf, app: PartnerApp, sandbox_tokens: dict[str, str], sold: int
) -> None:
    user, other, thin = user_of(Kind("ready")), app.chain.users[1], sandbox_tokens["PRICE_IMPACT"]
    leaving = calldata(TRANSFER, other.address, 995 * 10**18)
    assert (
        app.chain.receipt(app.chain.send(app.user, {"to": thin, "data": f"0x{leaving.hex()}", "value": "0"}))["status"]
        == 1
    )
    user.opens()
    user.keeps_only("THIN")
    user.clicks("See the offer")
    user.sees("You receive about")
    tokens = [{"mint": thin, "amount": str(sold * 10**18)}]
    app.execute(app.build(tokens=tokens, wallet=other.address), user=other)
    user.page.evaluate("void (performance.now = ((now) => () => now() + 120_000)(performance.now.bind(performance)))")
    user.clicks("Sweep")
    user.sees("Prices have moved. This is what you receive now.")


@in_matrix
def test_a_sweep_that_reverts_says_so(user_of: UserOf, kind: Kind, api: Client) -> None:
    user = user_of(replace(kind, is_contract=False))  # the sandbox gives contracts no token that reverts
    user.opens()
    user.keeps_only("STALE")
    user.clicks("See the offer")
    user.sees("You receive about")
    body = {"chain": user.chain.world["chain"], "blocks": 1, "seconds": STALE_SECONDS}
    assert api.post("/v2/sandbox/advance", body, content_type="application/json").status_code == 200
    user.clicks("Sweep")
    user.sees("The sweep failed, and nothing was taken")
    assert barriers(user.page) == []


@in_matrix
def test_a_reorganisation_is_shown_until_a_block_has_the_sweep_again(user_of: UserOf, kind: Kind) -> None:
    user = user_of(kind)
    user.opens()
    user.keeps_only("SCRIPT")
    user.clicks("See the offer")
    user.sees("You receive about")
    before, head = user.chain.rpc("evm_snapshot"), int(user.chain.rpc("eth_blockNumber"), 16)
    user.clicks("Sweep")
    user.sees("You received")
    sent = transactions_above(user.chain, head)
    user.chain.roll_back(before)
    user.chain.mine(2)
    user.sees("Its block left the chain.")
    for raw in sent:
        user.chain.rpc("eth_sendRawTransaction", raw)
    user.sees("You received")


def transactions_above(chain: LocalChain, height: int) -> list[str]:
    """Return the transactions of the blocks above, as they were sent."""
    blocks = range(height + 1, int(chain.rpc("eth_blockNumber"), 16) + 1)
    hashes = [
        tx for number in blocks for tx in chain.rpc("eth_getBlockByNumber", hex(number), HASHES_ONLY)["transactions"]
    ]
    return [chain.rpc("eth_getRawTransactionByHash", tx_hash) for tx_hash in hashes]


def test_a_page_that_was_closed_shows_the_sweep_when_it_is_opened_again(user_of: UserOf) -> None:
    user = user_of(KINDS["a key without batches"])
    user.opens()
    user.clicks("See the offer")
    user.clicks("Sweep")
    user.sees("You received")
    user.page.goto(user.url)
    user.clicks("Test wallet")
    user.sees("You received")


def test_the_local_wallet_asks_in_a_dialog(browser: Browser, page_url: str, sandbox_tokens: dict[str, str]) -> None:
    assert sandbox_tokens
    with browser.page(width=DESK_PIXELS, dark=True) as page:
        page.goto(page_url)
        page.click(".wallets button")
        page.wait("document.querySelector('dialog')")
        assert barriers(page) == []
        page.click("dialog button:not(.main)")
        page.wait("document.querySelector('main').innerText.includes('You declined')")
        assert page.faults() == []


def test_the_page_holds_no_key_and_no_code_that_takes_one() -> None:
    built = [file.read_text() for file in (EXAMPLE / "dist").iterdir()]
    assert built
    assert [file for file in built if "swp_" in file or "x-api-key" in file] == []
