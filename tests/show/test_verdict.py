"""A verdict carries its claim, its rule and its figures into plain data."""

import json

from metaeval.show.verdict import Evidence, Verdict

VERDICT = Verdict(
    "NMD is an outlier.",
    "ACL 2021, §6.1",
    "NMD has the smallest mean τ.",
    "stc3-dq-a",
    "holds",
    (Evidence("mean τ of NMD", 0.6294, (0.6, 0.65)), Evidence("runs", 22)),
    (("seed", "0"), ("without baselines", "not tried")),
)


def test_plain_data_survives_json_with_every_digit():
    data = json.loads(json.dumps(VERDICT.to_dict()))
    assert data["evidence"] == [
        {"name": "mean τ of NMD", "value": 0.6294, "interval": [0.6, 0.65]},
        {"name": "runs", "value": 22, "interval": None},
    ]
    assert data["conditions"] == {"seed": "0", "without baselines": "not tried"}
    assert (data["claim"], data["where"], data["rule"], data["data"], data["outcome"]) == (
        "NMD is an outlier.", "ACL 2021, §6.1", "NMD has the smallest mean τ.", "stc3-dq-a", "holds",
    )  # fmt: skip
