"""Lists of what the code knows, in the pages themselves: between ``<!-- list: KIND WHAT -->`` and ``<!-- end -->``.

``python docs/renew.py`` renews them; a test says whether they are current.
"""

from __future__ import annotations

import ast
import re
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import metaeval

ROOT = Path(__file__).resolve().parents[1]
LIST = re.compile(
    r"(?P<start>^<!-- list: (?P<kind>\w+)(?: (?P<what>[^\n]+?))? -->\n).*?(?P<end>^<!-- end -->$)",
    re.MULTILINE | re.DOTALL,
)


def api(_: str) -> Iterator[str]:
    """List every name that ``import metaeval`` gives, with the first line of its docstring."""
    yield "| name | what it is |\n| :-- | :-- |"
    for name in sorted(metaeval.__all__, key=str.casefold):
        subject = (getattr(metaeval, name).__doc__ or "").splitlines()[0].replace("|", chr(92) + "|")
        yield f"| `{name}` | {subject} |"


def measures(_: str) -> Iterator[str]:
    """List the shipped measures."""
    from metaeval.measures import measures as registered
    from metaeval.measures.registry import is_shipped

    yield "| measure | takes | better | range | what it answers | source |\n| :-- | :-- | :-- | :-- | :-- | :-- |"
    for one in filter(is_shipped, registered()):
        takes = "counts" if one.kind == "classification" else "distributions"
        better = "higher" if one.higher_is_better else "lower"
        span = "{:g} to {:g}".format(*one.range).replace("inf", "∞").replace("-", "−")
        cells = (f"`{one}`", takes, better, span, one.description, one.source)
        yield f"| {' | '.join(cell.replace('|', chr(92) + '|') for cell in cells)} |"


def formulas(kind: str) -> Iterator[str]:
    """Write out the formulas of the shipped measures of a kind."""
    from metaeval.measures import measures as registered
    from metaeval.measures.registry import SYMBOLS, is_shipped

    yield SYMBOLS[kind].replace("*", r"\*").replace("_", r"\_") + ".\n"
    yield "| measure | formula |\n| :-- | :-- |"
    for one in filter(is_shipped, registered(kind)):
        yield f"| `{one.name}` | `{one.written.replace('|', chr(92) + '|')}` |"


def marks(kind: str) -> Iterator[str]:
    """Say of every shipped measure of a kind which formal properties it has, by search for counterexamples."""
    from metaeval.measures import measures as registered
    from metaeval.measures.registry import is_shipped

    frame = metaeval.properties([one for one in registered(kind) if is_shipped(one)]).to_table().frame
    yield f"| measure | {' | '.join(map(str, frame.columns))} |\n| :-- |{' :-: |' * frame.shape[1]}"
    for name, row in frame.iterrows():
        yield f"| `{name}` | {' | '.join(str(cell).partition(' ')[0] for cell in row)} |"


def bibliography(_: str) -> Iterator[str]:
    """List what measures, analyses, tests and data sets refer to, with links to where it can be read."""
    from metaeval.show.bibliography import bibliography as references

    for one in sorted(references().values(), key=lambda one: one.label.casefold()):
        doi = one.fields.get("doi", "")
        address = f"https://doi.org/{doi}" if doi else one.fields.get("url", "")
        link = f" [{doi or address}]({address})" if address else ""
        yield f"{one.label}\n: {one.to_text()}.{link} `{one.key}`\n"


def formats(what: str) -> Iterator[str]:
    """List the formats of scores, of logs, or of runs, with what their files look like."""
    from metaeval.io import LOG_FORMATS, RUN_FORMATS, SCORE_FORMATS

    yield "| format | what a file looks like |\n| :-- | :-- |"
    for one in {"scores": SCORE_FORMATS, "logs": LOG_FORMATS, "runs": RUN_FORMATS}[what].values():
        yield f"| `{one.name}` | {one.layout} |"


