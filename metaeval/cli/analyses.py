"""The commands that analyse scores or measures: one line each."""

from __future__ import annotations

from dataclasses import dataclass

GROUPS = {
    "Start here": ("compare", "agreement", "ranks", "judges", "inspect", "data", "score"),
    "How a measure behaves on runs": (
        "similarity", "consistency", "power", "overlap", "contradictions", "calibrate", "baselines", "robustness",
        "coverage",
    ),
    "Whether judges are right": ("qrels", "correct"),
    "What its formula does": ("measures", "properties", "app"),
    "How many topics it needs": ("variance", "sample-size", "topic-set-size"),
    "Files and references": ("convert", "cite", "help"),
}  # fmt: skip
"""The commands by subject, as ``metaeval --help`` shows them; others follow under a heading of their own."""


@dataclass(frozen=True)
class Analysis:
    """An analysis that is a command: its options and help come from the function's signature and docstring.

    The function is ``"module:function"`` below metaeval, and `takes` says of what: scores, several of them, ratings, labels,
    runs, or measures. Examples are command lines without the program's name. `board` is the function of several collections
    at once, if it is another one. `remarks` are a paragraph of the help that the docstring does not have.
    """

    function: str
    examples: tuple[str, ...]
    takes: str = "scores"
    board: str = ""
    remarks: str = ""


ANALYSES = {
    "similarity": Analysis(
        "analyses.ranking_similarity:ranking_similarity",
        ("similarity scores.csv", "similarity trec-web-2013 --tau tau_b@15 --format latex"),
    ),
    "consistency": Analysis(
        "analyses.split_half_consistency:split_half_consistency",
        ("consistency scores.csv", "consistency stc3-dq-a --size 10"),
    ),
    "power": Analysis(
        "analyses.power:discriminative_power",
        ("power scores.csv -B 5000", "power stc3-dq-a stc3-dq-e stc3-dq-s --out results/"),
        takes="several",
    ),
    "ranks": Analysis(
        "analyses.ranks:run_ranks",
        (
            "ranks trec-web-2013 -m AP",
            "ranks one.json two.json",
            "ranks board.parquet --columns collection=task --doubled latest --missing complete --aggregate win-rate",
        ),
        takes="several",
        board="analyses.boards:board_ranks",
        remarks="Files that score other runs on the same topics, such as the logs of two models, are one collection: is one "
        "better? Files of other topics are tasks, as are those that --columns collection=NAME tells apart, and have one answer "
        "together; --missing present makes such a board of a single table with gaps.",
    ),
    "calibrate": Analysis(
        "analyses.calibration:calibrate_tests",
        (
            "calibrate trec-web-2013 -m AP --topics 25 --studies 1000",
            "calibrate scores.csv --test bootstrap-t --test my_test.py:my_test",
        ),
    ),
    "overlap": Analysis("analyses.power_pairs:significance_overlap", ("overlap scores.csv",)),
    "contradictions": Analysis("analyses.power_pairs:significance_contradictions", ("contradictions stc3-dq-a",)),
    "baselines": Analysis(
        "analyses.baseline_preference:baseline_preference", ("baselines stc3-dq-a BL-popularity BL-uniform",)
    ),
    "robustness": Analysis(
        "analyses.robustness:robustness",
        ("robustness trec-web-2013", "robustness stc3-dq-a stc3-dq-e stc3-dq-s"),
        takes="several",
    ),
    "variance": Analysis(
        "analyses.variance_components:variance_components",
        (
            "variance scores.csv --repeats seed --budget 100 --price topic=10 --price repeat=0.1",
            "variance board.parquet --tasks task --doubled latest",
        ),
        takes="ratings",
    ),
    "sample-size": Analysis(
        "analyses.sample_size:sample_size", ("sample-size stc3-dq-a --sizes 10,50,100,200,390,780",)
    ),
    "topic-set-size": Analysis(
        "analyses.topic_set_size:topic_set_size",
        ("topic-set-size trec-web-2013 --difference 0.1", "topic-set-size scores.csv --difference 2 --beta 0.1"),
    ),
    "agreement": Analysis(
        "analyses.agreement:agreement",
        (
            "agreement scores.csv --reference human.csv --missing drop-topic --out agreement/",
            "agreement wmt23-en-de --reference mqm --run-scores wmt23-en-de-runs",
            "agreement one.csv two.csv --reference people1.csv --reference people2.csv",
            "agreement judges/*.txt --reference truth.txt --runs shared --topics shared --statistic tau_b@10",
        ),
        takes="several",
    ),
    "coverage": Analysis("analyses.coverage:coverage", ("coverage llmjudge -r Accuracy -r tau_a -r MI",)),
    "judges": Analysis(
        "analyses.alternative_annotator_test:alternative_annotator_test",
        (
            "judges alttest-mtbench --agreement accuracy --epsilon 0.2",
            "judges people.csv judges.csv --classes 1,2,3,4,5 --out results/",
        ),
        takes="labels",
        remarks="Tables have one column per annotator or judge besides a column item, or one row per label: item, "
        'annotator, label. JSON is {"annotator": {"item": label}}. Data sets of this kind: alttest-summeval, '
        "alttest-cebab-stars, …",
    ),
    "qrels": Analysis(
        "analyses.qrels:compare_qrels",
        ("qrels people.txt gpt.txt llama.txt --runs runs/ -m nDCG@10 --family run7=gpt --out results/",),
        takes="runs",
    ),
    "correct": Analysis(
        "analyses.corrected_scores:corrected_scores",
        (
            "correct judge.csv --people few.csv",
            "correct judges.csv -m GEMBA -m COMET --people few.csv --target topics",
        ),
    ),
    "properties": Analysis(
        "analyses.properties:properties",
        ('properties CEM_ORD "OCI(beta=0.75)"', "properties my_measure.py:my_measure --empty-classes"),
        takes="measures",
    ),
}  # fmt: skip
