"""Everything that metaeval computes or reads says where it is from, and the bibliography has it."""

import ast
import re
from importlib.resources import files
from pathlib import Path

import pytest

import metaeval
from metaeval.analyses.citation import SOURCES, cite
from metaeval.datasets import datasets
from metaeval.errors import MetaevalError
from metaeval.measures.registry import measures
from metaeval.show.bibliography import bibliography, find_labels, list_labels
from metaeval.stats.pair_tests import FAMILYWISE
from metaeval.stats.weighted_correlation import SYMBOLS

TEXT = (files("metaeval.show") / "bibliography.bib").read_text(encoding="utf-8")


def labels_of(source):
    return [part.partition(",")[0].strip() for part in source.split(";")]


def own_measures():
    return [one for one in measures() if one.formula.__module__.startswith("metaeval.measures.")]


def public_analyses():
    """Functions of the public API that return a result."""
    names = ast.parse(Path(metaeval.__file__).with_suffix(".pyi").read_text(encoding="utf-8"))
    imported = [node for node in names.body if isinstance(node, ast.ImportFrom) and node.module]
    found = [alias.name for node in imported if node.module.startswith("analyses.") for alias in node.names]
    return [one for one in found if one.islower() and one != "cite"]


def test_every_entry_is_read_and_none_has_the_name_of_another():
    kinds = re.findall(r"^@\w+\{(.*),$", TEXT, re.MULTILINE)
    assert len(bibliography()) == len(kinds) == len(set(kinds)) == len(re.findall(r"^  label = ", TEXT, re.MULTILINE))
    for one in bibliography().values():
        assert {"author", "title"} <= set(one.fields)
        assert one.to_bibtex() in re.sub(r"  label = .*\n", "", TEXT)
        assert one.to_bibtex().count("{") == one.to_bibtex().count("}")
        assert re.fullmatch(r"10\.\d{4,5}/\S+", one.fields.get("doi", "10.1234/x"))


def test_every_measure_analysis_and_method_has_its_references():
    assert {*public_analyses(), *FAMILYWISE, *SYMBOLS} - {"tukey-hsd", "spearman"} <= set(SOURCES)
    for source in (*SOURCES.values(), *(one.source for one in own_measures())):
        assert labels_of(source) == find_labels(source) != [""], source


def test_every_data_set_has_its_references_and_every_reference_is_that_of_something():
    used = {
        label for source in (*(one.source for one in own_measures()), *SOURCES.values()) for label in labels_of(source)
    }
    for one in datasets():
        assert list_labels(one.credits), one.name
        assert "{" not in one.citation
        used |= set(list_labels(one.credits))
    assert used == set(bibliography())


def test_several_names_are_cited_together_and_a_name_is_no_entry_or_refused():
    names = ["metaeval", "discriminative_power", "max-t", "stc3-dq-a", "NMD", metaeval.Measure("mine\n@misc{x")]
    text = cite(*names)
    assert text.startswith("% metaeval: metaeval\n")
    assert "no reference is known" in text
    assert "\n@misc{x" not in text
    for key in ("sakai-2021-evaluating", "zeng-etal-2019-overview", "romano-wolf-2005-exact", "metaeval"):
        assert f"{{{key}," in text
    with pytest.raises(MetaevalError, match="there is no measure, analysis or data set 'nobody'"):
        cite("nobody")


def test_the_command_takes_names_of_commands_too(run):
    _, printed, _ = run("cite", "power", "RNOD(distance=gold)")
    assert printed == cite("discriminative_power", "RNOD(distance=gold)")
