"""The documentation says what the code does, and what is released agrees with itself.

Its examples run, its commands exist, every analysis has a page, and versions, requirements and citations are the same.
"""

import inspect
import os
import re
import runpy
import shlex
import sys
import tomllib
from itertools import dropwhile
from pathlib import Path
from types import SimpleNamespace

import pytest
import typer

import metaeval
from experiments.__main__ import run as run_experiments
from experiments.paper import PAPERS
from metaeval import cli
from metaeval.cli.analyses import ANALYSES
from metaeval.measures import registry
from metaeval.show.bibliography import bibliography
from metaeval.show.drawing import save_figure

ROOT = Path(__file__).parent.parent
DOCS = ROOT / "docs"
if not (DOCS / "index.md").exists():  # the tests run beside an installed copy
    pytest.skip("the documentation is not here", allow_module_level=True)

PROJECT = tomllib.loads((ROOT / "pyproject.toml").read_text("utf-8"))["project"]
DATA = Path(os.environ.get("METAEVAL_DATA") or "nowhere")
FOLDERS = {  # of the data sets that examples use
    "stc3-dq": "stc3", "sem16t4": "semeval2016", "data/dl21": "dl21", "data/evals": "evals", "livebench": "evals",
    "llmjudge": "llmjudge", "trec-": "trec", "alttest-": "alttest", "wmt23-": "wmt23",
}  # fmt: skip
PAGES = [page for page in sorted(DOCS.rglob("*.md")) if "_build" not in page.parts]
CONCEPTS = [page for page in PAGES if page.parent.name == "concepts" and page.name != "index.md"]


def load_docs(name):
    return SimpleNamespace(**runpy.run_path(str(DOCS / f"{name}.py")))


RENEW, LISTS, GALLERY, SEARCH = map(load_docs, ("renew", "lists", "render_gallery", "render_search"))


def blocks(page):
    return RENEW.find_blocks(page.read_text("utf-8"))


def test_every_fenced_block_is_seen_by_these_tests():
    for page in PAGES:
        text = page.read_text("utf-8")
        opened_and_closed = re.findall(r"^```", text, re.MULTILINE)
        generated = re.findall(r"^```\{(?:toctree|include)\}", text, re.MULTILINE)
        assert len(opened_and_closed) == 2 * (len(blocks(page)) + len(generated)), page


@pytest.fixture
def _as_a_new_user(monkeypatch):
    """With the shipped measures only, and without modules that a page brought."""
    shipped = {name: one for name, one in registry._MEASURES.items() if registry.is_shipped(one)}
    monkeypatch.setattr(registry, "_MEASURES", shipped)
    before = set(sys.modules)
    yield
    for name in set(sys.modules) - before:
        file = getattr(sys.modules[name], "__file__", None)
        if file and not Path(file).exists():
            del sys.modules[name]


def each_page(pages, is_quick):
    """A test of each page; those that take long are tried at night."""
    marks = {page: () if is_quick(page) else pytest.mark.nightly for page in pages}
    return pytest.mark.parametrize("page", [pytest.param(page, id=page.stem, marks=marks[page]) for page in marks])


@pytest.mark.usefixtures("_as_a_new_user")
@each_page(filter(RENEW.shows_output, RENEW.list_pages()), lambda page: page.stem == "properties")
def test_a_page_shows_what_its_commands_and_examples_print(page):
    text = page.read_text("utf-8")
    needed = "".join(one.text for one in blocks(page) if one.language in ("pycon", "console"))
    for name, folder in FOLDERS.items():
        if name in needed and not (DATA / folder).is_dir():
            pytest.skip(f"this page's examples need {folder}/ in the folder that METAEVAL_DATA names")
    assert RENEW.renew_text(text) == text, f"python docs/renew.py {page.relative_to(ROOT)}"


