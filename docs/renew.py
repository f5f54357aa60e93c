"""Every output that the pages show: ``python docs/renew.py [PAGE …]`` runs what printed it, and writes what it prints now.

- What commands print. A console block with lines below a command quotes its first paragraphs, as many as stand there.
- What Python examples print, where it is no longer the same; and what notebooks print.
- Lists of what the code knows.
- Without PAGE also docs/front/, and every number that a template takes from the results.
"""

from __future__ import annotations

import contextlib
import doctest
import os
import re
import shlex
import subprocess
import sys
import tempfile
import traceback
import warnings
from collections.abc import Iterator
from pathlib import Path
from typing import NamedTuple

from metaeval.errors import PolicyWarning

ROOT = Path(__file__).resolve().parents[1]
DOCS = ROOT / "docs"
FENCE = re.compile(
    r"^```(?:\{code-block\} )?(?P<language>\w+)\n(?::caption: (?P<file>\S+)\n\n)?(?P<text>.*?)^```$",
    re.MULTILINE | re.DOTALL,
)
FLAGS = doctest.NORMALIZE_WHITESPACE | doctest.ELLIPSIS


class Block(NamedTuple):
    """One fenced block of a page; `file` is the name in its caption."""

    language: str
    file: str | None
    text: str

    @property
    def commands(self) -> list[str]:
        """Return the command lines of a console block."""
        lines = self.text.splitlines() if self.language == "console" else []
        return [line[2:].partition("  #")[0].strip() for line in lines if line.startswith("$ ")]

    @property
    def quotes(self) -> bool:
        """Whether a console block has lines below a command."""
        return self.language == "console" and any(not line.startswith("$ ") for line in self.text.splitlines())


def find_blocks(text: str) -> list[Block]:
    """Return the fenced blocks of a page."""
    return [Block(*found.group("language", "file", "text")) for found in FENCE.finditer(text)]


def list_pages() -> list[Path]:
    """Return README.md and all pages of the documentation."""
    return [ROOT / "README.md", *sorted(page for page in DOCS.rglob("*.md") if "_build" not in page.parts)]


def shows_output(page: Path) -> bool:
    """Whether a page quotes a command, or has an example of Python."""
    return any(one.quotes or one.language == "pycon" for one in find_blocks(page.read_text("utf-8")))


@contextlib.contextmanager
def enter_folder(text: str) -> Iterator[Path]:
    """Work where a page's commands find what they read: its captioned files, else those of the front page; and ``data``."""
    files = {one.file: one.text for one in find_blocks(text) if one.file}
    front = [path for path in (DOCS / "front").rglob("*.*") if not files]
    files |= {str(path.relative_to(DOCS / "front")): path.read_text("utf-8") for path in front}
    here, before = Path.cwd(), list(sys.path)
    with tempfile.TemporaryDirectory() as made:
        folder = Path(made)
        for name, content in files.items():
            (folder / name).parent.mkdir(parents=True, exist_ok=True)
            (folder / name).write_text(content, "utf-8")
        if os.environ.get("METAEVAL_DATA"):
            (folder / "data").symlink_to(Path(os.environ["METAEVAL_DATA"]).resolve())
        os.chdir(folder)
        sys.path.insert(0, str(folder))
        try:
            yield folder
        finally:
            os.chdir(here)
            sys.path[:] = before


def run_command(command: str, folder: Path) -> str:
    """Return what a command prints in a terminal of 80 columns."""
    words = [sys.executable, "-m", "metaeval", *shlex.split(command)[1:]]
    path = os.pathsep.join([str(ROOT), *filter(None, [os.environ.get("PYTHONPATH")])])
    environment = os.environ | {"COLUMNS": "80", "PYTHONPATH": path}
    done = subprocess.run(words, cwd=folder, env=environment, capture_output=True, text=True, check=False)  # noqa: S603
    if done.returncode:
        raise RuntimeError(f"{command}\n{done.stderr}")
    return done.stdout.strip()


