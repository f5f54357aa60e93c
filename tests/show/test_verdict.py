"""A verdict carries its claim, its rule and its figures into every form."""

import json

from metaeval.show.verdict import Evidence, Verdict, tabulate_verdicts

VERDICT = Verdict(
    "NMD is an outlier.",
    "ACL 2021, §6.1",
    "NMD has the smallest mean τ.",
    "stc3-dq-a",
    "holds",
    (Evidence("mean τ of NMD", 0.6294, (0.6, 0.65)), Evidence("runs", 22)),
    (("seed", "0"), ("without baselines", "not tried")),
)


def test_markdown_says_outcome_data_figures_claim_rule_and_what_was_tried():
    text = VERDICT.to_markdown()
    for said in (
        "**holds** on stc3-dq-a",
        "mean τ of NMD = 0.629 [0.600, 0.650]; runs = 22",
        "“NMD is an outlier.”",
        "ACL 2021, §6.1",
        "Rule: NMD has the smallest mean τ.",
        "without baselines not tried",
    ):
        assert said in text


def test_plain_data_survives_json_with_every_digit():
    data = json.loads(json.dumps(VERDICT.to_dict()))
    assert data["evidence"][0] == {"name": "mean τ of NMD", "value": 0.6294, "interval": [0.6, 0.65]}
    assert data["conditions"] == {"seed": "0", "without baselines": "not tried"}
    assert data["outcome"] == "holds"


def test_a_frame_has_one_row_a_verdict_and_a_reason_stands_with_the_figures():
    other = Verdict("B.", "§2", "Rule.", "tiny", "cannot tell", reason="5 runs, the rule needs 10")
    frame = tabulate_verdicts([VERDICT, other])
    assert frame["outcome"].to_dict() == {"NMD is an outlier.": "holds", "B.": "cannot tell"}
    assert frame.loc["B.", "figures"] == "5 runs, the rule needs 10"
