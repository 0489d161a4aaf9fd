"""A saved receipt is checked against a node alone: what the chain does not show is refused, although it is signed."""

import copy
import json
from collections.abc import Iterator
from datetime import timedelta
from pathlib import Path
from typing import Any

import pytest
from django.test import Client
from django.utils import timezone

from indexer import blocks, checks
from lab.bench.sweeps.numbers import number_by_time
from sweepapi.crypto.canonical_json import canonical
from sweepapi.crypto.proof_keys import SigningKey
from sweeps.models import Sweep, WatchedBlock
from tests.examples.loading import load_example, run_main, run_process
from tests.local_chain import FINAL_AFTER
from tests.partner_app import PartnerApp
from tests.solana_user import DOLLAR, SolanaUser

pytestmark = pytest.mark.django_db

# What only the service says, and what describes the receipt: a service that lies about these is believed.
BELIEVED = {
    *("sweepId", "partnerId", "mode", "outputSymbol", "outputDecimals", "createdAt", "confirmedAt"),
    *("recomputation", "attested"),
}
BELIEVED_OF_ENTRIES = {"number", "numberedAt", "id", "kind", "wallet", "txHash", "postedAt", "reverses", "account"}


verifier = load_example("verify_receipt")


@pytest.fixture
def keys(anonymous: Client) -> list[dict[str, str]]:
    found: list[dict[str, str]] = anonymous.get("/.well-known/jwks.json").json()["keys"]
    return found


@pytest.fixture
def answer(app: PartnerApp) -> dict[str, Any]:
    """The receipt of a sweep, as it is downloaded."""
    built = app.build()
    app.confirm(built, app.execute(built))
    app.chain.mine(FINAL_AFTER)
    WatchedBlock.objects.update(due_at=timezone.now() - timedelta(minutes=1))
    blocks.check_due()
    number_by_time()
    response = app.api.get(f"/v2/sweep/status/{built['sweepId']}/receipt")
    assert response.status_code == 200, response.content
    found: dict[str, Any] = response.json()
    return found


def run(folder: Path, answer: Any, keys: Any, *more: str) -> tuple[int, str]:
    """Check the receipt in this process."""
    return run_main(folder, verifier, saved(folder, answer, keys, *more))


def saved(folder: Path, answer: Any, keys: Any, *more: str) -> list[str]:
    """Save what the script reads, and return its arguments. An answer may be text, to be saved as it is."""
    receipt, jwks = folder / "receipt.json", folder / "jwks.json"
    receipt.write_text(answer if isinstance(answer, str) else json.dumps(answer))
    jwks.write_text(json.dumps({"keys": keys}))
    return [str(receipt), "--keys", str(jwks), *more]


@pytest.mark.usefixtures("each_mode")
def test_a_receipt_is_verified_without_the_service(
    app: PartnerApp, answer: dict[str, Any], keys: list[dict[str, str]], tmp_path: Path
) -> None:
    venue = answer["data"]["receipt"]["operations"][0]["address"]
    node = ["--rpc", app.chain.world["rpcUrl"]]
    code, said = run_process(tmp_path, "verify_receipt", saved(tmp_path, answer, keys, *node, "--contract", venue))
    assert code == 0, said
    proof, receipt = json.loads(said), answer["data"]["receipt"]
    shown = {name: value for name, value in receipt.items() if value != []}
    assert merged(proof["chainShows"], proof["serviceSays"]) == shown, "each value is in one of the two"
    assert proof["chainShows"]["amounts"]["userAmount"] == receipt["amounts"]["userAmount"]
    assert proof["serviceSays"]["sweepId"] == receipt["sweepId"]
    assert set(proof["serviceSays"]) >= {"entries", "recomputation", "verifiable", "attested"}
    assert proof["notes"] == []
    code, said = run(tmp_path, answer, keys, *node, "--contract", app.user.address)
    assert (code, "NOT VERIFIED: DifferenceError: the contract" in said) == (1, True)


def merged(one: Any, other: Any) -> Any:
    """Put together what was taken apart; fails if both have a value."""
    if {} in (one, other):
        return one or other
    if isinstance(one, dict):
        return {name: merged(one.get(name, {}), other.get(name, {})) for name in one | other}
    assert isinstance(one, list), "both have a value"
    return [merged(*pair) for pair in zip(one, other, strict=True)]


