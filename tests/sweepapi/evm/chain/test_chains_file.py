"""A chains file that contradicts itself is refused with the chain and the key; the one we ship is good."""

from pathlib import Path
from typing import Any

import pytest

from sweepapi.evm.chain.chains import Chain, SaltRule, Venue
from sweepapi.evm.chain.chains_file import load_chains
from sweepapi.evm.chain.errors import ChainsFileError
from sweepapi.evm.chain.fee_models.names import FEE_MODELS
from sweepapi.evm.chain.fee_models.plain import PlainFees
from sweepapi.evm.encoding.addresses import ZERO_ADDRESS
from sweepapi.evm.pools.sources import SOURCES

SHIPPED = Path(__file__).parents[4] / "config" / "chains.toml"
ADDRESS = "0x5aAeb6053F3E94C9b9A09f33669435E7Ef1BeAed"
OTHER = "0xfB6916095ca1df60bB79Ce92cE3Ea74c37c5d359"
HASH = "0x" + "1a" * 32
GOOD = f"""
[chains.mars]
chain_id = 4
native_symbol = "MRS"
wrapped_native = "{ADDRESS.lower()}"
reference_token = "{OTHER.lower()}"
fee_model = "plain"
permit2 = "{ADDRESS}"
multicall3 = "{ADDRESS}"

[chains.mars.finality]
safe = 10
final = "finalized"
recheck_seconds = 5

[[chains.mars.routers]]
name = "r"
kind = "uniswap_v2"
address = "{ADDRESS}"
factory = "{ADDRESS}"
quoter = "{ADDRESS}"
"""


def load(tmp_path: Path, text: str) -> dict[str, Chain]:
    path = tmp_path / "chains.toml"
    path.write_text(text, encoding="utf-8")
    return load_chains(path)


def test_the_sources_of_holdings_are_in_the_order_of_the_file(tmp_path: Path) -> None:
    assert load(tmp_path, GOOD)["mars"].holdings_sources == ("candidates", "token_list", "transfer_logs")
    named = 'holdings_sources = ["blockscout", "candidates"]\nchain_id = 4'
    assert load(tmp_path, GOOD.replace("chain_id = 4", named, 1))["mars"].holdings_sources == (
        "blockscout",
        "candidates",
    )


@pytest.mark.parametrize(
    ("names", "problem"),
    [
        ('["candidates", "etherscan"]', "'etherscan' is not a source of holdings: they are candidates, token_list, "),
        ('["candidates", 1]', "1 is not a source of holdings"),
        ('["candidates", ["alchemy"]]', "is not a source of holdings"),
        ('["candidates", "alchemy", "alchemy"]', "holdings_sources names a source twice"),
        ('["token_list"]', "holdings_sources lacks candidates"),
        ('"candidates"', "holdings_sources is a list of candidates, token_list, transfer_logs, alchemy, blockscout"),
    ],
)
def test_wrong_sources_of_holdings_are_refused_by_their_name(tmp_path: Path, names: str, problem: str) -> None:
    text = GOOD.replace("chain_id = 4", f"holdings_sources = {names}\nchain_id = 4", 1)
    with pytest.raises(ChainsFileError, match="chain 'mars': ") as refusal:
        load(tmp_path, text)
    assert problem in str(refusal.value)


def test_connectors_are_listed(tmp_path: Path) -> None:
    listed = f'connectors = ["{OTHER.lower()}"]\nchain_id = 4'
    assert load(tmp_path, GOOD.replace("chain_id = 4", listed, 1))["mars"].connectors == (OTHER,)


def test_tokens_that_force_outcomes_are_for_sandbox_chains_only(tmp_path: Path) -> None:
    forcing = f'[chains.mars.sandbox_tokens]\nno_route = "{OTHER.lower()}"\n[chains.mars.finality]'
    text = GOOD.replace("[chains.mars.finality]", forcing)
    with pytest.raises(ChainsFileError, match="only a chain with sandbox = true has sandbox_tokens"):
        load(tmp_path, text)
    mars = load(tmp_path, text.replace("chain_id = 4", "chain_id = 4\nsandbox = true"))["mars"]
    assert mars.sandbox_tokens == {"no_route": OTHER}