# Marks are searched for in thousands of cases.
@each_page(LISTS.list_pages(), lambda page: "list: marks" not in page.read_text("utf-8"))
def test_lists_of_what_the_code_knows_are_current(page):
    text = page.read_text("utf-8")
    assert LISTS.renew_lists(text) == text, "python docs/renew.py"


@pytest.mark.usefixtures("_as_a_new_user")
def test_a_stale_page_is_renewed():
    page = (
        "```{code-block} text\n:caption: a.csv\n\nrun,topic,measure,score\nr,t,AP,0.5\ns,t,AP,0.6\n```\n"
        "```console\n$ metaeval robustness --help\nstale\n```\n"
        "```pycon\n>>> 1 + 1\n3\n>>> from pathlib import Path\n>>> Path('a.csv').read_text()[:3]\n'run'\n```\n"
    )
    renewed = RENEW.renew_text(page)
    printed = renewed.partition("--help\n")[2].partition("\n```")[0]
    assert printed.startswith("Usage: ")
    assert renewed == page.replace("stale", printed).replace("3\n>>>", "2\n>>>")
    with pytest.raises(RuntimeError, match="ZeroDivisionError"):
        RENEW.renew_text("```pycon\n>>> 1 / 0\n1\n```\n")


def parse_command(words):
    """Parse a command line as the program would, without running anything."""
    name, *rest = words
    commands = typer.main.get_command(cli.app).commands
    assert name in commands, f"there is no command {name}"
    commands[name].make_context(name, rest)


COMMANDS = [
    pytest.param(command, id=f"{page.name}: {command}")
    for page in PAGES for one in blocks(page) for command in one.commands
    if "metaeval " in command or "experiments" in command
]  # fmt: skip


@pytest.mark.parametrize("command", COMMANDS)
def test_every_command_on_a_page_is_one_with_such_options(command):
    # Variables of the environment come before the program; what looks alike behind it belongs to an option.
    words = list(dropwhile(lambda word: re.fullmatch(r"\w+=\S+", word), shlex.split(command)))
    if words[0] == "metaeval":
        parse_command(words[1:])
    elif words[:3] == ["python", "-m", "experiments"]:
        app = typer.Typer()
        app.command()(run_experiments)
        context = typer.main.get_command(app).make_context("experiments", words[3:])
        assert set(context.params["names"] or []) <= set(PAPERS)
    else:
        assert words[0] in ("pip", "dask")


def test_the_page_of_tests_names_the_default_test_of_every_command():
    text = (DOCS / "concepts" / "which-test.md").read_text("utf-8")
    listed = {
        command: re.search("`(.+?)`", test)[1]
        for commands, test in re.findall(r"^\| (`\S.*?) \| (.*`.+`.*) \|$", text, re.MULTILINE)
        for command in re.findall("`([a-z-]+)`", commands)
    }
    group = typer.main.get_command(cli.app)
    for name in {*listed, *ANALYSES} - {"compare", "calibrate"}:
        command = group.commands[name].make_context(name, ["-"] * 3, resilient_parsing=True).command
        default = next((option.default for option in command.params if option.name == "test"), None)
        assert default == listed.get(name), name


def test_every_analysis_has_a_concept_page():
    texts = " ".join(page.read_text("utf-8") for page in CONCEPTS)
    functions = [getattr(metaeval, name) for name in metaeval.__all__ if name != "cite"]  # which analyses nothing
    analyses = [one for one in functions if inspect.isfunction(one) and one.__module__.startswith("metaeval.analyses.")]
    assert len(analyses) > 10
    assert [one.__name__ for one in analyses if f"me.{one.__name__}(" not in texts] == []


