"""Renders the clusters file of the local cluster, as ``config/clusters.toml`` is for public clusters."""

from dev.solana.market import OUTPUTS, mints

CLUSTER = "solana"


def render(genesis_hash: str) -> str:
    outputs = "".join(_output_token(symbol) for symbol in OUTPUTS)
    return f"""# The local cluster, written at every start.
[clusters.{CLUSTER}]
sandbox = true
genesis_hash = "{genesis_hash}"
native_symbol = "SOL"
reference_token = "{mints()[OUTPUTS[0]][0]}"
block_explorer_url = ""
swap_programs = []
rent_programs = []
max_priority_fee_lamports = 500_000
recheck_seconds = 1
{outputs}"""


def _output_token(symbol: str) -> str:
    mint, decimals = mints()[symbol]
    return f"""
[[clusters.{CLUSTER}.output_tokens]]
mint = "{mint}"
symbol = "{symbol}"
decimals = {decimals}
"""