def forgeries(data: dict[str, Any]) -> dict[str, str]:
    """Return files that show other amounts than those that were signed, by what is wrong with them."""
    forged = json.dumps(data["receipt"] | {"amounts": {"userAmount": "1"}})
    receipt, jws, whole = (json.dumps(one) for one in (data["receipt"], data["jws"], data))
    nested = receipt.replace('"amounts": {', '"amounts": {"userAmount": "1", ', 1)
    last = receipt.replace('"totalFeeBps"', '"totalFeeBps": 1, "totalFeeBps"', 1)
    return {
        "two receipts, the forged one first": f'{{"receipt": {forged}, "receipt": {receipt}, "jws": {jws}}}',
        "two receipts, the forged one last": f'{{"receipt": {receipt}, "receipt": {forged}, "jws": {jws}}}',
        "two receipts, one of them escaped": f'{{"\\u0072eceipt": {forged}, "receipt": {receipt}, "jws": {jws}}}',
        "two data": f'{{"ok": true, "data": {{"receipt": {forged}, "jws": {jws}}}, "data": {whole}}}',
        "a forged receipt beside data": f'{{"ok": true, "receipt": {forged}, "data": {whole}}}',
        "data and signature beside data": f'{{"receipt": {forged}, "jws": {jws}, "data": {whole}}}',
        "amounts beside data": f'{{"ok": true, "amounts": {{"userAmount": "1"}}, "data": {whole}}}',
        "data in capitals beside data": f'{{"ok": true, "Data": {forged}, "data": {whole}}}',
        "amounts beside receipt": f'{{"receipt": {receipt}, "jws": {jws}, "amounts": {{"userAmount": "1"}}}}',
        "the same within data": f'{{"ok": true, "data": {{"receipt": {receipt}, "jws": {jws}, "summary": {forged}}}}}',
        "a number that is not one": f'{{"receipt": {receipt}, "jws": {jws}, "userAmount": NaN}}',
        "an amount twice": f'{{"receipt": {nested}, "jws": {jws}}}',
        "a term twice": f'{{"receipt": {last}, "jws": {jws}}}',
        "a failure": f'{{"ok": false, "data": {whole}}}',
        "a number in place of true": f'{{"ok": 1, "data": {whole}}}',
        "data in data": f'{{"ok": true, "data": {{"ok": true, "data": {whole}}}}}',
        "a list of both": f"[{whole}, {forged}]",
        "one behind the other": f"{whole} {forged}",
    }


def test_a_file_that_shows_anything_beside_what_was_signed_is_refused(
    app: PartnerApp, answer: dict[str, Any], keys: list[dict[str, str]], tmp_path: Path
) -> None:
    node = ["--rpc", app.chain.world["rpcUrl"]]
    for kind, text in forgeries(answer["data"]).items():
        code, said = run(tmp_path, text, keys, *node)
        assert (code, said.startswith("NOT VERIFIED: "), said.count("\n")) == (1, True, 1), (kind, said)
    code, said = run(tmp_path, answer["data"], keys, *node)
    assert code == 0, "data alone is as good as the answer"


def test_what_a_lying_service_adds_to_what_the_chain_shows_is_not_shown_as_proven(
    app: PartnerApp, answer: dict[str, Any], keys: list[dict[str, str]]
) -> None:
    """It signs a receipt with more in it than the script knows."""
    receipt, node = answer["data"]["receipt"], verifier.Node(app.chain.world["rpcUrl"])
    amounts = {**receipt["amounts"], "bonus": "0"}
    operation = receipt["operations"][0]
    signed = receipt["authorizations"][0]
    message = {**signed["typedData"]["message"], "bonus": "1"}
    for lie in (
        lied(receipt, amounts=amounts, operations=[{**operation, "amounts": {**operation["amounts"], "bonus": "0"}}]),
        lied(receipt, fee={**receipt["fee"], "bonus": "1"}),
        lied(receipt, authorizations=[{**signed, "bonus": "1"}]),
        lied(receipt, authorizations=[{**signed, "typedData": {**signed["typedData"], "message": message}}]),
        lied(receipt, **{"amounts.userAmount": "1"}),
        lied(receipt, amounts={**receipt["amounts"], "userAmount": receipt["amounts"]["userAmount"] + " "}),
        lied(receipt, amounts={**receipt["amounts"], "userAmount": "0" + receipt["amounts"]["userAmount"]}),
        lied(receipt, version=True),
        lied(receipt, verifiable=[*receipt["verifiable"], "bonus"]),
    ):
        with pytest.raises(verifier.DifferenceError):
            verifier.verify(lie, keys, node)
    proof = verifier.verify(lied(receipt, bonus="1", verifiable=[]), keys, node)
    assert proof["serviceSays"]["bonus"] == "1"
    assert proof["chainShows"] == verifier.verify(answer["data"], keys, node)["chainShows"]


