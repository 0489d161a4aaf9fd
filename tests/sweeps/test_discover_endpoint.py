"""POST /v2/sweep/discover: a verdict on each token of a wallet, proven by a simulated sale, and the best basket."""

import json
from collections.abc import Callable
from typing import Any

import pytest
from eth_abi.abi import encode
from eth_account import Account
from eth_utils.address import to_checksum_address
from eth_utils.crypto import keccak

from dev.chain.artifacts import CONTRACTS
from dev.chain.sender import Sender
from sweepapi.evm.chain.chains import Chain
from sweepapi.evm.encoding.abi import Function
from sweepapi.evm.encoding.addresses import NATIVE_COIN
from sweepapi.evm.wallet.holdings.reading import MAX_CANDIDATES, MAX_HELD
from sweepapi.evm.wallet.holdings.transfer_logs import MAX_LOGS
from sweepapi.rpc import ProviderPool
from sweeps.models import Sweep
from tests.fake_node import FakeNode, without_simulation
from tests.hostile_tokens import Treatment, put_contract, put_thief, treat
from tests.openapi import assert_documented
from tests.partner_app import PartnerApp, details_of, error_of

pytestmark = pytest.mark.django_db

DISCOVER = "/v2/sweep/discover"
TRANSFER, ARM = Function("transfer(address,uint256)"), Function("arm(uint8,uint8)")
CONTRACT_CALLS, REFUSE = 4, 0  # as in TrapToken.sol
BURNS_ALL_GAS = "5b600056"  # a loop that never ends
RETURNS_GARBAGE = "60016000f3"
RETURNS_A_MEGABYTE = "6001600052620fffff6000f3"  # a balance, and zeros
# Returns 18 to every call, but to name() the 32 bytes between these two.
NAMED_IN_32_BYTES, RETURNS_IT = "5f3560e01c6306fdde031460165760125f5260205ff35b7f", "5f5260205ff3"
MOST_ROUND_TRIPS = 6
# What the first user holds: what the chain lists, and what it does not but the user received.
LISTED, UNLISTED, TAXED = {"USDC", "USDT", "DAI", "WBTC", "LINK", "UNI"}, {"GUSD"}, {"TFEE"}
UNPRICED = ("mint", "verdict", "reason", "simulation", "expectedOutput", "value", "excludedBecause")
SELLABLE = LISTED | UNLISTED


def post_discover(app: PartnerApp, **fields: Any) -> Any:
    body = {
        "chain": app.chain.world["chain"],
        "wallet": app.user.address,
        "outputMint": app.chain.token("WETH").address,
    }
    return app.api.post(DISCOVER, body | fields, content_type="application/json")


def discovered(app: PartnerApp, **fields: Any) -> dict[str, Any]:
    """Read a wallet and return the response's data."""
    response = post_discover(app, **fields)
    assert response.status_code == 200, response.content
    data: dict[str, Any] = response.json()["data"]
    return data


def verdicts(found: dict[str, Any]) -> dict[str, tuple[str, str | None]]:
    """Return verdict and reason of each token, by address."""
    return {token["mint"]: (token["verdict"], token["reason"]) for token in found["tokens"]}


def sellable(found: dict[str, Any]) -> set[str]:
    return {token["symbol"] for token in found["tokens"] if token["verdict"] == "sellable"}


def token_at(found: dict[str, Any], mint: str) -> dict[str, Any]:
    tokens: list[dict[str, Any]] = [token for token in found["tokens"] if token["mint"] == mint]
    assert len(tokens) == 1
    return tokens[0]


def source_of(found: dict[str, Any], name: str) -> dict[str, Any]:
    sources: list[dict[str, Any]] = found["coverage"]["sources"]
    return next(source for source in sources if source["source"] == name)


def basket_of(found: dict[str, Any]) -> list[str]:
    return [token["mint"] for token in found["bestBasket"]["tokens"]]


def runtime_code(contract: str) -> str:
    compiled = json.loads((CONTRACTS / f"out/{contract}.sol/{contract}.json").read_text(encoding="utf-8"))
    code: str = compiled["deployedBytecode"]["object"]
    return code.removeprefix("0x")


def account(number: int) -> str:
    """Return an address that nothing else uses."""
    return to_checksum_address(keccak(b"discover %d" % number)[:20])


