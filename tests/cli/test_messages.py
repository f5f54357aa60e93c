"""Whatever is wrong ends in one sentence that speaks the user's language: options here, arguments in Python."""

import re
import shutil

import numpy as np
import pytest

import metaeval as me
from metaeval.errors import MetaevalError, MetaevalWarning
from tests.analyses.made import label
from tests.cli.conftest import write_files

SCORE = "score gold.txt gold.txt -l judgements"
FILES = {
    "power nowhere.csv": "nowhere.csv: there is no such file or folder",
    "power empty.csv": "empty.csv: the file is empty",
    "power binary.csv": "binary.csv:1: the file is binary, not text",
    "consistency ties.csv --tau tau_b": "where all runs are tied, as they are on some half for AP: use tau_a",
    "power ''": "there is no data set ''",
    "power holes.csv --missing drop-topic": "--missing drop-topic would leave no topic (choose another policy",
    "score both.csv both.csv -l labels --classes 0,1": "it has a column 'label' and a column 'gold': leave one out",
    "judges people.csv judges.csv --classes 1,2": "item 1: nobody labelled it",
    "power tiny.csv --out tiny.csv": "tiny.csv is a file, or cannot be written",
    "power tiny.csv --out tiny.csv/out": "tiny.csv is a file, or cannot be written",
    "convert tiny.csv empty.csv/x.csv": "empty.csv/x.csv: it cannot be written: Not a directory",
    "convert tiny.csv x.xyz": "x.xyz: the format cannot be detected from this name (end it in .csv, .tsv or .parquet",
    "score tiny.csv": "tiny.csv is a file: name runs behind it, and --layout; scores are for `inspect`",
    "score tiny.csv tiny.csv": "say how the files are laid out: --layout labels, probabilities, …",
    SCORE: "the format judgements needs --classes: all of them, in their order",
    f"{SCORE} --classes 0,1 --seed 3": "--seed is for --parts: nothing else is random",
    f"{SCORE} --classes 0,1 -o new": "new: write a .csv, .tsv or .parquet file",
    "baselines tiny.csv '\x1b[2J' b": r"there is no run '\x1b[2J'",
    "compare -m NMD 'a\nb.csv'": "there is no such file",
    "convert tiny.csv x.csv --columns run:system": "--columns run:system: say what is called how",
    # what Python calls otherwise
    "score shares.csv shares.csv -l probabilities": "rescale with --normalise;",
    "compare -m NMD --gold shares.csv --runs shares.csv -l probabilities": "rescale with --normalise;",
    "compare gap.csv -m AP": "--missing drop-topic or drop-run",
    "power names.csv": "gold and runs are for metaeval score",
    "convert one.csv folder": "end it in .csv, .tsv or .parquet",
    "compare -m AP table.csv": "so that the other columns are topics: --from transposed",
    f"{SCORE} --classes 0,1 -m NMD": "; metaeval score --as-quantification gives",
    # what to type or to do instead, besides what test_typed_hints.py types
    "consistency labelled.csv": "score them first: metaeval score with the layout labels",
    "consistency x_AP.csv --columns score=b --from wide": "(name the topic only: --columns topic=topic)",
}
NAMES = {
    "properties QWK": "kappa(weights=quadratic)",
    "properties MAE": "MAE_mu",
    "properties F1": "F1_M",
    "properties nmd": "NMD",
    "measures kapa": "kappa",
    "measures EMD": "NMD",
    "measures --kind rank": "'rank' is not one of 'classification', 'quantification'",
    "power tiny.csv -m nDCG": "nDCG@10",
    "power tiny.csv -m ndgc@10": "nDCG@10",
    "power tiny.csv -m AP,nDCG@10": "(did you mean --measure AP --measure nDCG@10? there are",
    "coverage tiny.csv -r AP,nDCG@10": "(did you mean --reference AP --reference nDCG@10?)",
    "coverage tiny.csv -r MAP": "(did you mean AP?)",
    "compare tiny.csv -m MAP": "the data have no scores of 'MAP' (did you mean AP? there are nDCG@10, AP)",
    "compare tiny.csv -m AP,nDCG@10": "(did you mean --measure AP --measure nDCG@10? there are",
    "compare tiny.csv -m AP --reference nDCG@10": "no measure besides the reference nDCG@10 to compare AP with",
    "properties NMD,RNOD": "(did you mean NMD RNOD?)",
    "contradictions tiny.csv AP nDCG@10": "contradictions takes SOURCE only, not AP nDCG@10 too; measures are options: "
    "metaeval contradictions tiny.csv -m AP -m nDCG@10",
    "similarity tiny.csv tiny.csv": "similarity takes SOURCE only, not tiny.csv too (see",
    "topic-set-size tiny.csv --difference 10%": "--difference takes a number, such as 0.1",
    "power tiny.csv -B 1e3": "-B takes a whole number, such as 100",
    "power stc3-dqa": "did you mean stc3-dq-a",
    "data info nothing": "there is no data set 'nothing'; `metaeval data list` lists them",
    "pwer scores.csv": "power",
    "data": "Choose from: list, info, fetch",
    "power scores.csv --permutation 5": "--permutations",
    "power scores.csv --test hsd": "tukey-hsd",
}
VALUES = {
    "similarity": "--bootstrap -1; --confidence 1; --confidence nan; --seed x; --tau tau_c; --tau tau_b@1; --tau tau_ap@99",
    "consistency": "--trials -1; --trials 1; --size 0; --size -3; --size 7; -B 0; -B -1; --alpha -1; --alpha 1; --n-jobs 0",
    "power": "-B -1; -B 1e3; -B 99999999999; --alpha -0.1; --alpha inf; --test anova; --correction sidak; "
    "--correction holm; --n-jobs 0; --seed 1.5; --missing ignore; --from xml; --format pdf; --lower-is-better nobody; "
    "-m nobody; --no-such-option 3",
    "baselines": "r0 r0; r0 nobody; r0",
    "sample-size": "--sizes 1; --sizes 0,13; --sizes -4; --sizes 4,x; --trials 0; --confidence 7",
    "topic-set-size": "--difference 0; --difference nan; --beta 1; --target 0; --bootstrap -1",
    "variance": "--budget 10; --price topic=1; --budget 10 --price topic; --budget 10 --price topic=x; --budget -1 --price "
    "topic=1; --budget 10 --price topic=0; --budget 10 --price topic=nan; --budget 10 --price repeat=1; --budget 1 --price "
    "topic=2; --alpha 1; --confidence 0; --tasks nothing; -m nobody; --from xml; --doubled never",
    "coverage": "; -r nobody; -r AP --bootstrap -1; -r AP --confidence -1",
}
OTHERWISE = {
    "consistency --size 7": "two disjoint sets of 7 topics need 14; there are 12",
    "power --correction holm": "randomised-tukey-hsd allows for all pairs by itself",
    "baselines r0": "Missing argument 'SECOND'",
    "coverage ": "Missing option '--reference'",
}
"""Values whose message names neither the option nor what was given for it."""


