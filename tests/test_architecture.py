"""The shape of the house: imports go one way."""

import ast
import subprocess
import sys
from pathlib import Path

import pytest

HOUSE = Path(__file__).parent.parent / "metaeval"
if not HOUSE.exists():  # the tests run against an installed copy
    pytest.skip("the source tree is not here", allow_module_level=True)

# From the ground up: a module imports from its own floor's package and from floors below, never from above.
FLOORS = [
    {"errors"},
    {"files", "labels", "measures", "parallel", "stats"},
    {"conformance", "missing"},
    {"scores", "runs"},
    {"partition", "signature", "scoring", "store"},
    {"io", "analyses"},
    {"datasets", "report"},
    {"opening", "simulate"},
    {"compare"},
    {"cli"},
    {"__main__"},
]
FLOOR = {name: level for level, names in enumerate(FLOORS) for name in names}
# A result draws and prints itself by a one-line call into report, imported when it is called.
LATE = {("analyses", "report")}


def imports_of(path):
    """Yield (imported part of metaeval, whether it is imported inside a function)."""
    tree = ast.parse(path.read_text(encoding="utf-8"))
    # Inside a function, or only for the type checker.
    late = {
        id(inner)
        for node in ast.walk(tree)
        if isinstance(node, ast.FunctionDef) or (isinstance(node, ast.If) and "TYPE_CHECKING" in ast.unparse(node.test))
        for inner in ast.walk(node)
    }
    for node in ast.walk(tree):
        names = []
        if isinstance(node, ast.ImportFrom) and node.module and not node.level:
            names = [node.module] if node.module != "metaeval" else [f"metaeval.{alias.name}" for alias in node.names]
        elif isinstance(node, ast.Import):
            names = [alias.name for alias in node.names]
        for name in names:
            if name.startswith("metaeval."):
                yield name.split(".")[1], id(node) in late
            elif name == "experiments" or name.startswith("experiments."):
                yield "experiments", False


def parts():
    for path in sorted(HOUSE.rglob("*.py")):
        inside = path.relative_to(HOUSE).parts
        if inside != ("__init__.py",):
            yield path, inside[0].removesuffix(".py")


def test_every_part_of_the_house_has_its_floor():
    assert {part for _, part in parts()} <= set(FLOOR)


def test_imports_go_one_way():
    wrong = []
    for path, part in parts():
        for imported, late in imports_of(path):
            if imported == part or (late and (part, imported) in LATE):
                continue
            if FLOOR.get(imported, 99) >= FLOOR[part]:
                wrong.append(f"{path.relative_to(HOUSE)} imports {imported}")
    assert not wrong


def test_kernels_know_no_labels_and_analyses_no_measures_implementation_and_no_matplotlib():
    wrong = []
    for path, part in parts():
        text = path.read_text(encoding="utf-8")
        if part == "analyses" and (_imports_matplotlib(path) or _imports_an_implementation(path)):
            wrong.append(str(path))
        if part == "stats" and "metaeval.data.labels" in text:
            wrong.append(str(path))
    assert not wrong


def _imports_matplotlib(path):
    """The name of a figure's type, for the type checker, is not an import."""
    tree = ast.parse(path.read_text(encoding="utf-8"))
    guarded = {
        id(inner)
        for node in ast.walk(tree)
        if isinstance(node, ast.If) and "TYPE_CHECKING" in ast.unparse(node.test)
        for inner in ast.walk(node)
    }
    found = [
        node for node in ast.walk(tree) if isinstance(node, ast.Import | ast.ImportFrom) and id(node) not in guarded
    ]
    return any("matplotlib" in ast.unparse(node) for node in found)


def _imports_an_implementation(path):
    tree = ast.parse(path.read_text(encoding="utf-8"))
    modules = [node.module or "" for node in ast.walk(tree) if isinstance(node, ast.ImportFrom)]
    allowed = {"metaeval.measures.base", "metaeval.measures.registry"}
    return any(module.startswith("metaeval.measures") and module not in allowed for module in modules)


@pytest.mark.parametrize("heavy", ["pickle.load", "pickle.loads", "eval(", "exec(", "yaml.load(", "joblib.load("])
def test_nothing_is_unpickled_or_evaluated(heavy):
    for path, _ in parts():
        for line in path.read_text(encoding="utf-8").splitlines():
            bare = line.split("#")[0]
            assert f" {heavy}" not in bare, path
            assert f"({heavy}" not in bare, path


def test_the_command_line_starts_without_the_heavy_packages():
    heavy = "{'numpy', 'pandas', 'scipy', 'matplotlib', 'numba'}"
    code = f"import metaeval.cli, sys; print(*sorted({heavy} & set(sys.modules)))"
    printed = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert printed.stdout.strip() == ""


def test_every_public_name_can_be_imported():
    import metaeval

    for name in metaeval.__all__:
        assert getattr(metaeval, name) is not None
