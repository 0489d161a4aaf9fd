"""The committed copies of others' lists are those of their pinned sources."""

import json

import pytest

from dev.chain.artifacts import CONTRACTS
from dev.pinned import confusables, token_list
from sweepapi.evm.tokens.listed_tokens import LISTED_TOKENS, listed_symbols, tokens_of
from sweepapi.evm.tokens.skeletons import CONFUSABLES

PUBLISHED = """# confusables.txt
# Version: 99.0.0
05AD ;\t0596 ;\tMA\t# ( a -> b ) HEBREW ACCENT DEHI
2A74 ;\t003A 003A 003D ;\tMA\t# DOUBLE COLON EQUAL
05AE ;\t0596 ;\tMA\t# HEBREW ACCENT ZINOR
# total: 3
"""


def test_the_token_list_is_that_of_the_pinned_package() -> None:
    assert token_list.compact(token_list.published()) == LISTED_TOKENS.read_text(encoding="utf-8")


def test_the_package_is_pinned_by_version_and_hash() -> None:
    lock = json.loads((CONTRACTS / "package-lock.json").read_text(encoding="utf-8"))
    package = lock["packages"]["node_modules/@uniswap/default-token-list"]
    assert package["integrity"].startswith("sha512-")
    assert f" {package['version']} " in LISTED_TOKENS.read_text(encoding="utf-8").partition("\n")[0].replace("@", " ")


def test_listed_tokens_are_known_by_chain() -> None:
    assert tokens_of(1)["0x1f9840a85d5aF5bf1D1762F925BDADdC4201F984"] == "UNI"
    assert "0x1f9840a85d5aF5bf1D1762F925BDADdC4201F984" not in tokens_of(8453)
    assert tokens_of(31337) == {}
    assert {"UNI", "AAVE", "PEPE"} <= listed_symbols()


def test_the_confusables_are_all_of_unicode_17() -> None:
    header, *lines = CONFUSABLES.read_text(encoding="utf-8").splitlines()
    assert "Unicode 17.0.0" in header
    assert (
        sum(len(line.split(": ")[1].split()) for line in lines if not line.startswith("#")) == 6_565
    )  # as it says itself


def test_a_copy_of_the_confusables_has_every_mapping() -> None:
    *comments, first, second = confusables.compact(PUBLISHED).splitlines()
    assert "Unicode 99.0.0" in comments[0]
    assert (first, second) == ("003A 003A 003D: 2A74", "0596: 05AD 05AE")


@pytest.mark.parametrize("change", [("# total: 3", "# total: 4"), ("05AD ;\t", "05AD; "), ("# Version: 99.0.0\n", "")])
def test_a_file_of_another_format_is_refused(change: tuple[str, str]) -> None:
    with pytest.raises(ValueError, match="has changed"):
        confusables.compact(PUBLISHED.replace(*change))
