"""The pages of each community: every command is run on the data that lie here, and prints the lines that a page quotes."""

import os
import re
import shlex
from pathlib import Path

import pytest

PAGES = sorted((Path(__file__).parents[2] / "docs" / "communities").glob("*.md"))
DATA = Path(os.environ.get("METAEVAL_DATA", "none"))
NEEDED = ("wmt23", "dl21", "evals", "alttest", "stc3", "trec", "semeval2016")
BLOCK = re.compile(
    r"^```\{code-block\} (console|text)\n(?::caption: (?P<file>\S+)\n\n)?(?P<text>.*?)^```$", re.MULTILINE | re.DOTALL
)

pytestmark = pytest.mark.skipif(
    not all((DATA / name).is_dir() for name in NEEDED), reason=f"METAEVAL_DATA does not hold all of {', '.join(NEEDED)}"
)


def squeeze(line):
    return " ".join(line.split())


@pytest.mark.parametrize("page", [page for page in PAGES if page.name != "index.md"], ids=lambda page: page.stem)
def test_the_commands_of_a_page_print_what_it_quotes(page, run, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "data").symlink_to(DATA)
    printed, commands, quoted = "", 0, 0
    for block in BLOCK.finditer(page.read_text(encoding="utf-8")):
        if block["file"]:
            (tmp_path / block["file"]).write_text(block["text"])
        elif block[1] == "console":
            printed = ""
            for line in block["text"].strip().splitlines():
                status, out, err = run(*shlex.split(line.removeprefix("$ metaeval ")))
                assert status == 0, f"{line}: {err}"
                printed += out
                commands += 1
        else:
            lines = {squeeze(line) for line in printed.splitlines()}
            for line in block["text"].strip().splitlines():
                assert any(squeeze(line) in one for one in lines), f"{line}\n{printed}"
                quoted += 1
    assert commands
    assert quoted