@pytest.mark.usefixtures("each_mode")
def test_a_receipt_is_verified_whose_fee_was_reversed_and_booked_again(
    app: PartnerApp, keys: list[dict[str, str]], tmp_path: Path
) -> None:
    built = app.build()
    app.approve(built)
    before = app.chain.rpc("evm_snapshot")
    app.confirm(built, app.chain.sign_and_send(app.user, built))
    number_by_time()
    app.chain.roll_back(before)
    app.chain.mine(2, seconds=7)
    look()
    assert Sweep.objects.get().status == "pending"
    app.chain.sign_and_send(app.user, built)
    look()
    app.chain.mine(FINAL_AFTER)
    look()
    number_by_time()
    answer = app.api.get(f"/v2/sweep/status/{built['sweepId']}/receipt").json()
    kinds = [entry["kind"] for entry in answer["data"]["receipt"]["entries"]]
    assert kinds == ["sweep_fee", "reversal", "sweep_fee"]
    code, said = run(tmp_path, answer, keys, "--rpc", app.chain.world["rpcUrl"])
    assert code == 0, said


def paths(value: Any, path: tuple[Any, ...] = ()) -> Iterator[tuple[Any, ...]]:
    """Yield the path of each plain value."""
    if isinstance(value, dict):
        for name, inner in value.items():
            yield from paths(inner, (*path, name))
    elif isinstance(value, list):
        for index, inner in enumerate(value):
            yield from paths(inner, (*path, index))
    else:
        yield path


def changed(value: Any, path: tuple[Any, ...]) -> Any:
    """Return a copy in which the value at this path is another one of its kind."""
    copied = copy.deepcopy(value)
    inner = copied
    for name in path[:-1]:
        inner = inner[name]
    old = inner[path[-1]]
    inner[path[-1]] = other(old)
    return copied


def signed_by_us(receipt: Any) -> dict[str, Any]:
    return {"receipt": receipt, "jws": SigningKey.from_settings().jws(canonical(receipt), kind="sweep.receipt")}


def other(old: Any) -> Any:
    if isinstance(old, int):
        return old + 1
    if isinstance(old, str) and old.isdecimal():
        return str(int(old) + 1)
    if isinstance(old, str):
        return old[:-1] + ("0" if old[-1:] != "0" else "1")
    return "something"


@pytest.mark.usefixtures("each_mode")
def test_a_change_anywhere_breaks_the_signature(answer: dict[str, Any], keys: list[dict[str, str]]) -> None:
    data = answer["data"]
    verifier.check_signature(data, keys)
    for path in paths(data):
        with pytest.raises(verifier.DifferenceError):
            verifier.check_signature(changed(data, path), keys)
    forged = {**data, "jws": SigningKey.from_settings().jws(canonical(data["receipt"]), kind="other")}
    with pytest.raises(verifier.DifferenceError, match="kind"):
        verifier.check_signature(forged, keys)


@pytest.mark.usefixtures("each_mode")
def test_what_a_lying_service_signs_is_refused_where_the_chain_shows_otherwise(
    app: PartnerApp, answer: dict[str, Any], keys: list[dict[str, str]]
) -> None:
    receipt, node = answer["data"]["receipt"], verifier.Node(app.chain.world["rpcUrl"])
    believed = []
    for path in paths(receipt):
        lie = changed(receipt, path)
        try:
            verifier.verify(signed_by_us(lie), keys, node)
        except (verifier.DifferenceError, ValueError, KeyError, TypeError):
            continue
        believed.append(path)
    is_on_chain = receipt["mode"] == "v5_partner_fees"
    assert {path for path in believed if not is_believed(path, is_on_chain=is_on_chain)} == set()


TAMPERED: list[tuple[tuple[Any, ...], str]] = [
    (("wallet",), "the wallet"),
    (("outputMint",), "an entry's sweep, network and token"),
    (("operations", 0, "transaction", "txHash"), "the node has no answer to eth_getTransactionReceipt 0x"),
    (("operations", 0, "transaction", "blockNumber"), "the block"),
    (("verifiable", 0), "what else is called verifiable"),
    (("fee", "feeMode"), "what is booked as"),
    (("operations", 0, "transaction", "blockHash"), "the block"),
    (("operations", 0, "transaction", "logPosition"), "the contract emitted no such event at that position"),
    (("operations", 0, "event", "fields", "userAmount"), "the event's userAmount"),
    (("operations", 0, "amounts", "partnerFee"), "the sum of partnerFee"),
    (("amounts", "userAmount"), "the sum of userAmount"),
    (("fee", "totalFeeBps"), "totalFee by its basis points"),
    (("authorizations", 0, "digest"), "the digest"),
    (("authorizations", 0, "signer"), "the signer of the authorization"),
    (("authorizations", 0, "typedData", "message", "deadline"), "the digest"),
    (("entries", 0, "postings", 0, "amount"), "what is booked as"),
]


