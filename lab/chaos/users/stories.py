"""The stories of a sloppy partner's sweeps on an EVM chain: what happens to each after its build.

A story is a generator of steps. It holds its wallet until its end, so that no other story uses the account's nonce.
"""

from collections.abc import Callable

from dev.chain.deploy import MULTICALL3
from dev.chain.sender import calldata
from lab.chaos.users.sweeper import DECIDED, Built, Steps, Sweeper

SOON, LATER, MUCH_LATER = 2, 12, 40
WAITS = 12  # how often a story looks whether the deadline has passed, before it gives up
TOO_LITTLE_GAS = 120_000
TRANSFER_GAS = 21_000
MANY_GAS = 4_000_000

Story = Callable[[Sweeper], Steps]


def prompt(user: Sweeper) -> Steps:
    """Sent and confirmed at once, before or after it is mined."""
    built, tx_hash = yield from _sent(user)
    if tx_hash:
        yield user.random.choice((0, 0, SOON))
        yield from user.confirm(built, tx_hash)


def late(user: Sweeper) -> Steps:
    """Confirmed long after it was sent."""
    built, tx_hash = yield from _sent(user)
    if tx_hash:
        yield user.random.randint(LATER, MUCH_LATER)
        yield from user.confirm(built, tx_hash)


def twice(user: Sweeper) -> Steps:
    """Confirmed again and again."""
    built, tx_hash = yield from _sent(user)
    for _ in range(3 if tx_hash else 0):
        user.report(built, str(tx_hash))
        yield user.random.choice((0, 0, LATER))


def silent(user: Sweeper) -> Steps:
    """Sent and never confirmed."""
    yield from _sent(user)


def wrong_hash(user: Sweeper) -> Steps:
    """Confirmed with an invented hash, with that of a payment, and then with the right one."""
    built, tx_hash = yield from _sent(user)
    if not tx_hash:
        return
    user.report(built, _invented(user))
    yield 0
    payment = user.push(_payment(user), gas=TRANSFER_GAS)
    yield SOON
    if payment:
        user.report(built, payment[0])
        yield SOON
    yield from user.confirm(built, tx_hash)


def only_wrong_hash(user: Sweeper) -> Steps:
    """Never sent, and confirmed with an invented hash."""
    built = yield from user.build()
    if built:
        yield SOON
        yield from user.confirm(built, _invented(user))


def sped_up(user: Sweeper) -> Steps:
    """Replaced in the wallet by the same call for a higher fee; one or both hashes are reported."""
    built = yield from user.build()
    first = user.push(user.call(built), built) if built else None
    if not built or not first:
        return
    if user.random.random() < 0.5:
        user.report(built, first[0])
    second = user.replace(first[1], built)
    yield SOON
    if second and user.random.random() < 0.7:
        yield from user.confirm(built, second)


def replaced_by_nothing(user: Sweeper) -> Steps:
    """Cancelled in the wallet: replaced by an empty payment, after it was reported."""
    built = yield from user.build()
    first = user.push(user.call(built), built) if built else None
    if not built or not first:
        return
    user.replace(first[1], **_payment_fields(user))
    yield SOON
    yield from user.confirm(built, first[0])


def reverted(user: Sweeper) -> Steps:
    """Sent with too little gas, so that it reverts, and confirmed."""
    built = yield from user.build()
    tx_hash = user.send(built, gas=TOO_LITTLE_GAS) if built else None
    if built and tx_hash:
        yield user.random.choice((SOON, LATER))
        yield from user.confirm(built, tx_hash)


def reverted_then_sent(user: Sweeper) -> Steps:
    """Reverts the first time, and is sent again."""
    built = yield from user.build()
    if not built:
        return
    failed = user.send(built, gas=TOO_LITTLE_GAS)
    yield SOON
    if failed and user.report(built, failed).http == DECIDED:
        yield SOON
    tx_hash = user.send(built)
    yield SOON
    if tx_hash:
        yield from user.confirm(built, tx_hash)


def sent_twice(user: Sweeper) -> Steps:
    """Sent in two transactions, of which the second reverts, and both confirmed, the second first."""
    built, first = yield from _sent(user)
    if not first:
        return
    second = user.send(built)
    yield SOON
    if second:
        user.report(built, second)
        yield SOON
    yield from user.confirm(built, first)


def abandoned(user: Sweeper) -> Steps:
    """Built and never sent."""
    yield from user.build()


def declined(user: Sweeper) -> Steps:
    """Withdrawn by the partner; in half of the stories on chain, too."""
    built = yield from user.build()
    if built:
        yield SOON
        user.cancel(built, on_chain=user.random.random() < 0.5)


def declined_and_sent(user: Sweeper) -> Steps:
    """Withdrawn by the partner, and executed nevertheless."""
    built = yield from user.build()
    if not built:
        return
    yield SOON
    user.cancel(built, on_chain=user.random.random() < 0.5)
    yield user.random.choice((0, LATER))
    user.send(built)


def too_late(user: Sweeper) -> Steps:
    """Sent after its deadline, if the chain's clock gets there while the harness runs."""
    built = yield from user.build()
    for _ in range(WAITS if built else 0):
        yield MUCH_LATER
        if built and user.chain.time() > int(built["permit2"]["message"]["deadline"]):
            tx_hash = user.send(built)
            yield SOON
            if tx_hash:
                yield from user.confirm(built, tx_hash)
            return


def bundled(user: Sweeper) -> Steps:
    """Two sweeps executed by one transaction of another contract, and one of them confirmed."""
    builds = []
    for _ in range(2):
        built = yield from user.build()
        yield 0
        if built:
            builds.append(built)
    if len(builds) < 2:
        return
    calls = [(call["to"], True, bytes.fromhex(call["data"][2:])) for call in map(user.call, builds)]
    data = "0x" + calldata("aggregate3((address,bool,bytes)[])", calls).hex()
    sent = user.push({"to": MULTICALL3, "value": "0", "data": data}, *builds, gas=MANY_GAS)
    yield SOON
    if sent:
        yield from user.confirm(builds[user.random.randrange(2)], sent[0])


def refreshed(user: Sweeper) -> Steps:
    """Offered again before it is sent."""
    built = yield from user.build()
    if not built:
        return
    yield user.random.choice((SOON, LATER))
    offer = {**built, **user.refresh(built)}
    tx_hash = user.send(offer)
    yield SOON
    if tx_hash:
        yield from user.confirm(built, tx_hash)


WEIGHTS: dict[Story, int] = {
    prompt: 20,
    late: 10,
    twice: 8,
    silent: 14,
    wrong_hash: 6,
    only_wrong_hash: 4,
    sped_up: 8,
    replaced_by_nothing: 5,
    reverted: 4,
    reverted_then_sent: 5,
    sent_twice: 5,
    abandoned: 6,
    declined: 5,
    declined_and_sent: 5,
    too_late: 3,
    bundled: 5,
    refreshed: 5,
}


def _sent(user: Sweeper) -> Steps:
    """Build and send; returns both, None where it failed."""
    built: Built | None = yield from user.build()
    if built is None:
        return None, None
    yield user.random.choice((0, 0, SOON, LATER))
    return built, user.send(built)


def _payment(user: Sweeper) -> dict[str, str]:
    return {"to": user.wallet.address, "value": "1", "data": "0x"}


def _payment_fields(user: Sweeper) -> dict[str, object]:
    return {"to": user.wallet.address, "value": 1, "data": "0x", "gas": TRANSFER_GAS}


def _invented(user: Sweeper) -> str:
    return f"0x{user.random.getrandbits(256):064x}"
