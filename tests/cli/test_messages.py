"""Whatever is wrong ends in one sentence that speaks the user's language: options here, arguments in Python."""

import re
import shlex

import numpy as np
import pytest

import metaeval as me
from metaeval.errors import MetaevalError, MetaevalWarning

BAD = {
    "no such file": "power nowhere.csv",
    "no such data set": "power stc3-dq",
    "an empty file": "power empty.csv",
    "a binary file": "power binary.csv",
    "a table that is no score table": "power table.csv",
    "not Parquet": "power wrong.parquet",
    "one run": "power one.csv",
    "more permutations than can be": "power tiny.csv -B 99999999999999999999",
    "τ_b of nothing but ties": "consistency ties.csv --tau tau_b",
    "the same collection twice": "power tiny.csv tiny.csv",
    "an empty name": "power ''",
    "a missing score": "power gap.csv",
    "a measure by nearly its name": "score gold.txt gold.txt -l judgements --classes 0,1 -m nmd",
    "a target whose name tells no format": "score gold.txt gold.txt -l judgements --classes 0,1 -o new",
    "a folder that is a file": "power tiny.csv --out tiny.csv",
    "an unknown τ": "similarity tiny.csv --tau tau_c; --tau tau_b@1; --tau tau_ap@99",
    "a folder without scores": "power nothing",
    "gold without runs": "score tiny.csv",
    "runs without a layout": "score tiny.csv tiny.csv",
    "an unknown layout": "score tiny.csv tiny.csv --layout xml",
    "an unknown policy": "score gold.txt gold.txt --layout judgements --classes 0,1 --missing ignore",
    "no classes": "score gold.txt gold.txt --layout judgements",
    "an unknown kind": "measures --kind ranking",
    "an unknown data set": "data info nothing",
    "a target that cannot be": "convert tiny.csv empty.csv/x.csv",
    "an unknown target format": "convert tiny.csv x.xyz",
}


@pytest.fixture
def folder(score_file, monkeypatch):
    """A folder with files that are wrong in many ways, in which commands are run."""
    folder = score_file.parent
    monkeypatch.chdir(folder)
    monkeypatch.setenv("METAEVAL_DATA", str(folder / "data"))
    (folder / "empty.csv").write_text("")
    (folder / "binary.csv").write_bytes(bytes(range(256)))
    (folder / "table.csv").write_text("name,size\na,1\n")
    (folder / "wrong.parquet").write_text("PAR1 nothing PAR1")
    (folder / "one.csv").write_text("run,topic,measure,score\na,t,AP,1\na,u,AP,0\n")
    (folder / "gold.txt").write_text("q1 0 d1 0\n")
    (folder / "nothing").mkdir()
    ties = [f"{run},{topic},AP,0.5" for run in "abc" for topic in range(6)]
    (folder / "ties.csv").write_text("\n".join(["run,topic,measure,score", *ties]))
    (folder / "gap.csv").write_text("run,topic,measure,score\na,t,AP,1\na,u,AP,0\nb,t,AP,1\n")
    return folder


def is_one_sentence(out, err):
    lines = err.strip().splitlines()
    # On a slow machine a line says what is being done.
    problems = [line for line in lines if not line.startswith("metaeval: note: ") and not line.endswith(" …")]
    return (
        out == ""
        and len(problems) == 1
        and problems[0].startswith("metaeval: ")
        and not re.search(r"bug|Error:|Traceback|Usage", err)
    )


@pytest.mark.parametrize("words", BAD.values(), ids=BAD)
@pytest.mark.usefixtures("folder")
def test_whatever_is_wrong_ends_in_one_sentence_and_status_2(run, words):
    status, out, err = run(*shlex.split(words))
    assert status == 2, (out, err)
    assert is_one_sentence(out, err), err


def write_scores(path, values):
    runs, topics, measures = (
        [f"{axis}{i}" for i in range(size)] for axis, size in zip("rtm", values.shape, strict=True)
    )
    me.io.write_scores(me.Scores(values, runs=runs, topics=topics, measures=measures), path)


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
COMMANDS = {
    "similarity": "--bootstrap 20",
    "consistency": "--trials 20 -B 20",
    "power": "-B 20",
    "overlap": "-B 20",
    "contradictions": "-B 20",
    "baselines": "r0 r1",
    "robustness": "",
    "sample-size": "--trials 5",
    "topic-set-size": "--bootstrap 20",
    "variance": "--budget 100 --price topic=5",
    "coverage": "-r m0 --bootstrap 20",
}