@pytest.fixture
def mint(app: PartnerApp) -> Callable[..., str]:
    """Deploy a token of any name without pools, send the wallet some of it, and return its address."""

    def create(name: str, symbol: str, amount: int = 10**18) -> str:
        app.chain.rpc("anvil_impersonateAccount", app.chain.users[1].address)
        with app.chain.mining_paused():
            sender = Sender(app.chain.node, app.chain.users[1].address)
            token = sender.create("MintableToken", name, symbol, 18)
            sender.call(token, "mint(address,uint256)", app.user.address, amount)
            sender.flush()
        return token

    return create


@pytest.fixture
def wallet_with(app: PartnerApp) -> Callable[..., str]:
    """Give a new wallet these smallest units of tokens by symbol; returns its address."""

    def create(**units: int) -> str:
        wallet: str = Account.create().address
        for symbol, amount in units.items():
            data = "0x" + TRANSFER.encode(wallet, amount).hex()
            tx_hash = app.chain.send(app.user, {"to": app.chain.token(symbol).address, "data": data})
            assert app.chain.receipt(tx_hash)["status"] == 1
        return wallet

    return create


@pytest.fixture
def node(start_node: Callable[[], FakeNode], use_providers: Callable[..., ProviderPool]) -> FakeNode:
    """A node of the local chain, which is the only provider."""
    fake = start_node()
    use_providers(fake.url)
    return fake


# --- verdicts ---------------------------------------------------------------------------------------------------------


def test_tokens_that_the_chain_lists_are_found_without_being_named(app: PartnerApp, each_mode: str) -> None:
    assert each_mode
    found = discovered(app)
    assert {token["symbol"] for token in found["tokens"]} == SELLABLE | TAXED
    assert {token["simulation"] for token in found["tokens"]} == {"ok"}
    assert {token["symbol"] for token in found["tokens"] if token["untrusted"]} == UNLISTED | TAXED
    assert sellable(found) == SELLABLE
    assert not Sweep.objects.exists()


def test_the_answer_is_documented(app: PartnerApp, mint: Callable[..., str]) -> None:
    mint("Claim at gift.example.com", "GIFT")
    response = post_discover(app, candidates=[account(1), app.chain.token("TFEE").address], includeHidden=True)
    assert_documented(response, path=DISCOVER)
    assert {token["verdict"] for token in response.json()["data"]["tokens"]} == {
        "sellable",
        "taxed",
        "suspect",
        "broken",
    }


@pytest.mark.parametrize("output", ["WETH", "USDC", "ETH"])
def test_an_offer_is_what_a_build_of_the_whole_balance_offers(app: PartnerApp, output: str) -> None:
    dai = app.chain.token("DAI")
    mint = NATIVE_COIN if output == "ETH" else app.chain.token(output).address
    token = token_at(discovered(app, outputMint=mint), dai.address)
    assert token["amount"] == str(app.chain.balance(app.user.address, dai))
    (built,) = app.build(tokens=[{"mint": dai.address, "amount": token["amount"]}], output=output)["tokens"]
    for field in ("expectedOutput", "value", "transferTaxBps", "priceImpactBps"):
        assert token[field] == built[field], field


def test_a_taxed_token_is_sold_by_a_router(app: PartnerApp, each_mode: str) -> None:
    assert each_mode
    taxed = app.chain.token("TFEE").address
    token = token_at(discovered(app, candidates=[taxed]), taxed)
    assert (token["verdict"], token["reason"], token["simulation"]) == ("taxed", "transfer_fee", "ok")
    assert token["transferTaxBps"] == 199
    assert token["untrusted"]


def test_a_honeypot_that_only_shows_when_it_is_sold_is_unsellable(app: PartnerApp, each_mode: str) -> None:
    assert each_mode
    trap = app.chain.put_code(app.chain.token("UNI").address, runtime_code("TrapToken"))
    data = "0x" + ARM.encode(CONTRACT_CALLS, REFUSE).hex()
    assert app.chain.receipt(app.chain.send(app.user, {"to": trap, "data": data}))["status"] == 1
    found = discovered(app)
    token = token_at(found, trap)
    assert (token["verdict"], token["reason"], token["simulation"]) == ("unsellable", "simulation_failed", "reverted")
    assert token["message"]
    assert trap not in basket_of(found)
    assert sellable(found) == SELLABLE - {"UNI"}


