"""The errors of Solana's JSON-RPC nodes, with their codes and messages."""

from typing import Any


class RpcError(Exception):
    """An error object of JSON-RPC."""

    code: int

    def __init__(self, message: str, data: object = None) -> None:
        super().__init__(message)
        self.message = message
        self.data = data

    def describe(self) -> dict[str, Any]:
        described: dict[str, Any] = {"code": self.code, "message": self.message}
        return described if self.data is None else {**described, "data": self.data}


class ParseError(RpcError):
    code = -32700


class InvalidRequestError(RpcError):
    code = -32600


class MethodNotFoundError(RpcError):
    code = -32601


class InvalidParamsError(RpcError):
    code = -32602


class BlockCleanedUpError(RpcError):
    code = -32001

    def __init__(self, slot: int, first_available_slot: int) -> None:
        super().__init__(
            f"Block {slot} cleaned up, does not exist on node. First available block: {first_available_slot}"
        )


class PreflightFailureError(RpcError):
    code = -32002


class SignatureVerificationError(RpcError):
    code = -32003

    def __init__(self) -> None:
        super().__init__("Transaction signature verification failure")


class BlockNotAvailableError(RpcError):
    code = -32004

    def __init__(self, slot: int) -> None:
        super().__init__(f"Block not available for slot {slot}")


class SlotSkippedError(RpcError):
    code = -32007

    def __init__(self, slot: int) -> None:
        super().__init__(f"Slot {slot} was skipped, or missing due to ledger jump to recent snapshot")


class HistoryNotAvailableError(RpcError):
    code = -32011

    def __init__(self) -> None:
        super().__init__("Transaction history is not available from this node")


class UnsupportedVersionError(RpcError):
    code = -32015

    def __init__(self, version: int) -> None:
        super().__init__(
            f"Transaction version ({version}) is not supported by the requesting client. Please try the request again "
            f'with the following configuration parameter: "maxSupportedTransactionVersion": {version}'
        )


class MinContextSlotError(RpcError):
    code = -32016

    def __init__(self, slot: int) -> None:
        super().__init__("Minimum context slot has not been reached", {"contextSlot": slot})