@pytest.mark.parametrize("page", CONCEPTS, ids=lambda page: page.stem)
def test_a_concept_page_opens_with_its_figure_and_says_when_not_to_trust_it(page):
    text = page.read_text("utf-8")
    parts = (
        r"^# ", r"^\*\*[A-Z].*\?", r"^% figure: (.+)$", r"^\*\*How to read it\.\*\* ", r"^## When not to trust it",
        r"^## Formula", r"^\*\*Source", r"^## How to read the ",
        r"^## Simulations" if "## Simulations" in text else r"^\*\*In code",
    )  # fmt: skip
    places = [re.search(part, text, re.MULTILINE) for part in parts]
    assert all(places), "a question, a figure, when not to trust it, a formula, a source, how to read the table"
    assert [place.start() for place in places] == sorted(place.start() for place in places)
    for name in re.findall(r"^% figure: (.+)$", text, re.MULTILINE):
        assert GALLERY.FIGURES[name].page == f"concepts/{page.stem}"
    reading = text[places[3].end() :].partition("\n\n")[0]
    assert len(re.findall(r"[.!?](?:\s|$)", reading)) == 3
    assert f"\n{page.stem}\n" in (DOCS / "concepts" / "index.md").read_text("utf-8")


def test_the_figures_show_what_their_pages_say(tmp_path):
    GALLERY.write_data(tmp_path)
    scores = metaeval.io.read_scores(tmp_path / "scores.csv")
    power = metaeval.discriminative_power(scores)
    consistency, robust = metaeval.split_half_consistency(scores, n_trials=50), metaeval.robustness(scores)
    human = metaeval.agreement(scores, reference="human", statistics=["pairwise_accuracy"], n_bootstrap=100)
    significant = power.summary().set_index("measure")["significant"]
    assert (significant.idxmax(), significant.idxmin()) == ("length", "RR")
    for result, column in ((consistency, "mean_tau"), (robust, "mean")):
        assert result.to_frame().set_index("measure")[column].idxmax() == "length"
    accuracy = human.to_frame().set_index("measure")["value"]
    assert (accuracy.idxmax(), accuracy.idxmin()) == ("AP", "length")
    overlap = metaeval.significance_overlap(power).to_frame().melt("sso", ["measure_1", "measure_2"])
    assert overlap.groupby("value")["sso"].mean().idxmin() == "RR"
    similar = metaeval.ranking_similarity(scores, n_bootstrap=0).to_frame().drop(index="length")
    assert similar["length"].max() < similar.drop(columns="length").to_numpy().min()
    opposite = metaeval.significance_contradictions(power).to_frame().query("contradictions > 0")
    assert len(opposite) == len(scores.measures) - 1
    assert opposite["contradictions"].max() > 1
    assert (opposite[["measure_1", "measure_2"]] == "length").any(axis=1).all()


def test_every_page_has_words_of_its_readers_by_which_it_is_found():
    for page in PAGES:
        if page.parent.name in ("concepts", "communities", "how-to"):
            lists_others = page.stem == "index" and page.parent.name != "concepts"
            assert lists_others or str(page.relative_to(DOCS).with_suffix("")) in SEARCH.WORDS, page
    assert all((DOCS / f"{page}.md").exists() and words for page, words in SEARCH.WORDS.items())


def test_version_requirements_and_titles_are_the_same_in_changelog_citation_readme_and_recipe():
    newest = re.search(r"^## (\S+)", (ROOT / "CHANGELOG.md").read_text("utf-8"), re.MULTILINE)[1]
    citation = (ROOT / "CITATION.cff").read_text("utf-8")
    assert newest == re.search(r"^version: (\S+)$", citation, re.MULTILINE)[1] == metaeval.__version__
    titles = re.findall(r"^    title: \"?(.*?)\"?$", citation, re.MULTILINE)
    known = {re.sub(r"[{}]", "", one.fields["title"]).lower() for one in bibliography().values()}
    assert titles
    assert {title.lower() for title in titles} <= known
    named = re.findall(r"Python :: (3\.\d+)", " ".join(PROJECT["classifiers"]))
    assert PROJECT["requires-python"] == f">={named[0]}"
    assert f"Python {named[0]}" in (ROOT / "README.md").read_text("utf-8")
    recipe = (ROOT / "conda" / "recipe.yaml").read_text("utf-8")
    assert re.findall(r"^  version: (\S+)$", recipe, re.MULTILINE)[0] == metaeval.__version__
    listed = re.search(r"^  run:\n((?:    - .*\n)+)", recipe, re.MULTILINE)[1]
    required = {f"python{PROJECT['requires-python']}", *PROJECT["dependencies"]}
    conda = {line.removeprefix("    - ").replace(" ", "") for line in listed.splitlines()}
    assert {one.replace("matplotlib-base", "matplotlib") for one in conda} == required
    assert PROJECT["scripts"] == dict(re.findall(r"^      - (\w+) = (\S+)$", recipe, re.MULTILINE))


