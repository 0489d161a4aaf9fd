"""Text that others chose, such as a token's symbol, made fit to be shown."""


def clean(text: str, max_characters: int) -> str:
    """Return its printable characters, without spaces around them, shortened."""
    return "".join(character for character in text if character.isprintable()).strip()[:max_characters]
