"""Makes our copy of Unicode's ``confusables.txt`` from the published file: ``python -m dev.pinned.confusables FILE``.

Unicode publishes each version under ``/Public/security/VERSION/confusables.txt``. The copy has all of its mappings, and
not the comments, which are nine tenths of it.
"""

import re
import sys
from collections import defaultdict
from pathlib import Path

from sweepapi.evm.tokens.skeletons import CONFUSABLES

_MAPPING = re.compile(r"([0-9A-F]{4,6}) ;\t([0-9A-F ]+) ;\tMA")
_HEADER = """# Each prototype, and the characters that look like it, as hex: confusables.txt of Unicode {version}.
# Copyright Unicode, Inc.; UNICODE-LICENSE has its license.
"""


def compact(published: str) -> str:
    """Return Unicode's file without what we don't read; raises ``ValueError`` if it has another format."""
    found = (re.search(rf"^# {name}: (\S+)$", published, re.MULTILINE) for name in ("Version", "total"))
    version, total = (match.group(1) if match else "" for match in found)
    sources = defaultdict(list)
    for line in published.splitlines():
        if mapping := _MAPPING.match(line):
            sources[mapping.group(2).strip()].append(mapping.group(1))
    if not version or str(sum(map(len, sources.values()))) != total:
        raise ValueError("This is not Unicode's confusables.txt, or its format has changed.")
    lines = (f"{prototype}: {' '.join(sorted(alike))}\n" for prototype, alike in sorted(sources.items()))
    return _HEADER.format(version=version) + "".join(lines)


if __name__ == "__main__":
    CONFUSABLES.write_text(compact(Path(sys.argv[1]).read_text(encoding="utf-8-sig")), encoding="utf-8")