@pytest.mark.parametrize("when_approved", [False, True], ids=["when sold", "when approved"])
@pytest.mark.parametrize("lacking", [[], ["eth_simulateV1"]], ids=["by logs", "by balances"])
def test_a_token_whose_sale_takes_another_one_is_unsellable(
    app: PartnerApp, node: FakeNode, lacking: list[str], *, when_approved: bool
) -> None:
    dai = app.chain.token("DAI").address
    thief = put_thief(app, dai, when_approved=when_approved)
    node.lacks = lacking
    found = discovered(app)
    token = token_at(found, thief)
    assert (token["verdict"], token["reason"]) == ("unsellable", "takes_other_tokens")
    assert dai in token["message"]
    assert thief not in basket_of(found)
    assert sellable(found) == SELLABLE - {"UNI"}


def test_a_sale_that_moves_what_is_worth_nothing_is_a_sale(app: PartnerApp, mint: Callable[..., str]) -> None:
    thief = put_thief(app, mint("Shares in a dividend", "SHARES"), when_approved=False)
    assert verdicts(discovered(app))[thief] == ("sellable", None)


def test_a_token_without_a_pool_is_found_in_the_logs_and_has_no_route(
    app: PartnerApp, mint: Callable[..., str]
) -> None:
    token = mint("Nobody trades it", "NONE", 7)
    found = discovered(app)
    assert source_of(found, "transfer_logs")["tokens"] > 0
    assert verdicts(found)[token] == ("no_route", "no_route")
    shown = token_at(found, token)
    assert (shown["name"], shown["amount"], shown["untrusted"]) == ("Nobody trades it", "7", True)
    assert (shown["expectedOutput"], shown["simulation"], shown["netOutput"]) == (None, None, None)


def test_dust_is_uneconomic(app: PartnerApp, wallet_with: Callable[..., str]) -> None:
    found = discovered(app, wallet=wallet_with(USDC=1_000, DAI=10**9))
    usdc, dai = app.chain.token("USDC").address, app.chain.token("DAI").address
    assert verdicts(found) == {usdc: ("uneconomic", "uneconomic"), dai: ("uneconomic", "uneconomic")}
    assert int(token_at(found, usdc)["netOutput"]) < 0
    assert found["bestBasket"] == {"tokens": [], "expectedOutput": "0", "economics": None}


@pytest.mark.parametrize(
    ("name", "symbol", "reason"),
    [
        ("USD Coin", "USDC", "imitates_symbol"),
        ("Circle", "USD\N{CYRILLIC CAPITAL LETTER ES}", "imitates_symbol"),
        ("Pepe", "PE\N{ZERO WIDTH SPACE}PE", "imitates_symbol"),  # shown as the listed PEPE, but not equal to it
        ("Gold \N{CYRILLIC SMALL LETTER A}nd silver", "GLD", "mixed_scripts"),
        ("Visit claim-rewards.xyz to claim", "RWD", "contains_link"),
    ],
)
def test_a_token_whose_name_deceives_is_only_shown_on_request(
    app: PartnerApp, mint: Callable[..., str], name: str, symbol: str, reason: str
) -> None:
    token = mint(name, symbol)
    hidden = discovered(app)
    assert token not in verdicts(hidden)
    assert hidden["hiddenTokens"] == 1
    shown = discovered(app, includeHidden=True)
    assert verdicts(shown)[token] == ("suspect", reason)
    assert shown["hiddenTokens"] == 0
    assert token not in basket_of(shown)


def test_a_token_with_the_symbol_of_a_listed_one_has_a_note(app: PartnerApp, mint: Callable[..., str]) -> None:
    same, other = mint("Pepe", "PEPE"), mint("Some token", "NOTLISTED")
    found = discovered(app)
    assert verdicts(found)[same] == ("no_route", "no_route")
    assert token_at(found, same)["notes"] == ["symbol_of_listed_token"]
    assert token_at(found, other)["notes"] == []


