"""Claims in quotation marks are verbatim: each is looked up in its paper's text; what is not says “(reworded)”."""

import os
import re
import unicodedata
from pathlib import Path

import pytest

from experiments.page import list_claims

ROOT = Path(__file__).parents[2]
MODULES = {"cardoso2011": "cardoso-sousa-2011", "amigo2020": "amigo-acl2020", "lq2021": "sakai-lq2021"}
MODULES |= {"acl2021": "sakai-acl2021"}
"""Whose text the claims of a folder quote."""

SYMBOLS = {
    "alpha": "α", "beta": "β", "gamma": "γ", "kappa": "κ", "mu": "μ", "tau": "τ",
    "geq": "≥", "leq": "≤", "neq": "≠", "vee": "∨", "parallel": "‖", "|": "‖", "rightarrow": "→", "infty": "∞",
    "text": "", "mathrm": "", "mathbf": "", "mathcal": "", "left": "", "right": "", "quad": "", "forall": "",
}  # fmt: skip
"""What commands of formulas stand for; others are their names."""

FOLDERS = [ROOT.parent / "shared" / "papers", Path(os.environ.get("METAEVAL_DATA", "nowhere")).parent / "papers"]
"""Where the texts of the papers may be: beside the repository, or beside the data."""
PAPERS = next((one for one in FOLDERS if one.is_dir()), None)
needs_papers = pytest.mark.skipif(
    PAPERS is None, reason="the texts of the papers are not here: shared/papers, or METAEVAL_DATA/../papers"
)


def squeeze(text):
    """Return letters, digits and relations of a text: no spaces, hyphens, brackets, quotation marks, markup or case."""
    text = re.sub(r"</?(?:sup|sub|b|i)>", "", unicodedata.normalize("NFKC", text))
    text = re.sub(r"\\frac\{([^{}]*)\}\{([^{}]*)\}", r"\1/\2", text)
    text = re.sub(r"\\([A-Za-z]+|\|)", lambda found: SYMBOLS.get(found[1], found[1]), text)
    return re.sub(r"[^\w≥≤≠∨→∞‖.%/+<>=|]|_", "", unicodedata.normalize("NFKC", text)).lower()


def is_quoted(claim, text):
    """Do the parts of a claim, between […] and [words], follow one another in a squeezed text?"""
    parts = [re.escape(squeeze(part).strip(".")) for part in re.split(r"\[[^\[\]]*\]", claim)]
    return re.search(".*".join(parts), text) is not None


@needs_papers
@pytest.mark.parametrize("name", MODULES)
def test_a_claim_is_verbatim(name):
    paper, claims = squeeze((PAPERS / f"{MODULES[name]}.txt").read_text("utf-8")), list_claims(name)
    assert 8 <= len(claims) <= 12
    assert [one.sentence for one in claims if not is_quoted(one.sentence, paper)] == []


def test_a_claim_with_another_word_or_one_left_out_is_no_quotation():
    formula = r"for all $\beta_1 \geq \frac{1}{2}$"
    text = squeeze(f"the two <b>CEM</b><sup>ORD</sup> scores, {formula}, are “hardly dif-\n\nferent”")
    claims = {
        "the two CEM^ORD scores, for all β₁ ≥ 1/2, are ‘hardly different’": True,
        "the two […] scores […] are hardly different.": True,
        "[Both] are hardly different": True,
        "the two scores": False,
        "are barely different": False,
        "are hardly different […] for all": False,
    }
    assert {claim: is_quoted(claim, text) for claim in claims} == claims