def test_a_good_chain_is_read_with_addresses_in_canonical_form(tmp_path: Path) -> None:
    mars = load(tmp_path, GOOD)["mars"]
    assert (mars.name, mars.chain_id, mars.wrapped_native) == ("mars", 4, ADDRESS)
    assert (mars.reference_token, mars.fee_model) == (OTHER, PlainFees())
    assert mars.tokens == {}
    assert mars.connectors == ()
    assert (mars.v5_contract, mars.protocol_recipient) == (None, None)
    assert (mars.v4_contract, mars.access_manager, mars.deployed_at_block, mars.v4_fee_bps) == (None, None, None, None)
    assert (mars.role_holders, mars.previous_fee_signer) == ({}, None)
    assert (mars.finality.safe, mars.finality.final, mars.finality.max_head_age_seconds) == (10, "finalized", None)
    assert (mars.routers[0].fee_tiers, mars.venues) == ((), ())


def test_well_known_tokens_are_listed_by_symbol(tmp_path: Path) -> None:
    listed = f'[chains.mars.tokens]\nUSDC = "{OTHER.lower()}"\n'
    assert load(tmp_path, GOOD + listed)["mars"].tokens == {"USDC": OTHER}
    with pytest.raises(ChainsFileError, match="chain 'mars': a token is listed twice"):
        load(tmp_path, GOOD + listed + f'USDT = "{OTHER}"\n')


def test_every_chain_that_we_ship_lists_its_wrapped_coin_and_its_reference_token() -> None:
    for chain in load_chains(SHIPPED).values():
        assert {chain.wrapped_native, chain.reference_token} <= set(chain.tokens.values())


def test_partners_are_paid_by_the_protocols_recipient_unless_the_chain_names_others(tmp_path: Path) -> None:
    for lines, senders in (
        ("", ()),
        (f'protocol_recipient = "{ADDRESS}"\n', (ADDRESS,)),
        (f'protocol_recipient = "{ADDRESS}"\npayout_senders = ["{OTHER.lower()}"]\n', (OTHER,)),
        ("payout_senders = []\n", ()),
    ):
        text = GOOD.replace("chain_id = 4\n", f"chain_id = 4\n{lines}")
        assert load(tmp_path, text)["mars"].payout_senders == senders


def test_a_chain_names_how_it_charges_for_the_data_of_transactions(tmp_path: Path) -> None:
    for name, model in FEE_MODELS.items():
        assert load(tmp_path, GOOD.replace('"plain"', f'"{name}"'))["mars"].fee_model is model
    with pytest.raises(ChainsFileError, match="chain 'mars': 'fee_model' is missing"):
        load(tmp_path, GOOD.replace('fee_model = "plain"\n', ""))
    for name in ('"optimism"', '"Plain"', '""', "1", "[]"):
        with pytest.raises(ChainsFileError, match=r"chain 'mars': .* is not a fee model: plain, op_stack"):
            load(tmp_path, GOOD.replace('"plain"', name))


def test_the_hash_of_the_first_block_tells_a_chain_from_others_with_its_id(tmp_path: Path) -> None:
    assert load(tmp_path, GOOD)["mars"].genesis_hash is None
    text = GOOD.replace("chain_id = 4\n", f'chain_id = 4\ngenesis_hash = "{HASH}"\n')
    assert load(tmp_path, text)["mars"].genesis_hash == HASH
    with pytest.raises(ChainsFileError, match="chain 'mars': '0x1a1a' is not the hash of a block"):
        load(tmp_path, text.replace(HASH, "0x1a1a"))
    assert all(chain.genesis_hash is not None for chain in load_chains(SHIPPED).values())


@pytest.mark.parametrize("value", ['"false"', "0", "1", "[]"])
def test_a_chain_is_a_sandbox_only_if_the_file_says_true(tmp_path: Path, value: str) -> None:
    assert not load(tmp_path, GOOD)["mars"].sandbox
    for said, sandbox in (("true", True), ("false", False)):
        text = GOOD.replace("chain_id = 4\n", f"chain_id = 4\nsandbox = {said}\n")
        assert load(tmp_path, text)["mars"].sandbox is sandbox
    with pytest.raises(ChainsFileError, match="chain 'mars': sandbox is true or false, not "):
        load(tmp_path, GOOD.replace("chain_id = 4\n", f"chain_id = 4\nsandbox = {value}\n"))


DEPLOYED = f"""
[chains.mars.roles]
guardian = ["{ADDRESS.lower()}", "{ADDRESS}"]

[chains.mars.contracts]
access_manager = "{ADDRESS}"
v5 = "{ADDRESS}"
v4 = "{ADDRESS}"
deployed_at_block = 7
"""


def test_a_deployed_chain_has_its_contracts_and_the_holders_of_their_roles(tmp_path: Path) -> None:
    mars = load(tmp_path, GOOD + DEPLOYED)["mars"]
    assert (mars.access_manager, mars.v5_contract, mars.v4_contract, mars.deployed_at_block) == (*[ADDRESS] * 3, 7)
    assert mars.role_holders == {"guardian": (ADDRESS, ADDRESS)}


