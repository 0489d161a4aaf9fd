"""Makes our copy of Uniswap's token list: ``make token-list``.

The list is an npm package that ``contracts/package-lock.json`` pins by version and hash. The service must run without
Node.js, and what a new version adds is reviewed; so the copy is committed, and a test compares it with the package.
"""

import json
from typing import Any

from eth_utils.address import is_address

from dev.chain.artifacts import CONTRACTS
from sweepapi.evm.encoding.addresses import eip55
from sweepapi.evm.tokens.listed_tokens import LISTED_TOKENS

PACKAGE = CONTRACTS / "node_modules" / "@uniswap" / "default-token-list"
_HEADER = """# Tokens as the npm package @uniswap/default-token-list {version} lists them: chain id, address, symbol.
# Its license is GPL-3.0-or-later; names, logos and decimals are left out.
"""


def published() -> dict[str, Any]:
    """Return the list as its package has it."""
    file = PACKAGE / "build" / "uniswap-default.tokenlist.json"
    content: dict[str, Any] = json.loads(file.read_text(encoding="utf-8"))
    return content


def compact(token_list: dict[str, Any]) -> str:
    """Return a line for each token, sorted by chain and address."""
    version = ".".join(str(token_list["version"][part]) for part in ("major", "minor", "patch"))
    tokens = {(one["chainId"], _address(one["address"])): one["symbol"] for one in token_list["tokens"]}
    lines = (f"{chain_id} {address} {symbol}\n" for (chain_id, address), symbol in sorted(tokens.items()))
    return _HEADER.format(version=version) + "".join(lines)


def _address(address: str) -> str:
    """Return an EVM address in the form in which the service has them; Solana's have one form only."""
    return eip55(address) if is_address(address) else address


if __name__ == "__main__":
    LISTED_TOKENS.write_text(compact(published()), encoding="utf-8")
