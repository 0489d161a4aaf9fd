"""Reads the body of confirm, of which a wallet's answer may be megabytes of logs: only hashes and chains are built.

Only the hashes are believed, and the chain decides about them, so what else a wallet says is passed over.
"""

import re
from collections.abc import Mapping
from itertools import accumulate
from typing import IO, Any

import msgspec

from sweepapi.api.input.budgets import LARGEST_BODY_BYTES, MAX_DEPTH
from sweepapi.api.input.parsers import RawJSONParser
from sweepapi.api.input.reading import FORBIDDEN_FIELDS, forbidden, printable
from sweepapi.errors import FieldError, InvalidRequest, SweepApiError

# A node's log has two containers and some twenty strings, in 430 bytes or more.
MAX_CONTAINERS = 16_000
MAX_STRINGS = 100_000
MAX_RECEIPTS = 256  # some wallets repeat the receipt for each call
MAX_CHAIN_BYTES = 100

_STEPS = {ord("["): 1, ord("{"): 1, ord("]"): -1, ord("}"): -1}
_OTHER_BYTES = bytes(set(range(256)) - {ord('"'), *_STEPS})
_FORBIDDEN = {name: re.compile(rf'"{name}"\s*:'.encode()) for name in sorted(FORBIDDEN_FIELDS)}
_PLACE = re.compile(r" - at `\$\.(.*)`\Z", re.DOTALL)
_UNKNOWN = re.compile(r"Object contains unknown field `(.*)`\Z", re.DOTALL)


class ReportedReceipt(msgspec.Struct):
    transactionHash: str | msgspec.UnsetType = msgspec.UNSET
    chainId: msgspec.Raw | msgspec.UnsetType = msgspec.UNSET


class ReportedStatus(msgspec.Struct):
    chainId: msgspec.Raw | msgspec.UnsetType = msgspec.UNSET
    receipts: list[ReportedReceipt] | msgspec.UnsetType = msgspec.UNSET


class ReportedBody(msgspec.Struct, forbid_unknown_fields=True):
    txHash: str | msgspec.UnsetType = msgspec.UNSET
    callsStatus: ReportedStatus | msgspec.UnsetType = msgspec.UNSET


_DECODER = msgspec.json.Decoder(ReportedBody)


class ConfirmParser(RawJSONParser):
    """The hash, or the hashes and chains of a wallet's answer, from a body of at most 2 MiB."""

    max_bytes = LARGEST_BODY_BYTES

    def parse(
        self, stream: IO[Any], media_type: str | None = None, parser_context: Mapping[str, Any] | None = None
    ) -> dict[str, Any]:
        """Return what the serializer reads. Raises PayloadTooLarge, InvalidRequest and ForbiddenField."""
        return _read(super().parse(stream, media_type, parser_context))


def _read(raw: bytes) -> dict[str, Any]:
    _require_bounded(raw)
    if names := [name for name, member in _FORBIDDEN.items() if name.encode() in raw and member.search(raw)]:
        raise forbidden(names)
    try:
        raw.decode()
        body = _DECODER.decode(raw)
    except UnicodeDecodeError as error:
        raise InvalidRequest("The body is not valid UTF-8.") from error
    except msgspec.ValidationError as error:
        raise _problem(str(error)) from error
    except msgspec.DecodeError as error:
        raise InvalidRequest(f"The body is not valid JSON: {printable(str(error))}") from error
    status = body.callsStatus
    return _given(txHash=body.txHash, callsStatus=status and _shown(status))


def _require_bounded(raw: bytes) -> None:
    """Refuse what takes long to pass over, or is nested so deep that the decoder would leave its stack."""
    if raw.count(b"[") + raw.count(b"{") > MAX_CONTAINERS or raw.count(b'"') > 2 * MAX_STRINGS:
        raise InvalidRequest("The body holds more objects, lists or strings than this operation takes.")
    # A backslash is in a string or malformed, and pairs of them come before an escaped quote.
    without_escapes = raw.replace(rb"\\", b"").replace(rb"\"", b"") if b"\\" in raw else raw
    outside_strings = b"".join(without_escapes.translate(None, _OTHER_BYTES).split(b'"')[::2])
    if max(accumulate(map(_STEPS.__getitem__, outside_strings)), default=0) > MAX_DEPTH:
        raise InvalidRequest(f"The body is nested more than {MAX_DEPTH} levels deep.")


def _problem(said: str) -> SweepApiError:
    """Return the refusal of a body that is JSON, but of another shape."""
    unknown, place = _UNKNOWN.match(said), _PLACE.search(said)
    if unknown is not None:
        return InvalidRequest(details=[FieldError(printable(unknown[1]), "unknown_field", "No such field.")])
    if place is None:
        return InvalidRequest("The body must be a JSON object.")
    return InvalidRequest(details=[FieldError(place[1], "invalid_type", f"{said[: place.start()]}.")])


def _shown(status: ReportedStatus) -> dict[str, Any]:
    receipts: Any = status.receipts
    chain = _chain(status.chainId)
    if receipts:
        shown = receipts[: MAX_RECEIPTS + 1]
        receipts = [
            _given(transactionHash=one.transactionHash, chainId=_chain(one.chainId) if chain is None else None)
            for one in shown
        ]
    return _given(chainId=chain, receipts=receipts)


def _chain(said: msgspec.Raw | msgspec.UnsetType) -> Any:  # noqa: ANN401 whatever the wallet sent, if it is short
    if said is msgspec.UNSET:
        return None
    text = bytes(said)
    try:
        return msgspec.json.decode(text) if len(text) <= MAX_CHAIN_BYTES else ""
    except msgspec.DecodeError:  # what a string has is not looked at while it is passed over
        return ""


def _given(**members: Any) -> dict[str, Any]:  # noqa: ANN401 values of JSON
    return {name: value for name, value in members.items() if value is not msgspec.UNSET and value is not None}