@pytest.mark.parametrize(
    ("good", "bad", "message"),
    [
        (f'v4 = "{ADDRESS}"', "", "chain 'mars': 'v4' is missing"),
        (f'access_manager = "{ADDRESS}"', "", "chain 'mars': 'access_manager' is missing"),
        ("deployed_at_block = 7", "", "chain 'mars': 'deployed_at_block' is missing"),
        (f'guardian = ["{ADDRESS.lower()}", "{ADDRESS}"]', f'guardian = "{ADDRESS}"', "is not a list of addresses"),
        (f'guardian = ["{ADDRESS.lower()}"', 'guardian = ["0x1"', "'0x1' is not an address"),
        (f'guardian = ["{ADDRESS.lower()}"', f'guardian = ["{ZERO_ADDRESS}"', f"'{ZERO_ADDRESS}' is not an address"),
    ],
)
def test_a_deployed_chain_that_leaves_something_out_is_refused(
    tmp_path: Path, good: str, bad: str, message: str
) -> None:
    assert good in DEPLOYED
    with pytest.raises(ChainsFileError, match=message):
        load(tmp_path, GOOD + DEPLOYED.replace(good, bad))


VENUES = f"""
[[chains.mars.venues]]
id = 1
name = "three"
kind = "uniswap_v3"
factory = "{ADDRESS}"
init_code_hash = "{HASH}"
quoter = "{OTHER}"
fee_tiers = [500, 3000]

[[chains.mars.venues]]
id = 2
name = "two"
kind = "uniswap_v2"
factory = "{ADDRESS}"
init_code_hash = "{HASH}"
quoter = "{OTHER}"
"""


def test_a_venues_kind_says_how_its_pools_are_created_and_called_back(tmp_path: Path) -> None:
    v3, v2 = load(tmp_path, GOOD + VENUES)["mars"].venues
    assert v3 == Venue(
        name="three",
        id=1,
        kind="uniswap_v3",
        factory=ADDRESS,
        deployer=ADDRESS,
        salt_rule=SaltRule.PAIR_AND_FEE,
        fee_bps=0,
        callback=bytes.fromhex("fa461e33"),
        init_code_hash=HASH,
        quoter=OTHER,
        fee_tiers=(500, 3000),
    )
    assert (v2.salt_rule, v2.fee_bps, v2.callback.hex()) == (SaltRule.PACKED_PAIR, 30, "10d1e85c")


def test_a_fork_says_what_differs_from_its_kind(tmp_path: Path) -> None:
    """As PancakeSwap's V3 pools, which an account of their own creates, and its V2 pools, which keep less."""
    v3_lines = f'deployer = "{OTHER}"\ncallback = "pancakeV3SwapCallback(int256,int256,bytes)"\nid = 1'
    v2_lines = 'fee_bps = 25\ncallback = "pancakeCall(address,uint256,uint256,bytes)"\nid = 2'
    venues = VENUES.replace("id = 1", v3_lines).replace("id = 2", v2_lines)
    v3, v2 = load(tmp_path, GOOD + venues)["mars"].venues
    assert (v3.factory, v3.deployer, v3.callback.hex(), v3.fee_bps) == (ADDRESS, OTHER, "23a69e75", 0)
    assert (v2.deployer, v2.callback.hex(), v2.fee_bps) == (ADDRESS, "84800812", 25)


@pytest.mark.parametrize(
    ("good", "bad", "message"),
    [
        ("id = 1", "", "chain 'mars': 'id' is missing"),
        ("id = 1", "id = 0", "chain 'mars': 0 is not from 1 to 65535"),
        ("id = 1", "id = 65536", "65536 is not from 1 to 65535"),
        ("id = 1", 'id = "1"', "'1' is not from 1 to 65535"),
        ("id = 1", "id = 2", "chain 'mars': two venues have the same id"),
        ('kind = "uniswap_v3"', 'kind = "curve"', "chain 'mars': 'curve' is not a kind of venue"),
        (f'init_code_hash = "{HASH}"', 'init_code_hash = "0x12"', "'0x12' is not the hash of a creation code"),
        (f'factory = "{ADDRESS}"', "", "chain 'mars': 'factory' is missing"),
        (f'quoter = "{OTHER}"', "", "chain 'mars': 'quoter' is missing"),
        ("fee_tiers = [500, 3000]", "", "chain 'mars': venue 'three' needs fee tiers"),
        ("id = 2", "id = 2\nfee_tiers = [500]", "chain 'mars': venue 'two' needs fee tiers"),
        ("id = 1", "id = true", "True is not from 1 to 65535"),
        ("fee_tiers = [500, 3000]", "fee_bps = 10000", "10000 is not from 0 to 9999"),
        ("fee_tiers = [500, 3000]", "fee_tiers = [500, 16777216]", "16777216 is not from 1 to 16777215"),
    ],
)
def test_a_bad_venue_is_refused(tmp_path: Path, good: str, bad: str, message: str) -> None:
    assert good in VENUES
    with pytest.raises(ChainsFileError, match=message):
        load(tmp_path, GOOD + VENUES.replace(good, bad, 1))