def lied(receipt: Any, **changes: Any) -> dict[str, Any]:
    return signed_by_us({**receipt, **changes})


def test_what_a_lying_service_leaves_out_or_repeats_is_refused(
    app: PartnerApp, answer: dict[str, Any], keys: list[dict[str, str]]
) -> None:
    receipt, node = answer["data"]["receipt"], verifier.Node(app.chain.world["rpcUrl"])
    nothing, twice = (
        {name: str(int(amount) * times) for name, amount in receipt["amounts"].items()} for times in (0, 2)
    )
    payable = json.loads(json.dumps(receipt["entries"]).replace("partner_settled", "partner_payable"))
    for problem, lie in {
        "it has no operation": lied(receipt, operations=[], amounts=nothing, entries=[]),
        "the operations, of which there is one": lied(
            receipt, operations=receipt["operations"] * 2, amounts=twice, entries=receipt["entries"] * 2
        ),
        "the transaction contains the signature of none": lied(receipt, authorizations=[]),
        "both terms of the fee": lied(receipt, fee={**receipt["fee"], "totalFeeBps": None}),
        "the fee mode": lied(receipt, fee={**receipt["fee"], "feeMode": verifier.OFF_CHAIN}, entries=payable),
        "what else is called verifiable": lied(receipt, verifiable=[*receipt["verifiable"], "entries"]),
    }.items():
        with pytest.raises(verifier.DifferenceError, match=problem):
            verifier.verify(lie, keys, node)


WITHOUT_TERMS = {"totalFeeBps": None, "partnerShareBps": None}


def test_a_sweep_that_is_known_from_its_event_alone_is_verified_by_it(
    app: PartnerApp, answer: dict[str, Any], keys: list[dict[str, str]], tmp_path: Path
) -> None:
    receipt = answer["data"]["receipt"]
    adopted = lied(receipt, fee=receipt["fee"] | WITHOUT_TERMS, authorizations=[])
    code, said = run(tmp_path, adopted, keys, "--rpc", app.chain.world["rpcUrl"])
    assert (code, "there are no terms of its fee" in said) == (0, True), said


def test_files_and_nodes_that_are_not_what_they_should_be_are_named_in_one_line(
    app: PartnerApp, answer: dict[str, Any], keys: list[dict[str, str]], tmp_path: Path
) -> None:
    node = ["--rpc", app.chain.world["rpcUrl"]]
    unsigned = {**answer["data"], "jws": 5}
    malformed: list[Any] = [[], "text", {"data": []}, {"receipt": {}}, unsigned]
    named = [[*node, "--keys", "missing.json"], *(["--rpc", url] for url in ("http://127.0.0.1:1", "http://[", "text"))]
    deep = tmp_path / "deep.json"
    deep.write_text("[" * 200_000)
    named.append([*node, "--keys", str(deep)])
    for content, more in (*((one, node) for one in malformed), *((answer, one) for one in named)):
        code, said = run(tmp_path, content, keys, *more)
        assert (code, said.startswith("NOT VERIFIED: "), said.count("\n")) == (1, True, 1), said


def test_each_lie_is_named(app: PartnerApp, answer: dict[str, Any], keys: list[dict[str, str]]) -> None:
    receipt, node = answer["data"]["receipt"], verifier.Node(app.chain.world["rpcUrl"])
    for path, problem in TAMPERED:
        lie = changed(receipt, path)
        with pytest.raises(verifier.DifferenceError, match=problem):
            verifier.verify(signed_by_us(lie), keys, node)
    elsewhere = json.loads(json.dumps(receipt).replace(receipt["network"], "eip155:1"))
    with pytest.raises(verifier.DifferenceError, match="the chain"):
        verifier.verify(signed_by_us(elsewhere), keys, node)


def test_a_receipt_that_is_signed_by_another_key_is_refused(
    app: PartnerApp, answer: dict[str, Any], keys: list[dict[str, str]], tmp_path: Path
) -> None:
    node = ["--rpc", app.chain.world["rpcUrl"]]
    assert run(tmp_path, answer, [], *node) == (
        1,
        "NOT VERIFIED: DifferenceError: the signature is malformed, or by none of the keys\n",
    )
    claimed = {**keys[0], "x": "11qYAYKxCrfVS_7TyWQHOg7hcvPapiMlrwIaaPcHURo"}
    assert run(tmp_path, answer, [claimed], *node) == (
        1,
        "NOT VERIFIED: DifferenceError: the signature does not match\n",
    )


