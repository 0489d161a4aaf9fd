"""Keeps the repository in plain English: ``python -m lab.language``, which pre-commit runs, names each fault.

Each rule names the fault, what to write instead, a phrase that it finds and correct phrases that it leaves alone.
"""

import re
import subprocess
import sys
from bisect import bisect_right
from collections.abc import Iterator
from dataclasses import dataclass
from itertools import accumulate
from pathlib import Path
from typing import TypeAlias

ROOT = Path(__file__).parents[1]
Joined: TypeAlias = tuple[str, list[int]]  # a text on one line, and where each of its lines starts
# Other people's texts, generated files, and this one, which quotes what it forbids.
EXCLUDED = re.compile(
    r"LICENSE|requirements/.*\.txt|(?:.*/)?package-lock\.json|contracts/erc7730/.*\.schema\.json"
    r"|sweepapi/evm/abi/.*|sweepapi/evm/tokens/(?:UNICODE-LICENSE|.*\.txt)|tests/vectors/.*|.*/migrations/\d.*|lab/language\.py"
)
# Comment marks and quotes, which would hide a phrase that continues on the next line.
LINE_START, LINE_END = re.compile(r"^[\s/*#\"'|>-]*"), re.compile(r"[\s\"']*$")
END = r"(?=[.,;:!?()]|$)"  # of a clause, or of a test's name
UNIT = r"(?:block|call|chain|hash|hop|leg|line|operation|process|provider|request|stage|sweep|token|transaction)"


@dataclass(frozen=True)
class Rule:
    """A pattern over whole words, in which a space stands for a space or an underscore."""

    name: str
    pattern: str
    instead: str
    wrong: str
    right: tuple[str, ...] = ()

    def __str__(self) -> str:
        return self.name

    def matches(self, text: str) -> Iterator[re.Match[str]]:
        words = f"(?<![^\\W_])(?:{self.pattern.replace(' ', '[ _]')})(?![^\\W_])"
        return re.finditer(words, text, re.IGNORECASE)


