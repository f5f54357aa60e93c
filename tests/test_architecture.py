"""The shape of the house: imports go one way."""

import ast
import graphlib
import subprocess
import sys
from pathlib import Path

import pytest

HOUSE = Path(__file__).parent.parent / "metaeval"
if not HOUSE.exists():  # the tests run against an installed copy
    pytest.skip("the source tree is not here", allow_module_level=True)

# What each room may import, besides itself and the rooms that those may import.
BELOW = {  # a floor a line
    "errors": set(), "files": {"errors"}, "stats": {"errors"},
    "measures": {"files", "stats"}, "show": {"files"},
    "data": {"measures", "show"}, "io": {"data"}, "datasets": {"io"},
    "analyses": {"datasets"}, "comparison": {"analyses"},
    "app": {"comparison"}, "cli": {"app"}, "__main__": {"cli"},
}  # fmt: skip
DRAWS = {f"metaeval.show.{name}" for name in ("canvas", "drawing", "heatmap", "labels")}
"""Modules that need matplotlib as soon as they are imported; everybody else waits until something is drawn."""


def allowed(room):
    return BELOW[room].union(*(allowed(one) for one in BELOW[room]))


def read_modules(folder):
    """Every module of the package or of the experiments by its full name, with its statements."""
    found = {}
    for path in sorted((HOUSE.parent / folder).rglob("*.py")):
        name = ".".join(path.relative_to(HOUSE.parent).with_suffix("").parts).removesuffix(".__init__")
        found[name] = list(ast.walk(ast.parse(path.read_text("utf-8"))))
    return found


def names_imported(nodes):
    """Every name that is imported, with its module, inside functions and for the type checker too."""
    modules = {alias.name for node in nodes if isinstance(node, ast.Import) for alias in node.names}
    froms = [node for node in nodes if isinstance(node, ast.ImportFrom) and node.module and not node.level]
    parts = {f"{node.module}.{alias.name}" for node in froms for alias in node.names}
    return modules | parts | {node.module for node in froms}


MODULES, EXPERIMENTS = read_modules("metaeval"), read_modules("experiments")
IMPORTS = {name: names_imported(nodes) for name, nodes in (MODULES | EXPERIMENTS).items()}
ROOMS = {name: name.split(".")[1] for name in MODULES if "." in name}


def test_imports_go_one_way_inside_functions_and_for_typing_too():
    assert {*ROOMS.values()} == set(BELOW), "every room has its place"
    for name, room in ROOMS.items():
        rooms = {part.split(".")[1] for part in IMPORTS[name] if part.startswith("metaeval.")}
        assert rooms <= {room} | allowed(room), name
        assert not any(part.split(".")[0] == "experiments" for part in IMPORTS[name]), name
        # Nothing goes round the rooms by way of the package itself.
        attributes = [one for one in MODULES[name] if isinstance(one, ast.Attribute)]
        of_package = {one.attr for one in attributes if ast.unparse(one.value) == "metaeval"}
        assert of_package <= {"__version__"}, name
    for name in EXPERIMENTS:
        assert not [one for one in IMPORTS[name] if one.startswith("metaeval.") and "._" in one], f"{name}: private"
    assert len(list(HOUSE.glob("*.py"))) <= 7, "few modules lie at the top"


def test_no_file_imports_in_a_circle():
    circles = {
        name: {other for other in names if other in IMPORTS and "." in other and other != name}
        for name, names in IMPORTS.items()
    }
    graphlib.TopologicalSorter(circles).prepare()  # raises the circle that it finds


def test_modules_are_not_hidden_by_functions_of_their_names_and_leave_matplotlib_to_those_that_draw():
    """That each can be imported alone follows from there being no circle; pages of the playground draw."""
    names = ["metaeval", *(name for name, room in ROOMS.items() if room not in ("__main__", "app"))]
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


def test_the_kernels_start_without_the_heavy_packages():
    kernels = ("agreement", "anova", "letters", "pair_tests", "randomised_tukey", "split_half")
    modules = ", ".join(f"metaeval.stats.{name}" for name in kernels)
    heavy = {"numba", "scipy", "statsmodels", "pandas", "joblib"}
    code = f"import sys, {modules}; print(*sorted({heavy!r} & set(sys.modules)))"
    printed = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert printed.stdout.strip() == ""