def test_a_token_on_the_list_may_have_any_name(
    app: PartnerApp, mint: Callable[..., str], monkeypatch: pytest.MonkeyPatch
) -> None:
    token = mint("Visit claim-rewards.xyz to claim", "USDC")
    listed = {app.chain.world["chainId"]: {token: "USDC"}}
    monkeypatch.setattr("sweepapi.evm.tokens.listed_tokens.tokens_of", listed.get)
    shown = token_at(discovered(app), token)
    assert (shown["verdict"], shown["untrusted"], shown["notes"]) == ("no_route", False, [])


def test_a_name_of_32_bytes_is_read(app: PartnerApp) -> None:
    name = b"Claim at usdc-gift.com".ljust(32, b"\0").hex()
    token = app.chain.put_code(account(2), f"{NAMED_IN_32_BYTES}{name}{RETURNS_IT}")
    shown = token_at(discovered(app, candidates=[token], includeHidden=True), token)
    assert (shown["name"], shown["reason"]) == ("Claim at usdc-gift.com", "contains_link")


def test_a_deceiving_token_that_can_be_sold_is_not_in_the_basket(
    app: PartnerApp, change_chain: Callable[..., Chain]
) -> None:
    gusd = app.chain.token("GUSD").address
    change_chain(tokens={"GUSD": app.chain.token("DAI").address})
    found = discovered(app, candidates=[gusd], includeHidden=True)
    assert verdicts(found)[gusd] == ("suspect", "imitates_symbol")
    assert gusd not in basket_of(found)


@pytest.mark.parametrize("code", ["", BURNS_ALL_GAS, RETURNS_GARBAGE, RETURNS_A_MEGABYTE], ids=len)
def test_what_is_not_a_token_is_broken_and_fails_no_other(app: PartnerApp, code: str) -> None:
    address = app.chain.put_code(account(1), code)
    found = discovered(app, candidates=[address])
    assert verdicts(found)[address] == ("broken", "not_a_token")
    broken = token_at(found, address)
    assert (broken["symbol"], broken["name"], broken["decimals"], broken["amount"]) == ("", "", None, None)
    assert sellable(found) == SELLABLE


# --- the basket -------------------------------------------------------------------------------------------------------


def test_the_basket_can_be_built_as_it_is(app: PartnerApp, each_mode: str) -> None:
    assert each_mode
    found = discovered(app, candidates=[app.chain.token(symbol).address for symbol in ("TFEE", "GUSD")])
    built = app.build(tokens=found["bestBasket"]["tokens"])
    assert built["issues"]["simulation"]["status"] == "ok"
    assert app.chain.token("TFEE").address in basket_of(found)
    nets = [int(token_at(found, mint)["netOutput"]) for mint in basket_of(found)]
    assert nets == sorted(nets, reverse=True)
    expected = sum(int(token_at(found, mint)["expectedOutput"]) for mint in basket_of(found))
    assert int(found["bestBasket"]["expectedOutput"]) == expected
    said, actual = int(found["bestBasket"]["economics"]["gas"]), int(built["economics"]["gas"])
    assert abs(said - actual) < actual // 1_000, "the sweep of these tokens was tried, not only the sale of each"


def test_a_token_that_a_build_would_refuse_for_its_price_impact_is_not_in_the_basket(app: PartnerApp) -> None:
    found = discovered(app)
    wbtc = app.chain.token("WBTC").address
    assert token_at(found, wbtc)["priceImpactBps"] > 1_500
    assert wbtc not in basket_of(found)


def test_the_basket_is_empty_if_no_token_pays_for_the_transaction(
    app: PartnerApp, wallet_with: Callable[..., str]
) -> None:
    found = discovered(app, wallet=wallet_with(USDC=400_000))
    assert [token["verdict"] for token in found["tokens"]] == ["sellable"]
    assert int(found["tokens"][0]["netOutput"]) > 0
    assert basket_of(found) == []


def test_the_basket_is_no_larger_than_a_sweep(app: PartnerApp, settings: Any) -> None:
    settings.MAX_TOKENS = 2
    found = discovered(app)
    best = sorted(found["tokens"], key=lambda token: int(token["netOutput"]), reverse=True)
    wbtc = app.chain.token("WBTC").address
    assert basket_of(found) == [token["mint"] for token in best if token["mint"] != wbtc][:2]


# --- candidates -------------------------------------------------------------------------------------------------------


