"""The shape of the house: imports go one way."""

import ast
import functools
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
    return BELOW[room].union(*(allowed(one) for one in BELOW[room]))


@functools.cache
def read_modules():
    """Every module of the package and of the experiments, by its full name: its room and its statements."""
    found = {}
    for folder in ("metaeval", "experiments"):
        for path in sorted((HOUSE.parent / folder).rglob("*.py")):
            inside = path.relative_to(HOUSE.parent).with_suffix("").parts
            nodes = list(ast.walk(ast.parse(path.read_text(encoding="utf-8"))))
            room = inside[1] if folder == "metaeval" else folder
            found[".".join(inside).removesuffix(".__init__")] = room, nodes
    return found


HOUSE_MODULES = {name: one for name, one in read_modules().items() if one[0] not in ("experiments", "__init__")}


@functools.cache
def names_imported(name):
    """Every name that a module imports, with its module, inside functions and for the type checker too."""
    names = set()
    for node in read_modules()[name][1]:
        if isinstance(node, ast.ImportFrom) and node.module and not node.level:
            names |= {node.module, *(f"{node.module}.{alias.name}" for alias in node.names)}
        elif isinstance(node, ast.Import):
            names |= {alias.name for alias in node.names}
    return names


def test_imports_go_one_way_inside_functions_and_for_typing_too():
    assert {room for room, _ in HOUSE_MODULES.values()} == set(BELOW), "every room has its place"
    for name, (room, _) in HOUSE_MODULES.items():
        rooms = {part.split(".")[1] for part in names_imported(name) if part.startswith("metaeval.")}
        assert rooms <= {room} | allowed(room), name
        assert not any(part.split(".")[0] == "experiments" for part in names_imported(name)), name
    assert len(list(HOUSE.glob("*.py"))) <= 7, "few modules lie at the top"


def test_nothing_goes_round_the_rooms_by_way_of_the_package_itself():
    for name, (_, nodes) in HOUSE_MODULES.items():
        of_package = [one for one in nodes if isinstance(one, ast.Attribute) and isinstance(one.value, ast.Name)]
        assert {one.attr for one in of_package if one.value.id == "metaeval"} <= {"__version__"}, name


def test_experiments_import_nothing_private():
    for name in read_modules():
        if name.startswith("experiments"):
            private = [one for one in names_imported(name) if one.startswith("metaeval.") and "._" in one]
            assert not private, name


def test_no_file_imports_in_a_circle():
    files = read_modules()
    imports = {
        name: {other for other in names_imported(name) if other in files and other.count(".") and other != name}
        for name in files
    }
    graphlib.TopologicalSorter(imports).prepare()  # raises the circle that it finds


def test_modules_are_not_hidden_by_functions_of_their_names_and_leave_matplotlib_to_those_that_draw():
    """That each can be imported alone follows from there being no circle; pages of the playground draw."""
    names = ["metaeval", *(name for name, (room, _) in HOUSE_MODULES.items() if room not in ("__main__", "app"))]
    code = f"""
import sys, types
names, draws, drawn = {names!r}, {DRAWS!r}, False
for name in sorted(names, key=lambda name: name in draws):
    drawn = drawn or name in draws
    exec(f"import {{name}} as module")
    assert isinstance(module, types.ModuleType), f"{{name}} is hidden by {{module!r}}"
    assert drawn or "matplotlib" not in sys.modules, f"{{name}} imports matplotlib"
"""
    subprocess.run([sys.executable, "-W", "ignore", "-c", code], check=True, capture_output=True)


KERNELS = ("agreement", "anova", "letters", "pair_tests", "randomised_tukey", "split_half")


@pytest.mark.parametrize(
    ("modules", "heavy"),
    [
        (["metaeval.cli"], {"numpy", "pandas", "scipy", "matplotlib", "numba"}),
        ([f"metaeval.stats.{name}" for name in KERNELS], {"numba", "scipy", "statsmodels", "pandas", "joblib"}),
    ],
)
def test_the_command_line_and_the_kernels_start_without_the_heavy_packages(modules, heavy):
    code = f"import sys, {', '.join(modules)}; print(*sorted({heavy!r} & set(sys.modules)))"
    printed = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert printed.stdout.strip() == ""


def test_every_public_name_can_be_imported():
    import metaeval

    assert all(getattr(metaeval, name) is not None for name in metaeval.__all__)


def test_a_result_overrides_five_methods_at_most():
    for name in HOUSE_MODULES:
        if name.startswith("metaeval.analyses.") and not name.endswith("conftest"):
            importlib.import_module(name)
    shown = {name for name, each in vars(Result).items() if callable(each) and not name.startswith("__")}
    results, waiting = set(), [Result]
    while waiting:
        kinds = waiting.pop().__subclasses__()
        results |= set(kinds)
        waiting += kinds
    assert len(results) > 20
    for result in results:
        assert shown & set(vars(result)) <= {"answer", "tables", "charts", "frames", "beside"}, result
