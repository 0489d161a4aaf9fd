"""Saved statements and proofs are checked without the service: what differs from what was signed is refused."""

import copy
import json
from collections.abc import Sequence
from datetime import UTC, timedelta
from pathlib import Path
from typing import Any
from uuid import uuid4

import pytest
from django.test import Client
from django.utils import timezone

from indexer import blocks
from lab.bench.sweeps.numbers import number_by_time
from ledger.models import Settlement, StatementEra
from ledger.proofs import checkpoints, signing
from ledger.statements.month import Month
from partners.models import Partner
from sweepapi.crypto.proof_keys import SigningKey
from tests.examples.loading import load_example, run_main, run_process
from tests.factories.ledger import random_hash
from tests.factories.past import fee_at, reversal_at
from tests.factories.sweeps import LOCAL
from tests.local_chain import FINAL_AFTER
from tests.partner_app import PartnerApp

pytestmark = pytest.mark.django_db

EXAMPLES = Path(__file__).parents[2] / "ledger" / "examples"
Files = dict[str, Any]


verifier = load_example("verify_statement")


def get(api: Client, path: str) -> Any:
    response = api.get(path)
    assert response.status_code == 200, response.content
    return response.json()["data"]


def end(month: Month, monkeypatch: pytest.MonkeyPatch) -> None:
    """Have a month end, and be signed."""
    monkeypatch.setattr(checkpoints, "database_time", lambda: month.end + timedelta(minutes=6))
    signing.sign_months()


@pytest.fixture
def files(app: PartnerApp, partner: Partner, monkeypatch: pytest.MonkeyPatch) -> Files:
    """What a partner saves: a month with two sweeps, the month before, and proofs."""
    now = Month.of(timezone.now())
    fee_at(now.start - timedelta(days=3), partner, 7, network=LOCAL)
    for _ in range(2):
        built = app.build()
        app.confirm(built, app.execute(built))
        app.chain.mine(FINAL_AFTER)
    blocks.check_due()
    number_by_time()
    end(now, monkeypatch)
    path = f"/v2/statements/{now}"
    first = get(app.api, f"{path}?limit=1")
    return {
        "page-1": first,
        "page-2": get(app.api, f"{path}?limit=1&cursor={first['nextCursor']}"),
        "proof": get(app.api, f"{path}/proof?entry=1&from={now.shifted(-1)}"),
        "former": get(app.api, f"/v2/statements/{now.shifted(-1)}"),
        "jwks": app.api.get("/.well-known/jwks.json").json(),
        "venue": built["transaction"]["to"],
    }


def run(folder: Path, files: Files, *more: str, pages: Sequence[str] = ("page-1", "page-2")) -> tuple[int, str]:
    """Check the pages in this process."""
    return run_main(folder, verifier, saved(folder, files, *more, pages=pages))


def saved(folder: Path, files: Files, *more: str, pages: Sequence[str] = ("page-1", "page-2")) -> list[str]:
    """Save what the script reads, and return its arguments. A file may be text, to be saved as it is."""
    for name, content in files.items():
        (folder / f"{name}.json").write_text(content if isinstance(content, str) else json.dumps(content))
    return [*(f"{page}.json" for page in pages), "--keys", "jwks.json", *more]


@pytest.mark.parametrize(
    ("each_mode", "option"),
    [("v5_partner_fees", "--contract"), ("v4_fallback", "--contract-v4")],
    indirect=["each_mode"],
)
@pytest.mark.usefixtures("each_mode")
def test_a_statement_and_its_proofs_are_verified_without_the_service(
    app: PartnerApp, files: Files, tmp_path: Path, option: str
) -> None:
    chain = ["--rpc", f"{LOCAL}={app.chain.world['rpcUrl']}", option, f"{LOCAL}={files['venue']}"]
    arguments = saved(tmp_path, files, "--former", "former.json", "--proof", "proof.json", *chain)
    code, said = run_process(tmp_path, "verify_statement", arguments)
    assert code == 0, said
    assert "covers these 2 entries and others before; the totals hold." in said
    assert "Without --former" not in said
    assert f"It continues the checkpoint of {files['former']['month']}." in said
    assert f"Entry {files['page-1']['records'][0]['id']} is in the tree." in said
    assert "The tree continues that of 1 entries" in said
    assert f"{LOCAL} shows 2 of these entries, to the unit." in said
    shown, records = json.loads(said), [*files["page-1"]["records"], *files["page-2"]["records"]]
    assert shown["chainShows"] == {LOCAL: [record["id"] for record in records]}
    assert shown["signed"] == {
        **{name: files["page-1"][name] for name in ("month", "tree", "totals")},
        "records": records,
        "entriesOfProofs": records[:1],
    }