HEAD = "run,topic,measure,score"
BROKEN = {
    "empty.csv": b"", "binary.csv": bytes(range(256)),
    "table.csv": "name,size\na,1\n", "gold.txt": "q1 0 d1 0\nq2 0 d1 1\n", "one.csv": f"{HEAD}\na,t,AP,1\na,u,AP,0\n",
    "ties.csv": f"{HEAD}\n" + "".join(f"{run},{topic},AP,0.5\n" for run in "abc" for topic in range(6)),
    "gap.csv": f"{HEAD}\na,t,AP,1\na,u,AP,0\nb,t,AP,1\n", "holes.csv": f"{HEAD}\na,t,AP,1\nb,u,AP,0\n",
    "both.csv": "item,label,gold\n1,0,0\n", "shares.csv": "topic,a,b\nt,1,3\n", "names.csv": "name,size\na,b\n",
    "people.csv": "item,ann\n1,\n2,1\n", "judges.csv": "item,m\n1,1\n2,1\n", "x_AP.csv": "topic,a,b\nt,1,0\nu,0,1\n",
    "labelled.csv": "model,id,y_true,y_pred\na,1,0,1\na,2,1,1\n",
}  # fmt: skip
"""Files that are wrong in many ways."""


@pytest.mark.parametrize(("line", "message"), [*FILES.items(), *NAMES.items()])
def test_whatever_is_wrong_ends_in_one_sentence_that_names_it(refused, score_file, here, monkeypatch, line, message):
    monkeypatch.setenv("METAEVAL_DATA", str(here / "data"))
    write_files(here, BROKEN)
    shutil.copy(score_file, "scores.csv")
    assert message in refused(line)