@pytest.mark.parametrize("command", COMMANDS)
@pytest.mark.parametrize("nasty", NASTY)
def test_nasty_scores_are_analysed_or_refused_in_one_sentence(run, tmp_path, nasty, command):
    write_scores(tmp_path / "s.csv", NASTY[nasty])
    status, out, err = run(command, tmp_path / "s.csv", *COMMANDS[command].split())
    assert status in (0, 2), err
    assert status == 0 or is_one_sentence(out, err), err


WRONG_VALUES = {
    "similarity": "--bootstrap -1; --confidence 1; --confidence nan; --seed x; --tau tau_c",
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


@pytest.mark.parametrize(
    ("command", "options"),
    [(command, given) for command, all_given in WRONG_VALUES.items() for given in all_given.split("; ")],
)
def test_a_value_that_cannot_be_is_refused_in_one_sentence(run, score_file, command, options):
    status, out, err = run(command, score_file, *options.split())
    assert status == 2, (out, err)
    assert is_one_sentence(out, err), err


def scores(*, topics=12, measures=("AP", "RR"), **more):
    values = np.random.default_rng(1).random((4, topics, len(measures)))
    return me.Scores(values, runs=list("abcd"), topics=range(topics), measures=measures, **more)


def refusal(function, *given, **options):
    with pytest.raises(MetaevalError) as caught:
        function(*given, **options)
    return str(caught.value)


# What Python says, and what the command line says, of the same mistake: (function, its options, words, Python's, ours).
SAME = [
    (me.discriminative_power, {"n_permutations": 0}, "power F -B 0", "n_permutations is 0;", "-B is 0;"),
    (me.discriminative_power, {"alpha": 2}, "power F --alpha 2", "alpha is 2;", "--alpha is 2;"),
    (me.discriminative_power, {"n_jobs": 0}, "power F --n-jobs 0", "n_jobs is 0;", "--n-jobs is 0;"),
    (me.split_half_consistency, {"n_trials": 1}, "consistency F --trials 1", "n_trials is 1;", "--trials is 1;"),
    (me.split_half_consistency, {"size": 0}, "consistency F --size 0", "size is 0;", "--size is 0;"),
    (me.ranking_similarity, {"n_bootstrap": -1}, "similarity F --bootstrap -1", "n_bootstrap is -1;", "--bootstrap is -1;"),
    (me.ranking_similarity, {"confidence": 1}, "similarity F --confidence 1", "confidence is 1;", "--confidence is 1;"),
    (me.sample_size, {"n_trials": 0}, "sample-size F --trials 0", "n_trials is 0;", "--trials is 0;"),
    (me.sample_size, {"sizes": [1, 4]}, "sample-size F --sizes 1,4", "sizes=1,4: each", "--sizes 1,4: each"),
]  # fmt: skip


@pytest.mark.parametrize(("function", "options", "words", "in_python", "here"), SAME, ids=[case[2] for case in SAME])
def test_a_message_names_the_argument_in_python_and_the_option_here(
    run, score_file, function, options, words, in_python, here
):
    assert refusal(function, scores(), **options).startswith(in_python)
    _, _, err = run(*(str(score_file) if word == "F" else word for word in words.split()))
    assert err.startswith(f"metaeval: {here}")
    assert refusal(function, scores(), **options).startswith(in_python), "the command line has left no trace"


def test_other_spellings_of_the_same_thing(run, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "gold.csv").write_text("topic,a,b\nt,1,1\n")
    (tmp_path / "run.csv").write_text("topic,a,b\nt,1,3\n")
    in_python = refusal(me.io.read_runs, "gold.csv", "run.csv", format="probabilities")
    assert "rescale with rescale=True;" in in_python
    for command in ("score gold.csv run.csv", "compare -m NMD --gold gold.csv --runs run.csv"):
        _, _, err = run(*command.split(), "-l", "probabilities")
        assert "rescale with --normalise;" in err
    (tmp_path / "gap.csv").write_text("run,topic,measure,score\na,t,AP,1\na,u,AP,0\nb,t,AP,1\n")
    assert "missing=drop-topic, drop-run" in refusal(me.io.read_scores, "gap.csv")
    for command in ("power gap.csv", "convert gap.csv x.csv", "compare gap.csv -m AP"):
        assert "--missing drop-topic, drop-run" in run(*command.split())[2]
    (tmp_path / "odd.csv").write_text("name,size\na,1\n")
    assert "runs, so that the other columns are topics: format=transposed" in refusal(me.io.read_scores, "odd.csv")
    assert "--from transposed" in run("power", "odd.csv")[2]
    assert "metaeval convert --from transposed" in run("compare", "-m", "AP", "odd.csv")[2]
    (tmp_path / "words.csv").write_text("name,size\na,b\n")
    assert "are for read_runs" in refusal(me.io.read_scores, "words.csv")
    assert "gold and runs are for metaeval score" in run("power", "words.csv")[2]
    (tmp_path / "good.csv").write_text("run,topic,measure,score\na,t,AP,1\nb,t,AP,0\n")
    assert "format=measures, wide, transposed, sakai" in refusal(
        me.io.write_scores, me.io.read_scores("good.csv"), "folder"
    )
    assert "--to measures, wide, transposed, sakai" in run("convert", "good.csv", "folder")[2]
    with pytest.warns(
        MetaevalWarning, match=re.escape("state it with lower_is_better=NAME or higher_is_better=['x', 'y']")
    ):
        me.ranking_similarity(scores(measures=["x", "y"]), n_bootstrap=0)
    me.io.write_scores(scores(measures=["x", "y"]), "xy.csv")
    assert "with --lower-is-better NAME or --higher-is-better x --higher-is-better y" in run("similarity", "xy.csv")[2]


def test_options_of_another_command_are_named_with_it(run, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    store = me.ScoreStore("store")
    store.add(scores(collection="one"))
    store.add(scores(collection="two"))
    assert "choose one: --collection one" in run("power", "store")[2]
    assert "choose one: metaeval convert --collection one" in run("compare", "-m", "AP", "store")[2]
    (tmp_path / "gold.txt").write_text("q1 0 d1 0\nq2 0 d1 1\n")
    layout = ("-l", "judgements", "--classes", "0,1")
    assert "; metaeval score --as-quantification gives" in run("score", "gold.txt", "gold.txt", *layout, "-m", "NMD")[2]
    runs = me.io.read_runs("gold.txt", "gold.txt", format="judgements", classes=["0", "1"])
    assert "; runs.to_quantification() gives" in refusal(me.score, runs, "NMD")


def test_what_a_policy_did_is_said_as_it_was_typed(run, tmp_path):
    (tmp_path / "gold.csv").write_text("topic,a,b\nt,1,0\nu,1,0\n")
    (tmp_path / "run.csv").write_text("topic,a,b\nt,1,0\n")
    files = (tmp_path / "gold.csv", tmp_path / "run.csv")
    for policy in ("drop-topic", "worst"):
        with pytest.warns(MetaevalWarning, match=f"^missing={policy}: "):
            me.io.read_runs(*files, format="probabilities", missing=policy)
        status, _, err = run("score", *files, "-l", "probabilities", "--missing", policy)
        assert status == 0, err
        assert f"note: --missing {policy}: " in err


def test_columns_that_a_file_calls_otherwise_are_named_on_the_command_line(run, tmp_path):
    given, made = tmp_path / "mt.csv", tmp_path / "out.csv"
    given.write_text("system;segment;measure;value\na;1;AP;0.5\nb;1;AP;0.25\n")
    status, _, err = run("convert", given, made, "--columns", "run=system,topic=segment,score=value")
    assert status == 0, err
    assert made.read_text() == "run,topic,measure,score,collection\na,1,AP,0.5,mt\nb,1,AP,0.25,mt\n"
    status, _, err = run("convert", given, made, "--columns", "run:system")
    assert status == 2
    assert "--columns run:system: say what is called how" in err


def test_a_line_break_in_a_files_name_makes_no_second_line(run, tmp_path):
    status, _, err = run("compare", "-m", "NMD", "a\nb.csv", "-o", tmp_path / "report")
    assert status == 2
    assert all(line.startswith("metaeval: ") for line in err.splitlines()), err