def forgeries(answer: Any) -> dict[str, str]:
    """Return files that have more than what was signed, by what is wrong with them."""
    whole, forged = json.dumps(answer), json.dumps(answer | {"totals": [], "records": []})
    month = json.dumps(answer["month"])
    return {
        "a name twice": whole.replace('"month"', '"month": "2020-01", "month"', 1),
        "a name twice, once escaped": whole.replace('"month"', '"\\u006donth": "2020-01", "month"', 1),
        "a name twice within": whole.replace('"size"', '"size": 7, "size"', 1),
        "a forged answer beside data": f'{{"ok": true, "totals": [], "data": {whole}}}',
        "two data": f'{{"ok": true, "data": {forged}, "data": {whole}}}',
        "the same beside it": whole[:-1] + f', "summary": {forged}}}',
        "a failure": f'{{"ok": false, "data": {whole}}}',
        "a fraction": whole[:-1] + ', "earned": 1e999}',
        "one behind the other": f"{whole} {month}",
    }


def test_a_file_that_has_anything_beside_what_was_signed_is_refused(files: Files, tmp_path: Path) -> None:
    more = ["--former", "former.json", "--proof", "proof.json"]
    for name in ("page-1", "page-2", "proof", "former"):
        for kind, text in forgeries(files[name]).items():
            code, said = run(tmp_path, files | {name: text}, *more)
            assert (code, said.startswith("NOT VERIFIED: "), said.count("\n")) == (1, True, 1), (name, kind, said)
    twice = json.dumps(files["jwks"]).replace('"keys"', '"keys": [], "keys"', 1)
    assert run(tmp_path, files | {"jwks": twice}, *more)[0] == 1
    enveloped = {name: {"ok": True, "data": files[name]} for name in ("page-1", "page-2", "proof", "former")}
    code, said = run(tmp_path, files | enveloped, *more)
    assert code == 0, said


def test_a_total_has_one_spelling_and_nothing_beside_it(files: Files, tmp_path: Path) -> None:
    total = files["page-1"]["totals"][0]
    for name, value in (("debit", total["debit"] + " "), ("credit", "0" + total["credit"]), ("bonus", "1")):
        code, said = run(tmp_path, changed(files, "pages", "totals", 0, name, value=value))
        assert (code, said.startswith("NOT VERIFIED: DifferenceError")) == (1, True), said


def rooted(files: Files, records: Sequence[Any]) -> Files:
    """Return the files with another month, as a service that lies signs it: with the root and the totals of these."""
    before = files["page-1"]["before"]
    tree = verifier.Tree(before["size"], [bytes.fromhex(one) for one in before["hashes"]])
    sums: dict[tuple[str, ...], dict[str, Any]] = {}
    for record in records:
        tree.append(verifier.leaf_hash(record))
        for one in record["postings"]:
            key = (record["network"], record["token"], one["account"])
            names = dict(zip(("network", "token", "account"), key, strict=True))
            total = sums.setdefault(key, {**names, "debit": "0", "credit": "0"})
            total[one["direction"]] = str(int(total[one["direction"]]) + int(one["amount"]))
    page: Any = files["page-1"] | {"records": list(records), "totals": list(sums.values()), "nextCursor": None}
    page["tree"] = {"size": tree.size, "root": tree.root.hex()}
    page["checkpoint"] = signed_note(origin_of(page), tree.root, page["month"], size=tree.size)
    return files | {"page-1": page}


def origin_of(page: Any) -> str:
    origin: str = page["checkpoint"].partition("\n")[0]
    return origin


def posting(account: str, direction: str, amount: int) -> dict[str, str]:
    return {"id": str(uuid4()), "account": account, "direction": direction, "amount": str(amount)}