@pytest.mark.parametrize(
    ("good", "bad", "message"),
    [
        ("chain_id = 4", "", "chain 'mars': 'chain_id' is missing"),
        ("recheck_seconds = 5", "", "chain 'mars': 'recheck_seconds' is missing"),
        ("[chains.mars.finality]", "[chains.mars.finalty]", "chain 'mars': 'finality' is missing"),
        (f'permit2 = "{ADDRESS}"', 'permit2 = "0x12"', "chain 'mars': '0x12' is not an address"),
        (f'permit2 = "{ADDRESS}"', "permit2 = 12", "chain 'mars': 12 is not an address"),
        (f'factory = "{ADDRESS}"', 'factory = ""', "chain 'mars': '' is not an address"),
        ("safe = 10", "safe = -1", "chain 'mars': -1 is neither a block tag nor a number of blocks"),
        ('final = "finalized"', 'final = "pending"', "'pending' is neither"),
        (f'reference_token = "{OTHER.lower()}"', "", "chain 'mars': 'reference_token' is missing"),
        (
            f'reference_token = "{OTHER.lower()}"',
            f'reference_token = "{ADDRESS}"',
            "chain 'mars': the reference token must be a stablecoin, not the wrapped coin",
        ),
        (
            "chain_id = 4",
            f'connectors = ["{ADDRESS}"]\nchain_id = 4',
            "chain 'mars': the connectors must be different tokens, and not the wrapped coin",
        ),
        (
            "chain_id = 4",
            f'connectors = ["{OTHER}", "{OTHER}"]\nchain_id = 4',
            "chain 'mars': the connectors must be different tokens, and not the wrapped coin",
        ),
        ("chain_id = 4", 'chain_id = "four"', "chain 'mars': invalid literal"),
        (
            f'permit2 = "{ADDRESS}"',
            f'permit2 = "0x{ADDRESS[2:].swapcase()}"',
            "chain 'mars': '0x5AaEB6053f3e94c9B9a09F33669435e7eF1bEaED' is not an address",
        ),
    ],
)
def test_a_bad_chain_is_refused_by_name(tmp_path: Path, good: str, bad: str, message: str) -> None:
    assert good in GOOD
    with pytest.raises(ChainsFileError, match=message):
        load(tmp_path, GOOD.replace(good, bad))


@pytest.fixture(params=sorted(load_chains(SHIPPED)))
def shipped(request: Any) -> Chain:
    return load_chains(SHIPPED)[request.param]


def test_every_shipped_chain_has_permit2_and_multicall3_at_their_canonical_addresses(shipped: Chain) -> None:
    assert shipped.permit2 == "0x000000000022D473030F116dDEE9F6B43aC78BA3"
    assert shipped.multicall3 == "0xcA11bde05977b3631167028862bE2a173976CA11"


def test_every_shipped_router_is_of_a_known_kind(shipped: Chain) -> None:
    assert shipped.routers
    for router in shipped.routers:
        assert router.kind in SOURCES
        assert bool(router.fee_tiers) == (router.kind == "uniswap_v3")


def test_every_shipped_venue_is_of_a_known_kind_and_has_its_own_name(shipped: Chain) -> None:
    assert {venue.kind for venue in shipped.venues} <= set(SOURCES)
    assert len({venue.name for venue in shipped.venues}) == len(shipped.venues)


def test_a_shipped_router_and_venue_of_one_name_share_factory_and_quoter(shipped: Chain) -> None:
    venues = {venue.name: venue for venue in shipped.venues}
    for router in [one for one in shipped.routers if one.name in venues]:
        venue = venues[router.name]
        assert (venue.factory, venue.quoter) == (router.factory, router.quoter)


def test_no_two_shipped_chains_share_an_id() -> None:
    chains = load_chains(SHIPPED).values()
    assert len({chain.chain_id for chain in chains}) == len(chains)
