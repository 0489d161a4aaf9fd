"""The repository describes itself correctly: settings, licenses, and the commands that CI and the hooks run."""

import re
from pathlib import Path

import pytest
import yaml
from django.conf import settings

from sweepapi.management.commands import configuration_doc

ROOT: Path = settings.BASE_DIR
MATRIX = "make ${{ matrix.command }}"  # each command of a matrix of a workflow
CHAIN = "<CHAIN>"  # ends the name of a variable that each chain may have


def read(path: str) -> str:
    return (ROOT / path).read_text()


def variables_of_the_code() -> set[str]:
    """What settings, gunicorn's configuration and compose.yaml read from the environment."""
    named = re.findall(
        r'\benv\.\w+\(\s*"([A-Z0-9_]+)"', read("config/settings.py") + read("config/console/settings.py")
    )
    named += [f"{prefix}{CHAIN}" for prefix in prefixes_of_chains()]
    named += re.findall(r'\bos\.environ\.\w+\("([A-Z0-9_]+)"', read("config/gunicorn.py"))
    named += re.findall(r"\$\{([A-Z0-9_]+)", read("compose.yaml"))
    return set(named)


def prefixes_of_chains() -> list[str]:
    return re.findall(r'\.removeprefix\("([A-Z0-9_]+)"\)', read("config/settings.py"))


def defaults_of_the_page() -> dict[str, str | None]:
    """Each variable of docs/configuration.md with its default; None if there is none."""
    rows = re.findall(r"^\| `([A-Z].*?)` \| .* \| (.*) \|$", read("docs/configuration.md"), re.MULTILINE)
    return {name: default.strip("`") if default.startswith("`") else None for name, default in rows}


def lines_of_the_example() -> dict[str, tuple[bool, str]]:
    """Each variable of .env.example: whether its line is commented out, and its value."""
    found = re.findall(r"^(# )?([A-Z][A-Z0-9_]+)=(.*)$", read(".env.example"), re.MULTILINE)
    of_chain = re.compile(f"^({'|'.join(prefixes_of_chains())}).*")
    return {of_chain.sub(rf"\1{CHAIN}", name): (bool(comment), value) for comment, name, value in found}


def test_the_committed_page_of_the_configuration_is_what_the_settings_generate() -> None:
    assert read("docs/configuration.md") == configuration_doc.document()


def test_the_page_and_the_example_list_every_variable_that_the_code_reads() -> None:
    assert set(defaults_of_the_page()) == variables_of_the_code()
    assert set(lines_of_the_example()) == variables_of_the_code()


def test_the_example_shows_the_defaults_of_the_page_and_leaves_required_variables_to_be_filled_in() -> None:
    defaults = defaults_of_the_page()
    shown = {name: value for name, (commented, value) in lines_of_the_example().items() if commented}
    assert shown == {name: defaults[name] or "" for name in shown}
    assert all(defaults[name] is None for name in defaults.keys() - shown.keys())


@pytest.mark.parametrize("workflow", sorted(path.name for path in (ROOT / ".github" / "workflows").iterdir()))
def test_hosted_ci_runs_the_projects_commands_with_pinned_actions(workflow: str) -> None:
    text = read(f".github/workflows/{workflow}")
    targets = {f"make {name}" for name in re.findall(r"^([a-z-]+):", read("Makefile"), re.MULTILINE)}
    jobs = yaml.safe_load(text)["jobs"].values()
    commands = {step["run"] for job in jobs for step in job["steps"] if "run" in step} - {MATRIX}
    matrices = [job["strategy"]["matrix"] for job in jobs if "strategy" in job]
    commands |= {f"make {name}" for matrix in matrices for name in matrix["command"]}
    assert commands <= targets | {".ci/run"}
    assert [used for used in re.findall(r"uses: (\S+)", text) if not re.search(r"@[0-9a-f]{40}$", used)] == []


def test_pre_commit_runs_checks_that_make_check_runs() -> None:
    checks = read("Makefile").replace("$(VENV)", ".venv")
    checks = checks.replace("$(FORGE)", "node_modules/@foundry-rs/forge-linux-amd64/bin/forge")
    (local,) = yaml.safe_load(read(".pre-commit-config.yaml"))["repos"]
    entries = [re.sub(r'^sh -c "(.*)"$', r"\1", hook["entry"]) for hook in local["hooks"]]
    assert [entry for entry in entries if f"\t{entry}\n" not in checks] == []


def test_every_contract_source_states_the_license() -> None:
    sources = [path for folder in ("src", "test", "dev") for path in (ROOT / "contracts" / folder).rglob("*.sol")]
    unlicensed = [path for path in sources if not path.read_text().startswith("// SPDX-License-Identifier: MIT\n")]
    assert sources
    assert unlicensed == []