def test_what_a_lying_service_signs_is_refused_where_the_chain_shows_otherwise(
    app: PartnerApp, files: Files, tmp_path: Path
) -> None:
    chain = ["--rpc", f"{LOCAL}={app.chain.world['rpcUrl']}", "--contract", f"{LOCAL}={files['venue']}"]
    one, two = (copy.deepcopy(files[page]["records"][0]) for page in ("page-1", "page-2"))
    code, said = run(tmp_path, rooted(files, [one, two]), *chain, pages=["page-1"])
    assert (code, f"{LOCAL} shows 2 of these entries" in said, "Without --former" in said) == (0, True, True), said
    more = [posting("fees_charged", "debit", 1000), posting("partner_settled", "credit", 1000)]
    turned = [
        {**each, "direction": {"debit": "credit", "credit": "debit"}[each["direction"]]} for each in one["postings"]
    ]
    own = {each["account"]: int(each["amount"]) for each in one["postings"]}
    taken = [posting("fees_charged", "debit", own["fees_charged"])]
    again, next_ones = one | {"id": str(uuid4()), "number": 3}, {"id": str(uuid4()), "number": 3, "kind": "reversal"}
    invented = two | {"txHash": "0x" + "11" * 32}
    undone = [invented, invented | next_ones | {"reverses": two["id"], "postings": more}]
    for problem, records in {
        "is not what": [one | {"postings": [*more, *one["postings"]]}, two],
        f"entry {one['id']} is not what": [one | {"postings": turned}, two],
        f"entry {again['id']} is not what": [one, two, again],
        f"entry {again['id']} is not what ": [one, two, again | {"txHash": one["txHash"].upper().replace("X", "x")}],
        f"what entry {one['id']} moves": [
            one | {"postings": [*taken, posting("partner_paid", "credit", own["fees_charged"])]},
            two,
        ],
        "what an entry reverses": [one, *undone],
        "the number of ids": [one, two, again | {"id": one["id"]}],
    }.items():
        code, said = run(tmp_path, rooted(files, records), *chain, pages=["page-1"])
        assert (code, problem.strip() in said) == (1, True), (problem, said)


def test_files_and_nodes_that_are_not_what_they_should_be_are_named_in_one_line(files: Files, tmp_path: Path) -> None:
    contract = ["--contract", f"{LOCAL}={files['venue']}"]
    malformed: list[Any] = [[], "text", {"checkpoint": 5}, {}]
    for page in malformed:
        code, said = run(tmp_path, files | {"page-1": page})
        assert (code, said.startswith("NOT VERIFIED: "), said.count("\n")) == (1, True, 1), said
    for url in ("http://127.0.0.1:1", "http://127.0.0.1:1 /", "text"):
        code, said = run(tmp_path, files, *contract, "--rpc", f"{LOCAL}={url}")
        assert (code, said.startswith("NOT VERIFIED: "), said.count("\n")) == (1, True, 1), said


def test_a_total_that_is_named_twice_is_refused(files: Files, tmp_path: Path) -> None:
    totals = files["page-1"]["totals"]
    twice = changed(files, "pages", "totals", value=[totals[0] | {"debit": "1"}, *totals])
    code, said = run(tmp_path, twice)
    assert (code, "the number of totals" in said) == (1, True), said


def test_the_examples_in_the_documentation_hold() -> None:
    statement, proof = (
        json.loads((EXAMPLES / f"{name}.json").read_text(encoding="utf-8")) for name in ("statement", "statement_proof")
    )
    (record,) = verifier.check_records([statement])
    verifier.check_totals([record], statement["totals"])
    assert len(verifier.check_proof(proof, statement)) == 2


def changed(files: Files, *path: Any, value: Any) -> Files:
    """Return a copy with another value at a path; that of ``pages`` is in each page."""
    copied = copy.deepcopy(files)
    for file in ("page-1", "page-2") if path[0] == "pages" else path[:1]:
        inner = copied[file]
        for name in path[1:-1]:
            inner = inner[name]
        inner[path[-1]] = value
    return copied


def forged(files: Files, find: str, replace: str, *, name: str = "page-1") -> Files:
    return changed(files, name, "checkpoint", value=files[name]["checkpoint"].replace(find, replace, 1))