def commands(_: str) -> Iterator[str]:
    """Show what commands share, and then the help of every command, as sections of a Markdown page."""
    import typer

    from metaeval.cli import app
    from metaeval.cli.lookup import INTRODUCTIONS, explain_topic

    width = {"max_content_width": 88, "terminal_width": 88}
    commands: list[tuple[str, Any]] = [("metaeval", typer.main.get_command(app))]
    context = commands[0][1].make_context("metaeval", [], resilient_parsing=True, **width)
    for topic in INTRODUCTIONS:
        yield f"## metaeval help {topic}\n\n```text\n{explain_topic(topic, context)}```\n"
    for path, command in commands:  # which grows: groups have commands of their own
        inner = getattr(command, "commands", {})
        commands += [(f"{path} {name}", one) for name, one in inner.items()]
        if not inner:
            context = command.make_context(path, [], resilient_parsing=True, **width)
            yield f"## {path}\n\n```text\n{context.get_help()}\n```\n"


def find_rooms() -> dict[str, list[Path]]:
    """Return the files of each room of the package, by its name."""
    package = ROOT / "metaeval"
    rooms = {path.name: sorted(path.rglob("*.py")) for path in package.iterdir() if (path / "__init__.py").exists()}
    return rooms | {path.stem: [path] for path in package.glob("*.py") if not path.stem.startswith("__")}


def find_imports(files: list[Path]) -> set[str]:
    """Return the rooms of metaeval that some files import, inside functions too."""
    modules = set()
    for path in files:
        for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
            if isinstance(node, ast.ImportFrom) and not node.level:
                modules |= (
                    {node.module} if node.module != "metaeval" else {f"metaeval.{name.name}" for name in node.names}
                )
            elif isinstance(node, ast.Import):
                modules |= {name.name for name in node.names}
    return {module.split(".")[1] for module in modules if module and module.startswith("metaeval.")}


def house(_: str) -> Iterator[str]:
    """Draw the rooms from the top floor down, each with the nearest rooms that it imports."""
    rooms = find_rooms()
    below = {room: (find_imports(files) & set(rooms)) - {room} for room, files in rooms.items()}

    def reach(room: str) -> set[str]:
        return below[room].union(*(reach(other) for other in below[room]))

    # What a neighbour imports need not be said again.
    near = {room: below[room] - set().union(*(reach(other) for other in below[room])) for room in rooms}
    floor = {room: len(reach(room)) for room in rooms}
    yield "| room | what it holds | imports |\n| :-- | :-- | :-- |"
    for room in sorted(rooms, key=lambda name: (-floor[name], name)):
        face = next((path for path in rooms[room] if path.name == "__init__.py"), rooms[room][0])
        subject = (ast.get_docstring(ast.parse(face.read_text(encoding="utf-8"))) or "").splitlines()[0].rstrip(".")
        name = f"`{room}/`" if face.name == "__init__.py" else f"`{room}.py`"
        yield f"| {name} | {subject} | {', '.join(sorted(near[room]))} |"


LISTS: dict[str, Callable[[str], Iterator[str]]] = {
    "api": api,
    "bibliography": bibliography,
    "commands": commands,
    "formats": formats,
    "formulas": formulas,
    "house": house,
    "marks": marks,
    "measures": measures,
}


def renew_lists(text: str) -> str:
    """Return a page with its lists as they are now."""
    return LIST.sub(
        lambda found: (
            f"{found['start']}\n" + "\n".join(LISTS[found["kind"]](found["what"] or "")) + f"\n\n{found['end']}"
        ),
        text,
    )


def list_pages() -> list[Path]:
    """Return the pages that hold such lists."""
    pages = [ROOT / "CONTRIBUTING.md", *sorted((ROOT / "docs").rglob("*.md"))]
    return [page for page in pages if "_build" not in page.parts and LIST.search(page.read_text("utf-8"))]
