"""The drawing of the house in CONTRIBUTING.md: its rooms, what they hold, and which they import, read from the code.

``python docs/render_house.py`` renews it; a test says whether it is current.
"""

from __future__ import annotations

import ast
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]
PAGE = ROOT / "CONTRIBUTING.md"
START, END = "<!-- the house -->\n", "<!-- end -->\n"


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


def draw_house() -> str:
    """Return the rooms from the top floor down, each with the nearest rooms that it imports."""
    rooms = find_rooms()
    below = {room: (find_imports(files) & set(rooms)) - {room} for room, files in rooms.items()}

    def reach(room: str) -> set[str]:
        return below[room].union(*(reach(other) for other in below[room]))

    # What a neighbour imports need not be said again.
    near = {room: below[room] - set().union(*(reach(other) for other in below[room])) for room in rooms}
    floor = {room: len(reach(room)) for room in rooms}
    lines = ["| room | what it holds | imports |", "| :-- | :-- | :-- |"]
    for room in sorted(rooms, key=lambda name: (-floor[name], name)):
        face = next((path for path in rooms[room] if path.name == "__init__.py"), rooms[room][0])
        subject = (ast.get_docstring(ast.parse(face.read_text(encoding="utf-8"))) or "").splitlines()[0].rstrip(".")
        name = f"`{room}/`" if face.name == "__init__.py" else f"`{room}.py`"
        lines.append(f"| {name} | {subject} | {', '.join(sorted(near[room]))} |")
    return "\n".join(lines) + "\n"


def renew_page(text: str) -> str:
    """Return CONTRIBUTING.md with the house as it is now."""
    before, _, rest = text.partition(START)
    return before + START + "\n" + draw_house() + "\n" + END + rest.partition(END)[2]


if __name__ == "__main__":
    PAGE.write_text(renew_page(PAGE.read_text(encoding="utf-8")), encoding="utf-8")