def test_candidates_may_be_what_a_wallet_says_of_itself_but_its_balances_are_not_believed(app: PartnerApp) -> None:
    gusd = app.chain.token("GUSD").address
    assets = {
        hex(app.chain.world["chainId"]): [
            {"address": gusd.lower(), "balance": "0xffff", "type": "erc20", "metadata": {"symbol": "FAKE"}},
            {"address": "native", "balance": "0x1", "type": "native"},
            {"address": account(1), "balance": "0x1", "type": "erc721"},
        ],
        "0x1": [{"address": account(2), "balance": "0x1", "type": "erc20"}],
    }
    found = discovered(app, candidates=assets)
    assert token_at(found, gusd)["amount"] == str(app.chain.balance(app.user.address, app.chain.token("GUSD")))
    assert token_at(found, gusd)["symbol"] == "GUSD"
    assert not {account(1), account(2)} & verdicts(found).keys()


@pytest.mark.parametrize(
    ("candidates", "field", "code"),
    [
        ("USDC", "candidates", "invalid_type"),
        (["0x12"], "candidates[0]", "invalid_format"),
        ([None], "candidates[0]", "invalid_type"),
        ({"1": []}, "candidates", "invalid_format"),
        ({"0x1": "all"}, "candidates", "invalid_type"),
        ({"0x1": ["0x12"]}, "candidates", "invalid_type"),
        ({"0x1": [{"type": "erc20"}]}, "candidates[0]", "invalid_type"),
        ([account(i) for i in range(MAX_CANDIDATES + 1)], "candidates", "too_long"),
    ],
    ids=lambda value: value if isinstance(value, str) else None,
)
def test_bad_candidates_are_refused(app: PartnerApp, candidates: object, field: str, code: str) -> None:
    response = post_discover(app, candidates=candidates)
    assert error_of(response) == (400, "invalid_request")
    assert details_of(response) == {(field, code)}


def test_the_output_and_the_native_coin_are_not_among_the_tokens(app: PartnerApp) -> None:
    weth = app.chain.token("WETH").address
    assert not {weth, NATIVE_COIN} & verdicts(discovered(app, candidates=[weth, NATIVE_COIN])).keys()


def test_the_wrapped_coin_can_become_the_native_one(app: PartnerApp) -> None:
    weth = token_at(discovered(app, outputMint=NATIVE_COIN), app.chain.token("WETH").address)
    assert (weth["verdict"], weth["expectedOutput"]) == ("sellable", weth["amount"])


def test_a_wallet_may_be_a_contract(app: PartnerApp, wallet_with: Callable[..., str]) -> None:
    wallet = app.chain.put_code(wallet_with(USDC=10**9), "00")
    assert [token["verdict"] for token in discovered(app, wallet=wallet)["tokens"]] == ["sellable"]


def test_an_empty_wallet_has_no_tokens(app: PartnerApp) -> None:
    found = discovered(app, wallet=account(2))
    assert (found["tokens"], basket_of(found)) == ([], [])


# --- round trips ------------------------------------------------------------------------------------------------------


def test_five_hundred_candidates_of_which_one_burns_all_gas_take_six_round_trips(
    app: PartnerApp, round_trips: list[list[str]]
) -> None:
    plain = runtime_code("MintableToken")
    others = [app.chain.put_code(account(i), plain) for i in range(MAX_HELD - len(SELLABLE | TAXED))]
    burner = app.chain.put_code(others[3], BURNS_ALL_GAS)
    round_trips.clear()
    found = discovered(app, candidates=others, outputMint=app.chain.token("USDC").address)
    assert len(round_trips) <= MOST_ROUND_TRIPS
    assert {mint for mint, (verdict, _) in verdicts(found).items() if verdict == "broken"} == {burner}
    assert sellable(found) == SELLABLE - {"USDC"} | {"WETH"}
    assert found["coverage"]["tokensLeft"] == 0