@pytest.mark.parametrize(
    ("path", "value", "problem"),
    [
        (("page-1", "records", 0, "postings", 0, "amount"), "1", "the sum of an entry's postings"),
        (("page-1", "records", 0, "wallet"), "0x" + "11" * 20, "the root at the end"),
        (("page-1", "records", 0, "sweepId"), None, "the root at the end"),
        (("page-1", "records", 0, "number"), 2, "the number of an entry"),
        (("page-1", "records", 0, "numberedAt"), "2026-01-01T00:00:00.000000Z", "the month of an entry"),
        (("page-1", "records"), [], "the number of an entry"),
        (("page-2", "records"), [], "the size at the end"),
        (("page-2", "nextCursor"), "more", "the end of the last page"),
        (("page-2", "tree", "size"), 9, "tree of all pages"),
        (("page-2", "before", "hashes"), [], "before of all pages"),
        (("pages", "before", "hashes"), [], "the number of hashes before the month"),
        (("pages", "before", "root"), "00" * 32, "the root before the month"),
        (("pages", "before", "size"), 2, "the number of an entry"),
        (("pages", "totals", 0, "debit"), "5", "the totals"),
        (("page-1", "tree", "size"), 9, "the size"),
        (("page-1", "tree", "root"), "00" * 32, "the root"),
        (("page-1", "month"), "2026-01", "the month"),
        (("former", "tree", "root"), "00" * 32, "the root"),
        (("proof", "inclusion", "record", "txHash"), "0x" + "11" * 32, "the root by the proof of inclusion"),
        (("proof", "inclusion", "index"), 2, "the entry's number"),
        (("proof", "inclusion", "hashes"), [], "the root by the proof of inclusion"),
        (("proof", "inclusion", "hashes"), ["00" * 32] * 9, "the proof has too many hashes"),
        (("proof", "consistency", "root"), "00" * 32, "the roots by the proof of consistency"),
        (("proof", "consistency", "size"), 2, "the proof has too many hashes"),
        (("proof", "consistency", "hashes"), ["00" * 32] * 9, "the proof has too many hashes"),
        (("proof", "tree", "size"), 2, "tree of the proof"),
        (("jwks", "keys"), [], "the checkpoint is signed by none of the keys"),
    ],
    ids=str,
)
def test_each_change_of_a_file_is_found(
    files: Files, tmp_path: Path, path: tuple[Any, ...], value: Any, problem: str
) -> None:
    code, said = run(tmp_path, changed(files, *path, value=value), "--former", "former.json", "--proof", "proof.json")
    assert (code, said.startswith(f"NOT VERIFIED: DifferenceError: {problem}")) == (1, True), said


def test_each_change_of_the_checkpoint_is_found(files: Files, tmp_path: Path) -> None:
    for altered in (
        forged(files, "\n3\n", "\n4\n"),
        forged(files, "month 2", "month 3"),
        forged(files, "sweepapi/", "sweepapj/"),
        forged(files, "\N{EM DASH}", "-"),
        forged(files, "\n\n", "\n"),
        changed(files, "page-1", "checkpoint", value=""),
    ):
        code, said = run(tmp_path, altered)
        assert (code, said.startswith("NOT VERIFIED: ")) == (1, True), said


def test_of_two_trees_that_were_signed_the_one_that_does_not_continue_is_found(
    files: Files, partner: Partner, tmp_path: Path
) -> None:
    """A service that rewrote the month before can sign both, but not make one continue the other."""
    former = files["former"]
    origin = origin_of(former)
    assert origin == f"sweepapi/{partner.id}/test/0"
    root = verifier.leaf_hash({"another": "entry"})
    signed = signed_note(origin, root, former["month"])
    rewritten = former | {"checkpoint": signed, "tree": {"size": 1, "root": root.hex()}}
    code, said = run(tmp_path, files | {"former": rewritten}, "--former", "former.json")
    assert (code, "is not the one that is continued: another statement lies between" in said) == (1, True), said
    restored = rewritten | {"checkpoint": signed_note(origin + "1", root, former["month"])}
    code, said = run(tmp_path, files | {"former": restored}, "--former", "former.json")
    assert (code, "is not the one that is continued: era 0 began" in said) == (1, True), said
    others = rewritten | {"checkpoint": signed_note("sweepapi/another/test/0", root, former["month"])}
    code, said = run(tmp_path, files | {"former": others}, "--former", "former.json")
    assert (code, "the tree's owner in the former statement" in said) == (1, True), said


def signed_note(origin: str, root: bytes, month: str, *, size: int = 1) -> str:
    """Sign a checkpoint, written down here once more."""
    key = SigningKey.from_settings()
    base64, sha256 = verifier.base64.b64encode, verifier.sha256
    text = f"{origin}\n{size}\n{base64(root).decode()}\nmonth {month}\n"
    key_id = sha256(origin.encode() + b"\n\x01" + key.public.raw).digest()[:4]
    return f"{text}\n\N{EM DASH} {origin} {base64(key_id + key.sign(text.encode())).decode()}\n"


