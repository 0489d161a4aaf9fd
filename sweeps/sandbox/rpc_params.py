"""What each method of the RPC proxy takes: closed shapes, from whose parsed values the call to the node is built.

Nothing reaches the node as a caller sent it, and so no parameter does that is not written here. Overrides of state or
of the block have no shape: with them one call burns as much as it likes. Each parser takes a value of JSON, and returns
that of the call or raises ``ValueError`` with a sentence for the caller.
"""

import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from typing import Any

from sweepapi.evm.trial.sweep_gas import TRANSACTION_CAP

MAX_CALL_GAS = TRANSACTION_CAP  # no transaction that is simulated may have more
MAX_FEE_BLOCKS = 1_024
MAX_FEE_PERCENTILES = 100
MAX_LISTED = 100  # addresses, topics at one position, slots, entries of an access list
MAX_TOPICS = 4
MAX_AUTHORIZATIONS = 16

BLOCK_NAMES = frozenset({"earliest", "finalized", "latest", "pending", "safe"})
_HEX = re.compile(r"0x[0-9a-fA-F]*")

Parser = Callable[[object], Any]


@dataclass(frozen=True)
class Param:
    """A parameter; without a default it is required."""

    parse: Parser
    default: Any = None


def built(method: str, params: Sequence[object]) -> list[Any]:
    """Return the parameters of the call to the node; raises ``ValueError``, and ``KeyError`` for another method."""
    shape = METHODS[method]
    if len(params) > len(shape):
        raise ValueError(f"{method} takes {len(shape)} parameters at most; there are no overrides.")
    given = [*params, *[None] * (len(shape) - len(params))]
    return [_built(position, one, value) for position, (one, value) in enumerate(zip(shape, given, strict=True))]


def _built(position: int, param: Param, value: object) -> Any:  # noqa: ANN401 a parameter has any JSON type
    if value is None:
        if param.default is None:
            raise ValueError(f"Parameter {position} is missing.")
        return param.default
    return param.parse(value)


def _hex(value: object, what: str) -> str:
    if not isinstance(value, str) or not _HEX.fullmatch(value):
        raise ValueError(f"{what} must be a string of 0x and hex digits.")
    return value


def _bytes(value: object, what: str = "Data", *, length: int | None = None) -> str:
    digits = len(_hex(value, what)) - 2
    if digits % 2 or (length is not None and digits != 2 * length):
        raise ValueError(f"{what} has another number of hex digits.")
    return str(value)


def _quantity(value: object, *, maximum: int = 2**256 - 1) -> str:
    """Return a number in its shortest form; some clients send it as a number of JSON."""
    number = value if isinstance(value, int) and not isinstance(value, bool) else _number(value)
    if not 0 <= number <= maximum:
        raise ValueError(f"A number is at most {maximum} here.")
    return hex(number)


def _number(value: object) -> int:
    digits = _hex(value, "A number")[2:]
    if not 0 < len(digits) <= 64:  # noqa: PLR2004 of 32 bytes
        raise ValueError("A number has from 1 to 64 hex digits.")
    return int(digits, 16)


def _flag(value: object) -> bool:
    if not isinstance(value, bool):
        raise ValueError("This parameter is true or false.")  # noqa: TRY004 it is told to the caller
    return value


def _percentile(value: object) -> float:
    if isinstance(value, bool) or not isinstance(value, int | float) or not 0 <= value <= 100:  # noqa: PLR2004
        raise ValueError("A percentile is a number from 0 to 100.")
    return value


def _list(parse: Parser, maximum: int, value: object) -> list[Any]:
    if not isinstance(value, list) or len(value) > maximum:
        raise ValueError(f"This must be a list of at most {maximum}.")
    return [parse(one) for one in value]


def _object(parsers: Mapping[str, Parser], value: object) -> dict[str, Any]:
    """Return the members that are there; null stands for none."""
    if not isinstance(value, Mapping):
        raise ValueError("This must be an object.")  # noqa: TRY004 it is told to the caller
    if not value.keys() <= parsers.keys():
        raise ValueError(f"An object here has no other members than {', '.join(parsers)}.")
    return {name: parsers[name](one) for name, one in value.items() if one is not None}


_address = partial(_bytes, what="An address", length=20)
_hash = partial(_bytes, what="A hash", length=32)
_height = partial(_quantity, maximum=2**64 - 1)


def _block(value: object) -> str:
    """Return the height or the name of a block."""
    return str(value) if isinstance(value, str) and value in BLOCK_NAMES else _height(value)


def _state(value: object) -> Any:  # noqa: ANN401 a string, or an object as EIP-1898 has it
    """Return the block whose state is read, also by its hash."""
    if isinstance(value, str) and len(value) == 66:  # noqa: PLR2004 no height has so many digits
        return {"blockHash": _hash(value)}
    if not isinstance(value, Mapping):
        return _block(value)
    named = _object({"blockHash": _hash, "blockNumber": _height, "requireCanonical": _flag}, value)
    if len(named.keys() & {"blockHash", "blockNumber"}) != 1:
        raise ValueError("A block is named by its hash or its number.")
    return named


