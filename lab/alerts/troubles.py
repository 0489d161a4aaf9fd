"""The troubles of a run: how each begins and ends, and which alert has to come of it."""

import time
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from functools import partial

import requests

from dev.keys import address_of
from dev.wallets import Wallet
from lab.alerts.receiver import PAGE, TICKET
from lab.alerts.scene import AlertScene
from sweepapi.evm.encoding.abi import Function
from sweepapi_client import token_inputs

STRANGER = "0x000000000000000000000000000000000000bEEF"
SCHEDULE = Function("schedule(address,bytes,uint48)", "(bytes32,uint32)")
CANCEL = Function("cancel(address,address,bytes)", "(uint32)")
SET_SIGNER = Function("setFeeSigner(address,uint32)")
STUCK = 3  # sweeps
GUESSES = 25
FLOOD_SECONDS = 20


@dataclass(frozen=True)
class Trouble:
    """Something that goes wrong, and is repaired."""

    name: str
    alert: str
    route: str
    begin: Callable[[AlertScene], object]
    end: Callable[[AlertScene], object]
    metric: str | None = None  # the expression that is true once the metric has crossed its threshold


def troubles(scene: AlertScene) -> Iterator[Trouble]:
    """Yield every engine and process, each killed or frozen, and every kind of business trouble."""
    for engine, alert, route in (("postgres", "DatabaseAway", PAGE), ("redis", "RedisAway", TICKET)):
        yield _killed(engine, alert, route)
        yield _frozen(engine, alert, route)
    yield _frozen("anvil", "ChainAway", PAGE)
    yield _killed("web", "WebAway", PAGE, also="web-fallback")
    yield _frozen("work", "LoopAway", PAGE)
    for process, alert, route in (
        ("work", "LoopAway", PAGE),
        ("webhooks", "WebhooksAway", PAGE),
        ("signing", "ProcessAway", TICKET),
        ("console", "ProcessAway", TICKET),
        ("celery", "CeleryAway", TICKET),
        ("beat", "BeatAway", TICKET),
    ):
        yield _killed(process, alert, route)
    yield from _of_sweeps(scene)
    yield from _of_books()
    yield from _of_people_and_contracts(scene)


def _killed(name: str, alert: str, route: str, *, also: str | None = None) -> Trouble:
    names = [name] if also is None else [name, also]

    def begin(scene: AlertScene) -> None:
        for one in names:
            scene.fleet.kill(one)

    def end(scene: AlertScene) -> None:
        for one in names:
            scene.fleet.relaunch(one)

    return Trouble(f"{name} killed", alert, route, begin, end)


def _frozen(name: str, alert: str, route: str) -> Trouble:
    return Trouble(
        f"{name} frozen", alert, route, lambda scene: scene.fleet.freeze(name), lambda scene: scene.fleet.thaw(name)
    )


def _of_sweeps(scene: AlertScene) -> Iterator[Trouble]:
    sweeps = [_build(scene) for _ in range(STUCK)]
    submit, forget = partial(_submit, sweeps=sweeps), partial(_forget, sweeps=sweeps)
    stuck, contradicted = 'sweepapi_waiting_sweeps{queue="stuck"} > 2', "sweepapi_contradicted_transactions > 0"
    yield Trouble("three sweeps stuck", "StuckSweeps", PAGE, submit, forget, stuck)
    contradict = partial(_contradict, sweeps=sweeps)
    yield Trouble("providers disagree", "ProvidersDisagree", PAGE, contradict, forget, contradicted)
    for flag, alert, route in (
        ("executed_after_close", "SweepsFlagged", PAGE),
        ("below_minimum", "SweepsToReview", TICKET),
    ):
        metric = f'sweepapi_flagged_sweeps{{flag="{flag}"}} > 0'
        begin, end = (partial(act, sweep=sweeps[0], flag=flag) for act in (_raise_flag, _acknowledge))
        yield Trouble(f"a sweep with {flag}", alert, route, begin, end, metric)


def _build(scene: AlertScene) -> str:
    """Return the id of a sweep that was only built."""
    built = scene.context.ours.build(
        {
            "chain": scene.context.chain,
            "wallet": scene.context.wallets[0].address,
            "tokens": token_inputs({scene.context.address("USDC"): scene.context.units("USDC", 50)}),
            "outputMint": scene.context.address("WETH"),
            "slippageBps": 100,
            "acceptUneconomic": True,
        }
    )
    return str(built["sweepId"])


def _submit(scene: AlertScene, sweeps: Sequence[str]) -> None:
    """Have each look as if its transaction had been sent eleven minutes ago, and no check be due."""
    for number, sweep in enumerate(sweeps):
        scene.sql(
            "INSERT INTO sweeps_sweeptransaction (sweep_id, execution_id, tx_hash, status, awaits, source,"
            " finality, block_hash, confirmations, logs_digest, submitted_at, reason)"
            " SELECT sweep_id, id, %s, 'submitted', '', 'partner', 'none', '', 0, '', now() - interval"
            " '11 minutes', '' FROM sweeps_execution WHERE sweep_id = %s",
            f"0x{number + 1:064x}",
            sweep,
        )
    scene.sql("UPDATE sweeps_sweep SET next_check_at = now() + interval '1 hour' WHERE id = ANY(%s)", list(sweeps))