# --- the chain --------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("each_mode", "event", "facts"),
    [
        ("v5_partner_fees", verifier.V5_EVENT, ["fees_charged", "partner_settled", "wallet", "token"]),
        ("v4_fallback", verifier.V4_EVENT, ["fees_charged", "sweepId", "wallet", "token"]),
    ],
    indirect=["each_mode"],
)
@pytest.mark.usefixtures("each_mode")
def test_a_fee_of_which_the_chain_shows_something_else_is_a_difference(
    app: PartnerApp, files: Files, event: str, facts: list[str]
) -> None:
    records, node, contracts = files["page-1"]["records"], app.chain.world["rpcUrl"], {event: files["venue"]}
    assert verifier.check_chain(records, LOCAL, node, contracts) == ([records[0]["id"]], [])
    for name in facts:
        lie = copy.deepcopy(records)
        postings = {one["account"]: one for one in lie[0]["postings"]}
        if name in postings:
            postings[name]["amount"] = str(int(postings[name]["amount"]) + 1)
        else:
            lie[0][name] = {"sweepId": lie[0]["id"]}.get(name, app.chain.users[1].address)
        with pytest.raises(verifier.DifferenceError, match="is not what"):
            verifier.check_chain(lie, LOCAL, node, contracts)
    with pytest.raises(verifier.DifferenceError, match="is not what"):
        verifier.check_chain(records, LOCAL, node, {event: app.user.address})
    with pytest.raises(verifier.DifferenceError, match="the node's chain"):
        verifier.check_chain(records, "eip155:1", node, contracts)


def test_a_fee_whose_transaction_is_unknown_or_failed_is_not_on_the_chain(app: PartnerApp, files: Files) -> None:
    records, contracts = files["page-1"]["records"], {verifier.V5_EVENT: files["venue"]}
    failed = app.chain.send(app.user, {"to": files["venue"], "data": "0x12345678"}, gas=100_000)
    assert app.chain.receipt(failed)["status"] == 0
    for tx_hash in (random_hash(), failed):
        gone = [records[0] | {"txHash": tx_hash}]
        named = [f"entry {records[0]['id']}, the fee of transaction {tx_hash}"]
        assert verifier.check_chain(gone, LOCAL, app.chain.world["rpcUrl"], contracts) == ([], named)


def test_a_fee_that_is_not_on_the_chain_is_named_unless_the_same_statement_reverses_it(
    app: PartnerApp, files: Files, partner: Partner, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    """Its reversal may be in a later month, as it is here, for a block that left the chain after the first one."""
    month = Month.parse(files["page-1"]["month"]).shifted(1)
    later = month.shifted(1)
    facts = {"settlement": Settlement.ON_CHAIN, "network": LOCAL}
    reversed_at_once, reversed_later = (fee_at(month.start, partner, 7, **facts) for _ in range(2))
    reversal_at(month.start, reversed_at_once)
    reversal_at(later.start, reversed_later)
    end(later, monkeypatch)
    chain = ["--rpc", f"{LOCAL}={app.chain.world['rpcUrl']}", "--contract", f"{LOCAL}={files['venue']}"]

    page = get(app.api, f"/v2/statements/{month}")
    code, said = run(tmp_path, files | {"page-1": page}, *chain, pages=["page-1"])
    named = f"entry {reversed_later.pk}, the fee of transaction {reversed_later.tx_hash}"
    assert (code, json.loads(said)["notOnChain"]) == (3, [named]), said
    assert f"{LOCAL} shows 0 of these entries" in said

    page = get(app.api, f"/v2/statements/{later}")
    code, said = run(tmp_path, files | {"page-1": page}, *chain, pages=["page-1"])
    assert (code, [one["reverses"] for one in page["records"]]) == (0, [str(reversed_later.pk)]), said


def test_a_network_without_a_contract_is_refused(app: PartnerApp, files: Files, tmp_path: Path) -> None:
    code, said = run(tmp_path, files, "--rpc", f"{LOCAL}={app.chain.world['rpcUrl']}")
    assert (code, f"no contract of {LOCAL} is named" in said) == (1, True), said


# --- eras -------------------------------------------------------------------------------------------------------------


def test_the_origin_names_the_era_that_began_last(
    app: PartnerApp, files: Files, partner: Partner, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    """What was signed before stays as it was, and is still continued."""
    era = StatementEra.objects.create(reason="a backup was restored")
    era.refresh_from_db()
    month = Month.parse(files["page-1"]["month"]).shifted(1)
    end(month, monkeypatch)
    later = get(app.api, f"/v2/statements/{month}")
    assert later["checkpoint"].startswith(f"sweepapi/{partner.id}/test/{era.name}\n")
    assert era.name == f"{era.begun_at.astimezone(UTC):%Y%m%dT%H%M%S%fZ}"
    assert get(app.api, f"/v2/statements/{files['former']['month']}") == files["former"]
    continued = files | {"page-1": later, "page-2": later, "former": files["page-1"]}
    code, said = run(tmp_path, continued, "--former", "former.json")
    assert (code, f"It continues the checkpoint of {files['page-1']['month']}." in said) == (0, True), said
