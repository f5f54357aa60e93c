"""Claims in quotation marks are verbatim: each is looked up in its paper's text; what is not says “(reworded)”."""

import os
import re
import unicodedata
from pathlib import Path

import pytest

from experiments.page import list_claims

ROOT = Path(__file__).parents[2]
if not (ROOT / "experiments" / "amigo2020" / "claims.py").exists():
    pytest.skip("the experiments are not part of an installed copy", allow_module_level=True)

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


def find_strays(claim, text):
    """Return the parts of a claim, between […] and [words], that do not follow one another in a squeezed text."""
    strays, place = [], 0
    for part in re.split(r"\[[^\[\]]*\]", claim):
        wanted = squeeze(part).strip(".")
        found = text.find(wanted, place)
        if found < 0:
            strays.append(part)
        else:
            place = found + len(wanted)
    return strays


@needs_papers
@pytest.mark.parametrize("name", MODULES)
def test_a_claim_is_verbatim(name):
    paper, claims = squeeze((PAPERS / f"{MODULES[name]}.txt").read_text("utf-8")), list_claims(name)
    assert 8 <= len(claims) <= 12
    for one in claims:
        assert find_strays(one.sentence, paper) == [], one.sentence


def test_a_claim_with_another_word_or_one_left_out_is_no_quotation():
    formula = r"for all $\beta_1 \geq \frac{1}{2}$"
    text = squeeze(f"the two <b>CEM</b><sup>ORD</sup> scores, {formula}, are “hardly dif-\n\nferent”")
    for claim, strays in {
        "the two CEM^ORD scores, for all β₁ ≥ 1/2, are ‘hardly different’": [],
        "the two […] scores […] are hardly different.": [],
        "[Both] are hardly different": [],
        "the two scores": ["the two scores"],
        "are barely different": ["are barely different"],
        "are hardly different […] for all": [" for all"],
    }.items():
        assert find_strays(claim, text) == strays