IS_NO = Rule(
    "is no",
    "(?<!there )(?<!still )(?:is|are|was|were) no (?!longer|different|more|less|fewer|[a-z]+er than)[a-z]+",
    "is not a, are not",
    "an address that is no token",
    ("there is no token", "there are still no tokens", "it is no longer open", "it is no later than the head"),
)
RULES = (
    Rule("anew", "anew", "again, or a verb with re-", "It is signed anew."),
    Rule("besides", "besides", "except, also, as well as", "def ask(*, besides): ...", ("beside the input",)),
    Rule("wish", "[a-z]*wish(?:es|ed)?", "request", "class TokenWish:", ("swift", "Swisher")),
    Rule("dear", "dear(?:er|est|ly)?", "expensive, above the cap", "FEE_TOO_DEAR"),
    Rule("poor", "too poor", "insufficient balance", "the deployer is TOO_POOR"),
    Rule(
        "told of",
        "(?:told|tells?|telling) of",
        "reported, describes",
        "the change that it tells of",
        ("what it told the node", "tells the user of"),
    ),
    Rule(
        "is told",
        "(?:is|are)_told(?!_(?:about|apart|that|to|what|when))",
        "is reported",
        "def test_a_change_is_told(): ...",
        ("def test_they_are_told_apart(): ...", "it does as it is told"),
    ),
    IS_NO,
    Rule(
        "stands",
        "(?:stands?|stood) (?:above|after|among|anywhere|at|before|behind|below|beside|here|in(?! for)|on|there|where)"
        "|(?:here|may|must|what|wherever (?:it|they)) (?:stands?|stood)(?! (?:by|for|in for|out))",
        "is, is in, exists",
        "the moves stand in settle.py",
        ("what stands for the coin", "a standing allowance", "it stands in for the wallet"),
    ),
    Rule(
        "nobody",
        '(?<!")(?:any|every|no|some)body(?!")',
        "name the actor, or someone, anyone, no one",
        "A new fee signer is somebody.",
        ('UNPRIVILEGED_USER = "nobody"', "anyone", "no one"),
    ),
    Rule("whoever", "who(?:m|so)?ever", "anyone who, or name the actor", "whoever sends it"),
    Rule(
        "archaic words",
        "anyhow|forthwith|heed(?:s|ed)?|henceforth|hitherto|in vain|lest|thence|thereof|whence|wherein",
        "the plain word",
        "MayFail.ANYHOW",
        ("in any case", "hence"),
    ),
    Rule(
        "metaphors",
        "burglars?|doors?|dress(?:es|ed)?|farewells?|households?|knock(?:s|ed)?|stairs?|staircases?",
        "the field's noun: entry point, style, layer, process",
        "the deployer's farewell",
        ("address", "backdoor"),
    ),
    Rule(
        "asking machines",
        r"ask(?:s|ed|ing)? (?:a|all|another|each|every|no|one|other|the) (?:chain|network|node|provider)s?"
        r"|(?:chain|network|node|provider) is (?:never |not )?asked",
        "read, query",
        "refuses every hash without asking the chain",
        ("asks the user", "ask(pool, subject)"),
    ),
    Rule("give way", "(?:gave|gives?|giving) way", "is displaced, is replaced", "the oldest gives way to a new one"),
    Rule("of now", "of now", "current", "with the routes of now", ("as of November",)),
    Rule(
        "take back",
        "(?:took|takes?|taken|taking) (?:(?:it|nothing|that|the [a-z]+|them) )?back",
        "undo, reverse, revert",
        "def test_a_reorganisation_takes_the_completion_back(): ...",
        ("take the backup", "sends it back"),
    ),
    Rule("absurd", "absurd(?:ly)?", "state the limit", "an integer of absurd length"),
    Rule("like no", "like no [a-z]+ ever", "state the limit", "nested like no answer ever is"),
    Rule("none but", "none but", "only, except", "None but then", ("none of them, but",)),
    Rule(
        "all the same",
        f"(?<!are )(?<!is )(?<!were )all the same{END}",
        "anyway, or nothing",
        "def test_it_completes_all_the_same(): ...",
        ("they are all the same.", "all the same bytes"),
    ),
    Rule(
        "address of an endpoint",
        "nothing at this address|this address does not answer|address does not answer to this method",
        "no such endpoint, method not allowed",
        "There is nothing at this address.",
        ("no code at this address",),
    ),
    Rule(
        "a for per",
        rf"(?:\d+|four|one|three|two)\x20(?!of|in|is)[a-z`_]+\x20an?\x20{UNIT}{END}",
        "per",
        "keeps one connection a process.",
        ("one of a sweep.", "one provider cannot expire a sweep.", "five times a minute.", "test_one_cancels_a_sweep"),
    ),
)


def as_one_line(text: str) -> Joined:
    """Join the lines of a text without their comment marks and quotes."""
    lines = [LINE_END.sub("", LINE_START.sub("", line)) for line in text.split("\n")]
    return " ".join(lines), [0, *accumulate(len(line) + 1 for line in lines)]


def texts() -> dict[str, Joined]:
    """Every text file that git tracks, by path."""
    listed = subprocess.run(["/usr/bin/env", "git", "ls-files", "-z"], cwd=ROOT, capture_output=True, check=True).stdout
    paths = [path for path in listed.decode().split("\0") if path and not EXCLUDED.fullmatch(path)]
    contents = {path: (ROOT / path).read_bytes() for path in paths if (ROOT / path).is_file()}
    return {path: as_one_line(raw.decode()) for path, raw in contents.items() if b"\0" not in raw}


def main() -> int:
    """Print each fault with its place; returns the exit code."""
    wrong = [
        rule for rule in RULES if not any(rule.matches(rule.wrong)) or any(map(any, map(rule.matches, rule.right)))
    ]
    for rule in wrong:
        print(f"the examples of the rule {rule} contradict it")
    found = [
        f"{path}:{bisect_right(starts, match.start())}: {match[0]} (write {rule.instead})"
        for path, (text, starts) in texts().items()
        for rule in RULES
        for match in rule.matches(text)
    ]
    for fault in found:
        print(fault)
    return 1 if wrong or found else 0


def _agrees_with_its_examples(rule: Rule) -> bool:
    return any(rule.matches(rule.wrong)) and not any(any(rule.matches(phrase)) for phrase in rule.right)


if __name__ == "__main__":
    sys.exit(main())
