"""What is released agrees with itself: version, changelog, citation, requirements, and documentation without other hosts."""

import re
import shlex
import tomllib

import pytest

import metaeval
from metaeval.cli.analyses import ANALYSES
from metaeval.show.bibliography import bibliography
from metaeval.show.drawing import save_figure
from tests.test_docs import GALLERY, ROOT, load_docs, parse_command

if not (ROOT / "CITATION.cff").exists():  # the tests run beside an installed copy
    pytest.skip("the repository is not here", allow_module_level=True)
PROJECT = tomllib.loads((ROOT / "pyproject.toml").read_text("utf-8"))["project"]


def test_version_changelog_citation_and_pythons_agree():
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


def test_the_recipe_has_the_version_and_the_requirements_of_the_package():
    recipe = (ROOT / "conda" / "recipe.yaml").read_text("utf-8")
    assert re.findall(r"^  version: (\S+)$", recipe, re.MULTILINE)[0] == metaeval.__version__
    listed = re.search(r"^  run:\n((?:    - .*\n)+)", recipe, re.MULTILINE)[1]
    required = {f"python{PROJECT['requires-python']}", *PROJECT["dependencies"]}
    conda = {line.removeprefix("    - ").replace(" ", "") for line in listed.splitlines()}
    assert {one.replace("matplotlib-base", "matplotlib") for one in conda} == required
    assert PROJECT["scripts"] == dict(re.findall(r"^      - (\w+) = (\S+)$", recipe, re.MULTILINE))


def test_the_page_of_the_api_lists_every_public_name():
    page = (ROOT / "docs" / "reference" / "api.md").read_text("utf-8")
    listed = re.findall(r"^\| `(\w+)` \| \S", page, re.MULTILINE)
    assert listed == sorted(metaeval.__all__, key=str.casefold)


def test_the_paper_has_its_sections_its_references_and_two_pages():
    text, bib = ((ROOT / f"paper.{suffix}").read_text("utf-8") for suffix in ("md", "bib"))
    _, head, body = text.split("---\n", 2)
    fields = ["title", "tags", "authors", "affiliations", "date", "bibliography"]
    assert re.findall(r"^(\w+):", head, re.MULTILINE) == fields
    sections = ["Summary", "Statement of need", "State of the field", "Functionality", "Reproducibility", "References"]
    assert re.findall(r"^# (.*)$", body, re.MULTILINE) == sections
    assert set(re.findall(r"@([a-z][\w-]+)", body)) == set(re.findall(r"^@\w+\{(.*),$", bib, re.MULTILINE))
    entries = {one.key: one.to_bibtex() for one in bibliography().values()}
    copied = {key: entry for key, entry in entries.items() if f"{{{key},\n" in bib}
    assert len(copied) > 10
    assert all(entry in bib for entry in copied.values())
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