def _running(value: object) -> Any:  # noqa: ANN401 as above
    """Return the block on which code runs: on the newest one instead of one that would have to be made first."""
    return "latest" if value == "pending" else _state(value)


def _slot(value: object) -> str:
    return f"0x{_number(value):064x}"


def _topic(value: object) -> Any:  # noqa: ANN401 a hash, several, or none
    if value is None:
        return None
    return _list(_hash, MAX_LISTED, value) if isinstance(value, list) else _hash(value)


def _addresses(value: object) -> Any:  # noqa: ANN401 one or several
    return _list(_address, MAX_LISTED, value) if isinstance(value, list) else _address(value)


_FILTER: Mapping[str, Parser] = {
    "address": _addresses,
    "topics": partial(_list, _topic, MAX_TOPICS),
    "blockHash": _hash,
    "fromBlock": _block,
    "toBlock": _block,
}


def _filter(value: object) -> dict[str, Any]:
    wanted = _object(_FILTER, value)
    if "blockHash" in wanted and wanted.keys() & {"fromBlock", "toBlock"}:
        raise ValueError("Logs are read from one block by its hash, or from a range.")
    return wanted if "blockHash" in wanted else {"fromBlock": "latest", "toBlock": "latest"} | wanted


_ACCESS: Mapping[str, Parser] = {"address": _address, "storageKeys": partial(_list, _hash, MAX_LISTED)}
_AUTHORIZATION: Mapping[str, Parser] = {
    "address": _address,
    **dict.fromkeys(("chainId", "r", "s"), _quantity),
    "nonce": _height,
    **dict.fromkeys(("yParity", "v"), partial(_quantity, maximum=255)),
}
_TRANSACTION: Mapping[str, Parser] = {
    **dict.fromkeys(("from", "to"), _address),
    **dict.fromkeys(("data", "input"), _bytes),
    "gas": partial(_quantity, maximum=MAX_CALL_GAS),
    "value": _quantity,
    **dict.fromkeys(("gasPrice", "maxFeePerGas", "maxPriorityFeePerGas"), partial(_quantity, maximum=2**128 - 1)),
    **dict.fromkeys(("chainId", "nonce"), _height),
    "type": partial(_quantity, maximum=4),
    "accessList": partial(_list, partial(_object, _ACCESS), MAX_LISTED),
    "authorizationList": partial(_list, partial(_object, _AUTHORIZATION), MAX_AUTHORIZATIONS),
}


def _transaction(value: object) -> dict[str, Any]:
    """Return what is simulated; it always has a limit of gas, which is ours if the caller has none."""
    call = {"gas": hex(MAX_CALL_GAS)} | _object(_TRANSACTION, value)
    data = call.pop("data", None)
    if data is not None and call.setdefault("input", data) != data:
        raise ValueError("data and input differ.")
    return call


_OF_ACCOUNT = (Param(_address), Param(_state, "latest"))
_OF_BLOCK = (Param(_state),)
_OF_HASH = (Param(_hash),)
_OF_CODE = (Param(_transaction), Param(_running, "latest"))
_INDEX = Param(_height)
_WITH_TRANSACTIONS = Param(_flag, False)  # noqa: FBT003 as JSON-RPC has it
SEND = "eth_sendRawTransaction"
# anvil holds unlocked accounts, and offers to change the chain in eth_ methods as well.
METHODS: Mapping[str, tuple[Param, ...]] = {
    **dict.fromkeys(("eth_blobBaseFee", "eth_blockNumber", "eth_chainId", "eth_gasPrice"), ()),
    **dict.fromkeys(("eth_maxPriorityFeePerGas", "eth_syncing", "net_listening", "net_version"), ()),
    "web3_clientVersion": (),
    **dict.fromkeys(("eth_call", "eth_createAccessList", "eth_estimateGas"), _OF_CODE),
    "eth_feeHistory": (
        Param(partial(_quantity, maximum=MAX_FEE_BLOCKS)),
        Param(_block),
        Param(partial(_list, _percentile, MAX_FEE_PERCENTILES), []),
    ),
    **dict.fromkeys(("eth_getBalance", "eth_getCode", "eth_getTransactionCount"), _OF_ACCOUNT),
    "eth_getBlockByHash": (*_OF_HASH, _WITH_TRANSACTIONS),
    "eth_getBlockByNumber": (Param(_block), _WITH_TRANSACTIONS),
    "eth_getBlockReceipts": _OF_BLOCK,
    "eth_getBlockTransactionCountByHash": _OF_HASH,
    "eth_getBlockTransactionCountByNumber": (Param(_block),),
    "eth_getLogs": (Param(_filter),),
    "eth_getProof": (Param(_address), Param(partial(_list, _slot, MAX_LISTED)), Param(_state, "latest")),
    "eth_getStorageAt": (Param(_address), Param(_slot), Param(_state, "latest")),
    "eth_getTransactionByBlockHashAndIndex": (*_OF_HASH, _INDEX),
    "eth_getTransactionByBlockNumberAndIndex": (Param(_block), _INDEX),
    **dict.fromkeys(("eth_getTransactionByHash", "eth_getTransactionReceipt"), _OF_HASH),
    SEND: (Param(_bytes),),
    "web3_sha3": (Param(_bytes),),
}