def test_150_tokens_of_the_wallet_take_six_round_trips(app: PartnerApp, round_trips: list[list[str]]) -> None:
    plain = runtime_code("MintableToken")
    held = [app.chain.put_code(account(i), plain) for i in range(150 - len(SELLABLE | TAXED))]
    slot = "0x" + keccak(encode(["address", "uint256"], [app.user.address, 0])).hex()
    for token in held:
        app.chain.rpc("anvil_setStorageAt", token, slot, "0x" + "11".rjust(64, "0"))
    round_trips.clear()
    found = discovered(app, candidates=held, outputMint=app.chain.token("USDC").address)
    assert len(round_trips) <= MOST_ROUND_TRIPS
    assert sum(token["verdict"] == "no_route" for token in found["tokens"]) == len(held)
    assert sellable(found) == SELLABLE - {"USDC"} | {"WETH"}


# --- providers and contracts ------------------------------------------------------------------------------------------


@pytest.mark.parametrize("answer", ["nonsense", None, [{}] * (MAX_LOGS + 1)], ids=["nonsense", "null", "too many"])
def test_without_logs_the_other_tokens_are_found(
    app: PartnerApp, node: FakeNode, mint: Callable[..., str], answer: object
) -> None:
    token = mint("Nobody trades it", "NONE")
    node.alter = lambda method, _params, result: answer if method == "eth_getLogs" else result
    found = discovered(app)
    assert source_of(found, "transfer_logs")["status"] == "unavailable"
    assert token not in verdicts(found)
    assert sellable(found) == LISTED


def test_a_provider_that_fails_on_logs_costs_only_the_tokens_found_there(app: PartnerApp, node: FakeNode) -> None:
    node.refuse = lambda batch: any(request["method"] == "eth_getLogs" for request in batch)
    found = discovered(app, candidates=[account(1)])
    assert source_of(found, "transfer_logs")["status"] == "unavailable"
    assert verdicts(found)[account(1)] == ("broken", "not_a_token")


def test_a_provider_that_does_not_simulate_is_asked_by_calls(app: PartnerApp, node: FakeNode) -> None:
    simulated = discovered(app)["tokens"]
    node.lacks = ["eth_simulateV1"]
    called = discovered(app)["tokens"]
    for token, before in zip(called, simulated, strict=True):
        assert [token[name] for name in UNPRICED] == [before[name] for name in UNPRICED]
        assert (None if token["gas"] is None else int(token["gas"])) == (
            None if before["gas"] is None else pytest.approx(int(before["gas"]), rel=0.02)
        )


def test_without_simulation_the_verdicts_are_those_of_the_quotes(app: PartnerApp, node: FakeNode) -> None:
    node.alter = without_simulation
    found = discovered(app)
    assert sellable(found) == SELLABLE
    assert {token["simulation"] for token in found["tokens"]} == {"skipped"}


@pytest.mark.usefixtures("no_providers")
def test_without_providers_it_can_be_repeated_later(app: PartnerApp) -> None:
    assert error_of(post_discover(app)) == (503, "chain_unavailable")


def test_while_the_contract_is_paused_nothing_can_be_sold(app: PartnerApp) -> None:
    app.chain.pause()
    assert error_of(post_discover(app)) == (503, "build_disabled")


@pytest.mark.parametrize(
    ("field", "value", "code"),
    [
        ("outputMint", account(1), "not_a_token"),
        ("wallet", NATIVE_COIN, "native_coin"),
        ("wallet", "0x" + "00" * 20, "zero_address"),
        ("includeHidden", "yes", "invalid_type"),
        ("amount", "1", "unknown_field"),
    ],
)
def test_a_bad_field_is_refused(app: PartnerApp, field: str, value: str, code: str) -> None:
    response = post_discover(app, **{field: value})
    assert error_of(response) == (400, "invalid_request")
    assert details_of(response) == {(field, code)}


def test_an_output_that_blocks_the_wallet_is_refused_instead_of_every_token(app: PartnerApp) -> None:
    token = put_contract(app, "HoneypotToken")
    treat(app, app.user.address, as_receiver=Treatment.REFUSED)
    response = post_discover(app, outputMint=token)
    assert error_of(response) == (400, "invalid_request")
    assert details_of(response) == {("outputMint", "transfer_refused")}


def test_a_taxed_output_is_refused(app: PartnerApp) -> None:
    response = post_discover(app, outputMint=app.chain.token("TFEE").address)
    assert error_of(response) == (400, "invalid_request")
    assert details_of(response) == {("outputMint", "transfer_fee")}