def _contradict(scene: AlertScene, sweeps: Sequence[str]) -> None:
    """Have each look as if one provider had contradicted another for two minutes."""
    _submit(scene, sweeps)
    scene.sql(
        "UPDATE sweeps_sweeptransaction SET submitted_at = now(), awaits = 'agreement', shown_since = now(),"
        " contradicted_since = now() - interval '2 minutes' WHERE sweep_id = ANY(%s)",
        list(sweeps),
    )


def _forget(scene: AlertScene, sweeps: Sequence[str]) -> None:
    scene.sql("DELETE FROM sweeps_sweeptransaction WHERE sweep_id = ANY(%s)", list(sweeps))


def _raise_flag(scene: AlertScene, sweep: str, flag: str) -> None:
    scene.sql("UPDATE sweeps_sweep SET flags = ARRAY[%s] WHERE id = %s", flag, sweep)


def _acknowledge(scene: AlertScene, sweep: str, flag: str) -> None:
    scene.sql(
        "INSERT INTO sweeps_handling (sweep_id, operator, is_taken, flags, note)"
        " VALUES (%s, 'lab', false, ARRAY[%s], '')",
        sweep,
        flag,
    )


def _of_books() -> Iterator[Trouble]:
    def differ(scene: AlertScene) -> None:
        scene.sql("DELETE FROM sweeps_comparison")
        scene.sql(
            "INSERT INTO sweeps_comparison (network, first_block, last_block, differences)"
            " SELECT DISTINCT network, 1, 2, 2 FROM sweeps_sweep"
        )

    yield Trouble(
        "the books differ",
        "BooksDiffer",
        PAGE,
        differ,
        lambda scene: scene.sql("UPDATE sweeps_comparison SET differences = 0"),
        "sweepapi_books_differences > 0",
    )

    def leave_unsigned(scene: AlertScene) -> None:
        scene.fleet.kill("signing")
        scene.sql("UPDATE ledger_entrynumber SET numbered_at = numbered_at - interval '40 days'")

    def sign(scene: AlertScene) -> None:
        scene.sql("UPDATE ledger_entrynumber SET numbered_at = numbered_at + interval '40 days'")
        scene.fleet.relaunch("signing")

    yield Trouble(
        "a month is not signed",
        "MonthUnsigned",
        PAGE,
        leave_unsigned,
        sign,
        "sweepapi_statements_unsigned_seconds > 3600",
    )


def _of_people_and_contracts(scene: AlertScene) -> Iterator[Trouble]:
    signer, rpc = address_of(scene.local.keys.fee_signer), scene.context.rpc
    owner, guardian = (Wallet(rpc, key) for key in (scene.local.keys.owner, scene.local.keys.guardian))
    v5, manager = scene.context.contracts["v5"], scene.context.contracts["accessManager"]
    data = SET_SIGNER.encode(STRANGER, 0)

    def fund(scene: AlertScene, wei: int) -> None:
        scene.context.rpc.call("anvil_setBalance", signer, hex(wei))

    yield Trouble(
        "the fee signer has no coin",
        "SignerOutOfGas",
        PAGE,
        lambda scene: fund(scene, 10**15),
        lambda scene: fund(scene, 10**18),
        "sweepapi_fee_signer_balance_wei < 2e16",
    )

    def send(wallet: Wallet, calldata: bytes) -> None:
        rpc.call("anvil_setBalance", wallet.address, hex(10**18))
        sent = wallet.send({"to": manager, "value": "0", "data": f"0x{calldata.hex()}", "gas": "500000"})
        scene.context.receipt(sent)

    yield Trouble(
        "a change of the contracts that no one announced",
        "OperationNotAnnounced",
        PAGE,
        lambda _scene: send(owner, SCHEDULE.encode(v5, data, 0)),
        lambda _scene: send(guardian, CANCEL.encode(owner.address, v5, data)),
    )
    yield Trouble("a flood of logins", "LoginFlood", PAGE, flood, lambda _scene: None)


def flood(scene: AlertScene) -> None:
    """Try passwords, each of another account."""
    url = f"{scene.running.console_url}/login/"
    with requests.Session() as session:
        session.get(url, timeout=60)
        token = session.cookies["console_csrf"]
        for number in range(GUESSES):
            fields = {"login": f"user{number}", "password": "wrong", "csrfmiddlewaretoken": token}
            session.post(url, data=fields, timeout=60)
            time.sleep(FLOOD_SECONDS / GUESSES)
