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

    The function is ``"module:function"`` of the analyses; the type of its first argument says what the command takes.
    Examples are command lines without the program's and the command's name. `board` is the function of several collections
    at once, if it is another one. `remarks` are a paragraph of the help that the docstring does not have.
    """

    function: str
    examples: tuple[str, ...]
    board: str = ""
    remarks: str = ""


ANALYSES = {
    "similarity": Analysis(
        "ranking_similarity:ranking_similarity", ("scores.csv", "trec-web-2013 --tau tau_b@15 --format latex")
    ),
    "consistency": Analysis("split_half_consistency:split_half_consistency", ("scores.csv", "stc3-dq-a --size 10")),
    "power": Analysis(
        "power:discriminative_power", ("scores.csv -B 5000", "stc3-dq-a stc3-dq-e stc3-dq-s --out results/")
    ),
    "ranks": Analysis(
        "ranks:run_ranks",
        (
            "trec-web-2013 -m AP",
            "one.json two.json",
            "board.parquet --columns collection=task --doubled latest --missing complete --aggregate win-rate",
        ),
        "boards:board_ranks",
        "Files that score other runs on the same topics, such as the logs of two models, are one collection. Others are "
        "tasks, as are those that --columns collection=NAME tells apart, with one answer for all, without --test and -B.",
    ),
    "calibrate": Analysis(
        "calibration:calibrate_tests",
        ("trec-web-2013 -m AP --topics 25 --studies 1000", "scores.csv --test bootstrap-t --test paired-t"),
    ),
    "overlap": Analysis("power_pairs:significance_overlap", ("scores.csv",)),
    "contradictions": Analysis("power_pairs:significance_contradictions", ("stc3-dq-a",)),
    "baselines": Analysis("baseline_preference:baseline_preference", ("stc3-dq-a BL-popularity BL-uniform",)),
    "robustness": Analysis("robustness:robustness", ("trec-web-2013", "stc3-dq-a stc3-dq-e stc3-dq-s")),
    "variance": Analysis(
        "variance_components:variance_components",
        ("scores.csv --repeats seed", "board.parquet --tasks task --doubled latest"),
    ),
    "sample-size": Analysis("sample_size:sample_size", ("stc3-dq-a --sizes 10,50,100,200,390,780",)),
    "topic-set-size": Analysis(
        "topic_set_size:topic_set_size", ("trec-web-2013 --difference 0.1", "scores.csv --difference 2 --beta 0.1")
    ),
    "agreement": Analysis(
        "agreement:agreement",
        (
            "scores.csv --reference human.csv --missing drop-topic --out agreement/",
            "wmt23-en-de --reference mqm --run-scores wmt23-en-de-runs",
            "one.csv two.csv --reference people1.csv --reference people2.csv",
            "judge.txt --reference truth.txt --missing drop-run --statistic tau_b@10",
        ),
    ),
    "coverage": Analysis("coverage:coverage", ("llmjudge -r Accuracy -r tau_a -r MI",)),
    "judges": Analysis(
        "alternative_annotator_test:alternative_annotator_test",
        (
            "alttest-mtbench --agreement accuracy --epsilon 0.2",
            "people.csv judges.csv --classes 1,2,3,4,5 --out results/",
        ),
        remarks="Tables have one column per annotator or judge besides a column item, or one row per label: item, "
        "annotator, label. Data sets of this kind are called alttest-….",
    ),
    "qrels": Analysis(
        "qrels:compare_qrels",
        ("people.txt gpt.txt llama.txt --runs runs/ -m nDCG@10 --family run7=gpt --out results/",),
    ),
    "correct": Analysis(
        "corrected_scores:corrected_scores",
        ("judge.csv --people few.csv", "judges.csv -m GEMBA -m COMET --people few.csv --target topics"),
    ),
    "properties": Analysis(
        "properties:properties", ('CEM_ORD "OCI(beta=0.75)"', "my_measure.py:my_measure --empty-classes")
    ),
}
