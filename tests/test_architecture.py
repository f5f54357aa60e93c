"""The shape of the house: imports go one way."""

import ast
import graphlib
import importlib
import subprocess
import sys
from pathlib import Path

import pytest

from metaeval.analyses.result import Result

HOUSE = Path(__file__).parent.parent / "metaeval"
if not HOUSE.exists():  # the tests run against an installed copy
    pytest.skip("the source tree is not here", allow_module_level=True)

# What each room may import, besides itself and the rooms that those may import.
BELOW = {
    "errors": set(),
    "files": {"errors"},
    "stats": {"errors"},
    "measures": {"files", "stats"},
    "show": {"files"},
    "data": {"measures", "show"},
    "io": {"data"},
    "datasets": {"io"},
    "analyses": {"datasets"},
    "comparison": {"analyses"},
    "app": {"comparison"},
    "cli": {"app"},
    "__main__": {"cli"},
}
DRAWS = {f"metaeval.show.{name}" for name in ("canvas", "drawing", "heatmap", "labels")}
"""Modules that need matplotlib as soon as they are imported; everybody else waits until something is drawn."""


def allowed(room):
    below = BELOW[room]
    return below.union(*(allowed(one) for one in below))


def parts():
    for path in sorted(HOUSE.rglob("*.py")):
        inside = path.relative_to(HOUSE).parts
        if inside != ("__init__.py",):
            yield path, inside[0].removesuffix(".py")


def imports_of(path):
    """Yield every room that a file imports, inside functions and for the type checker too."""
    for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
        names = []
        if isinstance(node, ast.ImportFrom) and node.module and not node.level:
            names = [node.module] if node.module != "metaeval" else [f"metaeval.{alias.name}" for alias in node.names]
        elif isinstance(node, ast.Import):
            names = [alias.name for alias in node.names]
        for name in names:
            if name.startswith("metaeval."):
                yield name.split(".")[1]
            elif name.split(".")[0] == "experiments":
                yield "experiments"


def test_every_room_has_its_place():
    assert {room for _, room in parts()} == set(BELOW)


def test_imports_go_one_way_inside_functions_and_for_typing_too():
    wrong = [
        f"{path.relative_to(HOUSE)} imports {imported}"
        for path, room in parts()
        for imported in imports_of(path)
        if imported != room and imported not in allowed(room)
    ]
    assert not wrong


def test_nothing_goes_round_the_rooms_by_way_of_the_package_itself():
    wrong = []
    for path, _ in parts():
        for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
            if isinstance(node, ast.Attribute) and isinstance(node.value, ast.Name) and node.value.id == "metaeval":
                wrong += [f"{path.relative_to(HOUSE)}: metaeval.{node.attr}"] * (node.attr != "__version__")
    assert not wrong


def test_few_modules_lie_at_the_top():
    assert len(list(HOUSE.glob("*.py"))) <= 7


def test_experiments_import_nothing_private():
    wrong = []
    for path in sorted(HOUSE.parent.joinpath("experiments").rglob("*.py")):
        for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
            if isinstance(node, ast.ImportFrom) and (node.module or "").startswith("metaeval"):
                names = [*node.module.split("."), *(alias.name for alias in node.names)]
                wrong += [f"{path.name}: {node.module}" for name in names if name.startswith("_")]
    assert not wrong


def module_names():
    names = ["metaeval"]
    for path, _ in parts():
        inside = path.relative_to(HOUSE).with_suffix("").parts
        names.append(".".join(["metaeval", *(part for part in inside if part != "__init__")]))
    return [name for name in names if not name.endswith("__main__")]


def test_modules_are_not_hidden_by_functions_of_their_names_and_leave_matplotlib_to_those_that_draw():
    """That each can be imported alone follows from there being no circle."""
    code = f"""
import sys, types
names, draws, drawn = {module_names()!r}, {DRAWS!r}, False
for name in sorted(names, key=lambda name: (name.startswith("metaeval.app"), name in draws)):
    drawn = drawn or name in draws or name.startswith("metaeval.app")
    exec(f"import {{name}} as module")
    assert isinstance(module, types.ModuleType), f"{{name}} is hidden by {{module!r}}"
    assert drawn or "matplotlib" not in sys.modules, f"{{name}} imports matplotlib"
"""
    subprocess.run([sys.executable, "-W", "ignore", "-c", code], check=True, capture_output=True)


def test_the_command_line_starts_without_the_heavy_packages():
    heavy = "{'numpy', 'pandas', 'scipy', 'matplotlib', 'numba'}"
    code = f"import metaeval.cli, sys; print(*sorted({heavy} & set(sys.modules)))"
    printed = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert printed.stdout.strip() == ""


def test_every_public_name_can_be_imported():
    import metaeval

    for name in metaeval.__all__:
        assert getattr(metaeval, name) is not None


def modules():
    """Every module of the package and of the experiments with its file, by its full name."""
    for folder in ("metaeval", "experiments"):
        for path in sorted((HOUSE.parent / folder).rglob("*.py")):
            yield ".".join(path.relative_to(HOUSE.parent).with_suffix("").parts).removesuffix(".__init__"), path


def test_no_file_imports_in_a_circle():
    files = dict(modules())
    imports = {}
    for name, path in files.items():
        named = set()
        for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
            if isinstance(node, ast.ImportFrom) and node.module and not node.level:
                named |= {node.module, *(f"{node.module}.{alias.name}" for alias in node.names)}
            elif isinstance(node, ast.Import):
                named |= {alias.name for alias in node.names}
        imports[name] = {other for other in named if other in files and other.count(".") and other != name}
    graphlib.TopologicalSorter(imports).prepare()  # raises the circle that it finds


def test_a_result_overrides_five_methods_at_most():
    for path in sorted((HOUSE / "analyses").glob("*.py")):
        if path.stem != "conftest":
            importlib.import_module(f"metaeval.analyses.{path.stem}")
    shown = {name for name, each in vars(Result).items() if callable(each) and not name.startswith("__")}
    results, waiting = set(), [Result]
    while waiting:
        kinds = waiting.pop().__subclasses__()
        results |= set(kinds)
        waiting += kinds
    assert len(results) > 20
    for result in results:
        assert shown & set(vars(result)) <= {"answer", "tables", "charts", "frames", "beside"}, result
