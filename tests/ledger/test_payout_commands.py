"""manage.py record_payout and reverse_payout: payouts from the command line."""

from collections.abc import Callable
from io import StringIO
from typing import Any
from uuid import uuid4

import pytest
from django.core.management import CommandError, call_command

from ledger.models import JournalEntry
from partners.models import Partner
from sweepapi.evm.chain.chains import Chain
from tests.factories.ledger import WETH, book_payable, book_payout, random_hash
from tests.factories.sweeps import LOCAL
from tests.payments import Treasury

pytestmark = pytest.mark.django_db

HASH = random_hash()


def run(*arguments: str) -> str:
    out = StringIO()
    call_command(*arguments, stdout=out)
    return out.getvalue()


def record(partner: str, *options: str, network: str = "base", amount: str = "400", tx_hash: str = HASH) -> str:
    facts = ("--network", network, "--asset", WETH, "--amount", amount, "--tx", tx_hash)
    return run("record_payout", partner, *facts, "--by", "alice", *options)


@pytest.fixture
def answers(monkeypatch: pytest.MonkeyPatch) -> list[str]:
    """What the operator types, in order; an end of input if that is used up."""
    typed: list[str] = []

    def answer(_question: str) -> str:
        if not typed:
            raise EOFError
        return typed.pop(0)

    monkeypatch.setattr("builtins.input", answer)
    return typed


@pytest.fixture
def unchecked(two_chains: tuple[Chain, ...], change_networks: Callable[..., Any]) -> None:
    """The shipped chains, none of which has a provider."""
    assert two_chains
    change_networks(rpc_urls={})


def lines(output: str) -> dict[str, str]:
    """Return the facts that the command shows, by label."""
    return {line[:17].strip(): line[18:] for line in output.splitlines()}


def test_what_was_checked_is_shown_and_recorded(treasury: Treasury, partner: Partner) -> None:
    token = treasury.usdc.address
    book_payable(partner, 1_000, network=LOCAL, asset=token, symbol="USDC", decimals=6)
    tx_hash = treasury.pay(partner.payout_wallet, 400)
    options = ["--network", "local", "--asset", token, "--amount", "400", "--tx", tx_hash, "--note", "October"]
    output = run("record_payout", partner.name, *options, "--by", "alice", "--yes")
    block = treasury.chain.receipt(tx_hash)["blockNumber"]
    assert f"Paid by {treasury.account.address} in block {block}, which is final." in output
    shown = lines(output)
    assert (shown["Partner"], shown["Wallet"], shown["Network"]) == (partner.name, partner.payout_wallet, "local")
    amounts = ("400 (0.0004 USDC)", "1000 (0.001 USDC)", "600 (0.0006 USDC)")
    assert (shown["Amount"], shown["Available before"], shown["Available after"]) == amounts
    entry = JournalEntry.objects.get(kind="payout")
    assert output.endswith(f"Recorded as entry {entry.pk}.\n")
    assert (entry.recorded_by, entry.note, entry.payout.sender) == ("alice", "October", treasury.account.address)


@pytest.mark.usefixtures("unchecked")
@pytest.mark.parametrize("network", ["base", "eip155:8453"])
def test_the_partner_may_be_an_id_and_the_network_a_caip_2_identifier(
    partner: Partner, answers: list[str], network: str
) -> None:
    book_payable(partner, 1_000)
    answers.append(" Y")
    output = record(str(partner.pk), network=network)
    assert "Not checked on chain: the network has no provider." in output
    assert JournalEntry.objects.get(kind="payout").recorded_by == "alice"


@pytest.mark.usefixtures("unchecked")
@pytest.mark.parametrize("typed", [["n"], [""], ["yep"], []])
def test_nothing_is_recorded_unless_the_operator_says_yes(
    partner: Partner, answers: list[str], typed: list[str]
) -> None:
    book_payable(partner, 1_000)
    answers.extend(typed)
    with pytest.raises(CommandError, match="Nothing was recorded"):
        record(partner.name)
    assert not JournalEntry.objects.filter(kind="payout").exists()


@pytest.mark.usefixtures("unchecked")
def test_a_refusal_ends_with_its_sentence_and_its_code(partner: Partner) -> None:
    book_payable(partner, 399)
    with pytest.raises(CommandError, match=r"more than the 399 that are available\. \(above_available\)"):
        record(partner.name, "--yes")


@pytest.mark.parametrize(
    ("facts", "message"),
    [
        ({"partner": "Nemo"}, "No partner with the name or id Nemo"),
        ({"partner": str(uuid4())}, "No partner with the name or id"),
        ({"network": "mars"}, "No network is named mars"),
        ({"amount": "1.5"}, "--amount: must be a whole number"),
        ({"amount": "-1"}, "--amount"),
        ({"amount": "1_000"}, "--amount: must be a whole number"),
        ({"amount": "٣"}, "--amount: must be a whole number"),
    ],
)
def test_bad_arguments_are_refused(partner: Partner, facts: dict[str, str], message: str) -> None:
    with pytest.raises(CommandError, match=message):
        record(**({"partner": partner.name} | facts))


@pytest.mark.usefixtures("unchecked")
@pytest.mark.parametrize("person", ["", "  ", "x" * 151])
def test_both_commands_require_the_name_of_a_person(partner: Partner, person: str) -> None:
    book_payable(partner, 1_000)
    paid = book_payout(partner, 100)
    with pytest.raises(CommandError, match="--by: must be the name of a person, of 1 to 150 characters"):
        record(partner.name, "--yes", "--by", person)
    for by in (["--by", person], []):
        with pytest.raises(CommandError, match="--by"):
            run("reverse_payout", str(paid.pk), "--reason", "why", *by)
    assert JournalEntry.objects.count() == 2


@pytest.mark.usefixtures("unchecked")
def test_the_name_is_stored_without_the_spaces_around_it(partner: Partner) -> None:
    book_payable(partner, 1_000)
    record(partner.name, "--yes", "--by", f" {'x' * 150} ")
    assert JournalEntry.objects.get(kind="payout").recorded_by == "x" * 150


def test_a_payout_is_reversed_for_a_reason(partner: Partner) -> None:
    book_payable(partner, 400)
    paid = book_payout(partner, 400)
    output = run("reverse_payout", str(paid.pk), "--reason", "The wrong hash.", "--by", "bob")
    reversal = JournalEntry.objects.get(reverses=paid)
    assert output == f"Reversed by entry {reversal.pk}.\n"
    assert (reversal.recorded_by, reversal.note) == ("bob", "The wrong hash.")
    with pytest.raises(CommandError, match=r"reversed already\. \(not_reversible\)"):
        run("reverse_payout", str(paid.pk), "--reason", "again", "--by", "bob")


def test_an_unknown_entry_is_not_reversed() -> None:
    with pytest.raises(CommandError, match="No entry"):
        run("reverse_payout", str(uuid4()), "--reason", "why", "--by", "bob")