def renew_quotes(block: str, folder: Path) -> str:
    """Return a console block whose quotes are what its commands print now; all of its commands are run."""
    parts = re.split(r"^\$ (.*)\n", block, flags=re.MULTILINE)[1:]
    written = ""
    for command, quote in zip(parts[::2], parts[1::2], strict=True):
        printed = run_command(command.partition("  #")[0], folder).split("\n\n")
        shown = "\n\n".join(printed[: len(quote.strip().split("\n\n"))])
        written += f"$ {command}\n" + (f"{shown}\n" if quote.strip() else "")
    return written


class _Renewal(doctest.DocTestRunner):
    """Keeps what failing examples print, instead of complaining."""

    def __init__(self) -> None:
        super().__init__(optionflags=FLAGS, verbose=False)
        self.printed: dict[int, str] = {}

    def report_failure(self, out: object, test: object, example: doctest.Example, got: str) -> None:
        self.printed[example.lineno] = got

    def report_unexpected_exception(
        self, out: object, test: object, example: doctest.Example, exc_info: object
    ) -> None:
        raise RuntimeError(f"{example.source}{''.join(traceback.format_exception(*exc_info))}")  # type: ignore[misc]


def renew_examples(block: str, names: dict[str, object]) -> str:
    """Return a block of Python whose examples show what they print now; one that raises stops it."""
    test, runner = doctest.DocTestParser().get_doctest(block, names, "page", None, 0), _Renewal()
    runner.run(test, out=lambda _: None, clear_globs=False)
    names.update(test.globs)
    lines = block.splitlines(keepends=True)
    for example in reversed(test.examples):
        if example.lineno in runner.printed:
            start = example.lineno + example.source.count("\n")
            lines[start : start + example.want.count("\n")] = [runner.printed[example.lineno]]
    return "".join(lines)


def renew_text(text: str) -> str:
    """Return a page that shows what is printed now; of commands, those are run that it quotes, or all if it brings files."""
    names: dict[str, object] = {}
    brings_files = any(one.file for one in find_blocks(text))

    def renew(found: re.Match[str]) -> str:
        one = Block(*found.group("language", "file", "text"))
        if one.language == "pycon":
            return found[0].replace(one.text, renew_examples(one.text, names))
        if one.quotes or (brings_files and one.commands):
            return found[0].replace(one.text, renew_quotes(one.text, folder))
        return found[0]

    with enter_folder(text) as folder, warnings.catch_warnings():
        warnings.simplefilter("ignore", PolicyWarning)
        return FENCE.sub(renew, text)


def renew_notebook(path: Path) -> None:
    """Run a notebook from top to bottom, and keep what it prints."""
    import nbclient
    import nbformat

    notebook = nbformat.read(path, as_version=4)
    about = dict(notebook.metadata)
    with tempfile.TemporaryDirectory() as folder:
        nbclient.NotebookClient(notebook, record_timing=False, resources={"metadata": {"path": folder}}).execute()
    notebook.metadata = nbformat.from_dict(about)  # without the version of this Python
    nbformat.write(notebook, path)


def main(pages: list[str]) -> None:
    """Renew the pages that are named, or everything."""
    sys.path[:0] = [str(ROOT), str(DOCS)]
    import lists
    from render_front import write_front

    from experiments.prose import fill_pages

    for page in map(Path, pages):
        if page.suffix == ".ipynb":
            renew_notebook(page)
            continue
        before = page.read_text("utf-8")
        after = lists.renew_lists(renew_text(before))
        if after != before:
            page.write_text(after, "utf-8")
            print(f"renewed {page}", file=sys.stderr)
    if not pages:
        write_front()
        for page in lists.list_pages():
            page.write_text(lists.renew_lists(page.read_text("utf-8")), "utf-8")
        for (
            page
        ) in list_pages():  # each by itself: a page may define measures, and modules, that another one defines too
            if shows_output(page):
                subprocess.run([sys.executable, __file__, str(page)], check=True)  # noqa: S603
        for page in fill_pages():
            print(f"renewed {page}", file=sys.stderr)


if __name__ == "__main__":
    main(sys.argv[1:])
