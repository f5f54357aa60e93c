"""What is released agrees with itself: version, changelog, citation, requirements, and documentation without other hosts."""

import importlib.util
import json
import os
import re
import shlex
import tomllib
from pathlib import Path

import pytest
import typer

import metaeval
from metaeval import cli
from metaeval.show.bibliography import bibliography

ROOT = Path(__file__).parent.parent
if not (ROOT / "CITATION.cff").exists():  # the tests run beside an installed copy
    pytest.skip("the repository is not here", allow_module_level=True)


def test_version_changelog_and_citation_agree():
    newest = re.search(r"^## (\S+)", (ROOT / "CHANGELOG.md").read_text("utf-8"), re.MULTILINE)[1]
    cited = re.search(r"^version: (\S+)$", (ROOT / "CITATION.cff").read_text("utf-8"), re.MULTILINE)[1]
    assert newest == cited == metaeval.__version__


def test_the_citation_names_papers_as_the_bibliography_does():
    titles = re.findall(r"^    title: \"?(.*?)\"?$", (ROOT / "CITATION.cff").read_text("utf-8"), re.MULTILINE)
    known = {re.sub(r"[{}]", "", one.fields["title"]).lower() for one in bibliography().values()}
    assert titles
    assert {title.lower() for title in titles} <= known


def test_pythons_that_are_named_are_those_that_are_required():
    project = tomllib.loads((ROOT / "pyproject.toml").read_text("utf-8"))["project"]
    named = re.findall(r"Python :: (3\.\d+)", " ".join(project["classifiers"]))
    assert project["requires-python"] == f">={named[0]}"
    assert f"Python {named[0]}" in (ROOT / "README.md").read_text("utf-8")


def load_docs(name):
    found = importlib.util.spec_from_file_location(name, ROOT / "docs" / f"{name}.py")
    module = importlib.util.module_from_spec(found)
    found.loader.exec_module(module)
    return module


def test_a_page_that_asks_another_host_would_be_found(tmp_path):
    check = load_docs("check_offline")
    (tmp_path / "index.html").write_text(
        '<a href="https://doi.org/1">a link</a><link rel="canonical" href="https://a.org/">'
        '<script src="https://b.org/x.js"></script><img src="//c.org/y.png"><p style="background:url(http://d.org/z)">'
    )
    (tmp_path / "a.css").write_text("@font-face { src: url('https://e.org/f.woff2') } p { background: url(data:x) }")
    found = " ".join(check.find_loads(tmp_path))
    assert re.findall(r"\w\.org", found) == ["b.org", "c.org", "d.org", "e.org"]


def test_the_answer_in_the_readme_is_what_its_command_says():
    render = load_docs("render_answer")
    readme = (ROOT / "README.md").read_text("utf-8")
    kept = json.loads((render.TARGET / "answer.json").read_text("utf-8"))
    assert f"$ {render.COMMAND}" in readme
    assert kept["verdict"] in readme
    if not (Path(os.environ.get("METAEVAL_DATA", "data")) / "stc3").exists():
        pytest.skip("stc3 is not in the folder that METAEVAL_DATA names")
    assert render.describe_answer(render.compare_example()) == kept


def test_every_formula_of_the_documentation_can_be_drawn():
    draw_formula = load_docs("render_maths").draw_formula
    blocks = [
        block
        for page in (ROOT / "docs").rglob("*.md")
        for block in re.findall(r"^\$\$\n(.*?)\n\$\$$", page.read_text("utf-8"), re.MULTILINE | re.DOTALL)
    ]
    from metaeval.measures.written import WRITTEN

    blocks += [one.latex.replace(r",\qquad", r"\\") for one in WRITTEN.values()]
    for line in (line.strip() for block in blocks for line in block.split(r"\\")):
        svg, depth = draw_formula(line)
        assert re.fullmatch(r"<svg.*><path d=\"M.*</svg>", svg, re.DOTALL), line
        assert 0 <= depth < 5


def test_the_gallery_shows_every_figure_that_a_command_draws():
    from metaeval.cli.analyses import ANALYSES

    shown = load_docs("render_gallery").FIGURES
    drawn = {*ANALYSES, "judges", "pooled-power"} | {
        f"{name}-{one}" for name, a in ANALYSES.items() for one in a.switches
    }
    assert set(shown) == drawn
    group = typer.main.get_command(cli.app)
    for command in shown.values():
        words = shlex.split(command)
        group.commands[words[1]].make_context(words[1], words[2:])


def test_a_notebook_becomes_a_page_with_its_code_and_what_it_printed():
    render = load_docs("render_notebooks")
    for path in sorted(render.FOLDER.glob("*.ipynb")):
        page = "\n".join(render.render_notebook(path.stem))
        assert page.startswith("# ")
        assert page.count("```python") > 3
        assert "base64," in page or '<div class="output">' in page