@pytest.mark.usefixtures("score_file")
@pytest.mark.parametrize(
    ("command", "options"), [(command, options) for command, every in VALUES.items() for options in every.split("; ")]
)
def test_a_value_that_cannot_be_is_refused_in_one_sentence(refused, command, options):
    said = refused(f"{command} tiny.csv {options}")
    expected = OTHERWISE.get(f"{command} {options}")
    assert expected in said if expected else re.search(rf"{'|'.join(options.split())}\b", said)


RNG = np.random.default_rng(5)
NASTY = {
    "one run": RNG.random((1, 12, 2)),
    "two runs": RNG.random((2, 12, 2)),
    "one topic": RNG.random((5, 1, 2)),
    "two topics": RNG.random((5, 2, 2)),
    "one measure": RNG.random((5, 12, 1)),
    "constant scores": np.full((5, 12, 2), 0.5),
    "one constant measure": np.stack([np.full((5, 12), 0.5), RNG.random((5, 12))], axis=-1),
    "constant runs": np.broadcast_to(RNG.random((5, 1, 2)), (5, 12, 2)),
    "huge scores": RNG.choice([-1.0, 1.0], (5, 12, 2)) * 1e308,
    "denormal scores": RNG.random((5, 12, 2)) * 1e-320,
    "negative scores": -RNG.random((5, 12, 2)),
    "one score apart": np.where(np.arange(120).reshape(5, 12, 2) == 7, 1.0, 0.0),
}
COMMANDS = [
    "similarity s.csv --bootstrap 20", "consistency s.csv --trials 20 -B 20", "power s.csv -B 20", "overlap s.csv -B 20",
    "contradictions s.csv -B 20", "baselines s.csv r00 r01", "robustness s.csv", "sample-size s.csv --trials 5",
    "topic-set-size s.csv --bootstrap 20", "variance s.csv --budget 100 --price topic=5", "coverage s.csv -r a --bootstrap 20",
]  # fmt: skip
BY_DAY = ("one run", "one topic", "constant scores", "huge scores")


@pytest.mark.parametrize(
    "nasty", [pytest.param(nasty, marks=() if nasty in BY_DAY else pytest.mark.nightly) for nasty in NASTY]
)
def test_nasty_scores_are_analysed_or_refused_in_one_sentence(run, refused, nasty):
    me.io.write_scores(label(NASTY[nasty], collection=""), "s.csv")
    for line in COMMANDS:
        status, out, _ = run(line)
        assert (status == 0 and out) or refused(line), line


SAME = [  # a function and its argument, a command and its option
    (me.discriminative_power, "n_permutations", 0, "power", "-B"),
    (me.discriminative_power, "alpha", 2, "power", "--alpha"),
    (me.split_half_consistency, "n_trials", 1, "consistency", "--trials"),
    (me.ranking_similarity, "n_bootstrap", -1, "similarity", "--bootstrap"),
    (me.sample_size, "n_trials", 0, "sample-size", "--trials"),
]


@pytest.mark.parametrize(("function", "argument", "value", "command", "option"), SAME)
def test_a_message_names_the_argument_in_python_and_the_option_here(
    refused, score_file, function, argument, value, command, option
):
    scores = me.io.read_scores(score_file)
    with pytest.raises(MetaevalError, match=f"^{argument} is {value};") as before:
        function(scores, **{argument: value})
    assert refused(f"{command} tiny.csv {option} {value}") == f"metaeval: {before.value}".replace(argument, option)
    with pytest.raises(MetaevalError, match=f"^{re.escape(str(before.value))}$"):  # the command has left no trace
        function(scores, **{argument: value})


def test_what_a_policy_did_is_said_as_it_was_typed(ok, here):
    (here / "gold.csv").write_text("topic,a,b\nt,1,0\nu,1,0\n")
    (here / "run.csv").write_text("topic,a,b\nt,1,0\n")
    for policy in ("drop-topic", "worst"):
        with pytest.warns(MetaevalWarning, match=f"missing={policy}"):
            me.io.read_runs("gold.csv", "run.csv", format="probabilities", missing=policy)
        _, err = ok(f"score gold.csv run.csv -l probabilities --missing {policy}")
        assert f"--missing {policy}" in err
