"""The code that the reference shows of each operation reaches it, in every language."""

import json
import sys
from itertools import pairwise
from pathlib import Path

import pytest

from sweepapi.api.openapi.document import document
from tests.dev.snippets import Block, blocks_of, documents_in, run

pytestmark = pytest.mark.django_db(transaction=True)

SOME_ID = "0197a3c4-5d6e-7f80-9a1b-2c3d4e5f6071"
VARIABLES = {"SWEEP_ID": SOME_ID, "WEBHOOK_ID": SOME_ID, "MONTH": "2999-12"}
# How each language runs many files in one process, and says before each which one it is.
RUNNERS = {
    "sh": 'for file in *.sh; do echo \\"$file\\"; bash -e $file; done',
    "ts": 'node --no-warnings --input-type=module --eval \'import { readdirSync } from "node:fs";\n'
    'for (const file of readdirSync(".").filter((file) => file.endsWith(".ts")).sort()) {\n'
    "  console.log(JSON.stringify(file)); await import(`${process.cwd()}/${file}`); }'",
    "py": f'{sys.executable} -c \'import glob, runpy\nfor file in sorted(glob.glob("*.py")):\n'
    "  print(chr(34) + file + chr(34)); runpy.run_path(file)'",
}
# What the values of the document are refused with on this chain; anything else says that a sample is wrong.
REFUSALS = {"unsupported_chain", "sweep_not_found", "webhook_not_found", "statement_not_ready"}


@pytest.mark.parametrize("suffix", RUNNERS)
def test_each_sample_is_a_request_that_its_operation_understands(
    site_pages: Path, snippets: dict[str, str], tmp_path: Path, suffix: str
) -> None:
    pages = sorted(site_pages.glob("reference/*/index.html"))
    language = list(RUNNERS).index(suffix)
    samples = [Block(f"{page.parent.name}.{suffix}", blocks_of(page.read_text())[language].content) for page in pages]
    paths = json.loads(document().plain.body)["paths"]
    assert len(samples) == sum(len(operations) for operations in paths.values())

    printed = documents_in(run([*samples, Block(None, RUNNERS[suffix])], tmp_path / "samples", snippets | VARIABLES))

    codes = dict.fromkeys((block.title for block in samples), "")
    for before, found in pairwise(printed):
        if isinstance(before, str) and isinstance(found, dict):
            codes[before] = "" if found["ok"] else found["error"]["code"]
    assert printed.count(samples[-1].title) == 1
    assert {name: code for name, code in codes.items() if code and code not in REFUSALS} == {}