def test_the_paper_has_its_sections_its_references_and_two_pages():
    text, bib = ((ROOT / f"paper.{suffix}").read_text("utf-8") for suffix in ("md", "bib"))
    _, head, body = text.split("---\n", 2)
    fields = ["title", "tags", "authors", "affiliations", "date", "bibliography"]
    assert re.findall(r"^(\w+):", head, re.MULTILINE) == fields
    sections = ["Summary", "Statement of need", "State of the field", "Functionality", "Reproducibility", "References"]
    assert re.findall(r"^# (.*)$", body, re.MULTILINE) == sections
    assert set(re.findall(r"@([a-z][\w-]+)", body)) == set(re.findall(r"^@\w+\{(.*),$", bib, re.MULTILINE))
    copied = [one.to_bibtex() for one in bibliography().values() if f"{{{one.key},\n" in bib]
    assert len(copied) > 10
    assert all(entry in bib for entry in copied)
    assert len(re.sub(r"<!--.*?-->", "", body, flags=re.DOTALL).split()) < 1000


def test_a_page_that_asks_another_host_would_be_found(tmp_path):
    check = load_docs("check_offline")
    (tmp_path / "index.html").write_text(
        '<a href="https://doi.org/1">a link</a><link rel="canonical" href="https://a.org/">'
        '<script src="https://b.org/x.js"></script><img src="//c.org/y.png"><p style="background:url(http://d.org/z)">'
    )
    (tmp_path / "a.css").write_text("@font-face { src: url('https://e.org/f.woff2') } p { background: url(data:x) }")
    found = " ".join(check.find_loads(tmp_path))
    assert re.findall(r"\w\.org", found) == ["b.org", "c.org", "d.org", "e.org"]


def read_drawing(path):
    """Return the words of a picture, and the numbers of its lines, which another matplotlib rounds differently."""
    text = path.read_text("utf-8")
    lines = " ".join(re.findall(r"<path[^>]* d=\"([^\"]*)\"", text))
    return re.findall(r"<text[^>]*>([^<]*)<", text), [float(number) for number in re.findall(r"-?[\d.]+", lines)]


def test_the_picture_of_the_front_page_is_of_the_tutorial_and_not_stale(tmp_path):
    front = load_docs("render_front")
    names = front.run_tutorial()
    save_figure(front.draw_picture(names["runs"], names["mean_gap"]), tmp_path, "picture", (".svg",))
    words, lines = read_drawing(front.TARGET / "picture.svg")
    again = read_drawing(tmp_path / "picture.svg")
    assert "both-ends" in words
    assert again == (words, pytest.approx(lines, abs=0.5)), "python docs/renew.py renews it"
    files = front.make_files(names["runs"])
    assert {name: (front.TARGET / name).read_text("utf-8") for name in files} == files


def test_the_gallery_shows_every_figure_that_a_command_draws():
    assert set(GALLERY.FIGURES) == {*ANALYSES, "compare", "judges", "pooled-power"}
    for example in GALLERY.FIGURES.values():
        parse_command(shlex.split(example.command)[1:])
        assert (ROOT / "docs" / f"{example.page}.md").exists()
        assert re.fullmatch(r"[A-Z].{20,120}\.", example.line)
