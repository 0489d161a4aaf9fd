"""Shows amounts of tokens: exact in the smallest unit, and in whole tokens beside it."""


def whole_tokens(units: int, decimals: int) -> str:
    """Return an amount in whole tokens, exactly: integers have no precision that could round it."""
    whole, rest = divmod(abs(units), 10**decimals)
    fraction = str(rest).rjust(decimals, "0").rstrip("0")
    return f"{'-' if units < 0 else ''}{whole}{'.' if fraction else ''}{fraction}"


def token_amount(units: int, decimals: int, symbol: str) -> str:
    """Return an amount in both, such as ``1500000 (1.5 USDC)``; a token's symbol may be blank."""
    return f"{units} ({f'{whole_tokens(units, decimals)} {symbol}'.rstrip()})"