@pytest.fixture(params=[("USDC", 0), ("SOL", 0), ("USDC", 1)], ids=["USDC", "SOL", "version 1"])
def on_solana(request: pytest.FixtureRequest, api: Client, user: SolanaUser) -> dict[str, Any]:
    """The receipt of a sweep on Solana, as it is downloaded."""
    symbol, version = request.param
    asset = {"USDC": str(user.cluster.usdc), "SOL": verifier.WRAPPED_SOL}[symbol]
    built = user.build({user.hold(150 * DOLLAR): 150 * DOLLAR}, output_asset=asset)
    user.send(built, version=version)
    look()
    user.cluster.finalize()
    look()
    number_by_time()
    found: dict[str, Any] = api.get(f"/v1/sweep/status/{built['sweepId']}/receipt").json()
    return found


def test_a_receipt_of_a_sweep_on_solana_is_verified_without_the_service(
    user: SolanaUser, on_solana: dict[str, Any], keys: list[dict[str, str]], tmp_path: Path
) -> None:
    node, is_sol = ["--rpc", user.cluster.url], on_solana["data"]["receipt"]["outputMint"] == verifier.WRAPPED_SOL
    code, said = run(tmp_path, on_solana, keys, *node, "--contract", str(user.cluster.fee_wallet))
    assert code == 0, said
    assert "partnerShareBps" in json.loads(said)["serviceSays"]["fee"]
    assert ("grossOutput" in json.loads(said)["chainShows"]["amounts"]) != is_sol
    assert ("Of the amounts in SOL only totalFee was compared." in said) == is_sol
    code, said = run(tmp_path, on_solana, keys, *node, "--contract", str(user.key))
    assert (code, "NOT VERIFIED: DifferenceError: the fee wallet" in said) == (1, True)


def test_what_a_lying_service_signs_is_refused_where_the_cluster_shows_otherwise(
    user: SolanaUser, on_solana: dict[str, Any], keys: list[dict[str, str]], tmp_path: Path
) -> None:
    receipt, node = on_solana["data"]["receipt"], verifier.Node(user.cluster.url)
    believed = []
    for path in paths(receipt):
        try:
            verifier.verify(signed_by_us(changed(receipt, path)), keys, node)
        except (verifier.DifferenceError, ValueError, KeyError, TypeError):
            continue
        believed.append(path)
    assert {path for path in believed if not is_believed(path, is_on_chain=True)} == set()
    elsewhere = json.loads(json.dumps(receipt).replace(receipt["network"], "solana:" + "1" * 32))
    twice = {name: str(int(amount) * 2) for name, amount in receipt["amounts"].items()}
    repeated = {name: receipt[name] * 2 for name in ("operations", "entries")}
    for problem, lie in {
        "the cluster": signed_by_us(elsewhere),
        "the transactions, one of each operation": lied(receipt, amounts=twice, **repeated),
        "the wallet did not sign": lied(receipt, wallet=str(user.cluster.fee_wallet)),
    }.items():
        with pytest.raises(verifier.DifferenceError, match=problem):
            verifier.verify(lie, keys, node)
    code, said = run(tmp_path, lied(receipt, wallet="z" * 60), keys, "--rpc", user.cluster.url)
    assert (code, said.startswith("NOT VERIFIED: ")) == (1, True), said


def test_a_sweep_on_solana_of_which_only_the_transaction_is_known_is_verified_by_it(
    user: SolanaUser, on_solana: dict[str, Any], keys: list[dict[str, str]]
) -> None:
    receipt = on_solana["data"]["receipt"]
    verifier.verify(lied(receipt, fee=receipt["fee"] | WITHOUT_TERMS), keys, verifier.Node(user.cluster.url))


def look() -> None:
    """Have the worker check the only sweep."""
    Sweep.objects.update(next_check_at=timezone.now() - timedelta(minutes=1))
    checks.check_due()


def is_believed(path: tuple[Any, ...], *, is_on_chain: bool) -> bool:
    """Whether no chain shows it; on V4 that is also whom the contract pays."""
    if path[0] == "entries":
        return path[-1] in BELIEVED_OF_ENTRIES
    if path[0] == "fee":
        return not is_on_chain and path[-1] == "protocolRecipient"
    return path[0] in BELIEVED or path[-1] == "offer"
