"""What visitors send, type and name by mistake or on purpose: one sentence, no traceback, no file elsewhere, nothing run."""

import bz2
import gzip
import io
import os
import signal
import socket
import subprocess
import sys
import zipfile

import numpy as np
import pandas as pd
import pytest

pytest.importorskip("streamlit")

from streamlit.testing.v1 import AppTest

from metaeval.app.jobs import Job, Visits, Workspace
from metaeval.app.launch import find_address, find_port
from metaeval.app.views import two_distributions, two_runs, your_scores
from metaeval.app.views.your_scores import _read
from metaeval.errors import MetaevalError, visible
from metaeval.files import LARGEST_FILE_OPTION
from metaeval.measures import Measure, measure
from tests.app.serve import ROOT, wait_for

pytestmark = pytest.mark.filterwarnings("ignore")

CSV = "run,topic,measure,score\n" + "".join(
    f"{run},{topic},{measure},{(7 * k + 3 * topic + len(measure)) % 10 / 10}\n"
    for k, run in enumerate("abcd")
    for topic in range(6)
    for measure in ("AP", "nDCG")
)


def pack(**files):
    packed = io.BytesIO()
    with zipfile.ZipFile(packed, "w", zipfile.ZIP_DEFLATED) as archive:
        for name, content in files.items():
            archive.writestr(name, content)
    return packed.getvalue()


def parquet(frame):
    packed = io.BytesIO()
    frame.to_parquet(packed)
    return packed.getvalue()


WHOLE = parquet(pd.read_csv(io.StringIO(CSV), dtype={"topic": str}))
LONG_LABEL = parquet(
    pd.DataFrame({"run": ["x" * 200_000] * 9, "topic": list("abcdefghi"), "measure": "AP", "score": 0.5})
)
"""A label of which each row would get a copy: 4 KB that are 2 GB when it is long enough."""

MANY_COLUMNS = f"run,topic,{','.join(f'm{i}' for i in range(10_000))}\na,1{',x' * 10_000}".encode()

FILES = {
    "nothing": ({"s.csv": b""}, "s.csv: the file is empty"),
    "half a parquet": ({"s.parquet": WHOLE[: len(WHOLE) // 2]}, "s.parquet: it is not a complete Parquet file"),
    "parquet in name": ({"s.parquet": CSV.encode()}, "s.parquet: it is not a complete Parquet file"),
    "parquet of one long label": ({"s.parquet": LONG_LABEL}, "there is a label of 200,000 letters"),
    "bomb in gzip": ({"s.csv.gz": gzip.compress(b"0" * 2**22)}, "it is not a table: field larger"),
    "half a gzip": ({"s.csv.gz": gzip.compress(CSV.encode())[:-12]}, "s.csv.gz: it is no whole gzip file"),
    "half a bzip2": ({"s.csv.bz2": bz2.compress(CSV.encode())[:-12]}, "s.csv.bz2: it is no whole bz2 file"),
    "bomb in zip": ({"s.zip": pack(a="0" * 2**22)}, "a ZIP archive is unpacked"),
    "path in zip": ({"s.zip": pack(**{"../../../x.csv": CSV})}, "a ZIP archive is unpacked"),
    "workbook": ({"s.xlsx": pack(**{"[Content_Types].xml": "<a/>"})}, "it is no workbook that can be read"),
    "workbook called text": (
        {"s.csv": pack(**{"[Content_Types].xml": "<a/>"})},
        "the name of an Excel workbook ends in .xlsx",
    ),
    "half a letter of UTF-16": ({"s.csv": CSV.encode("utf-16")[:-1]}, "s.csv: it begins as UTF-16 does, but is not"),
    "Latin-1": ({"s.csv": CSV.replace("a,", "ä,").encode("latin-1")}, "s.csv:2: byte 0xe4 is not UTF-8"),
    "noise": ({"s.csv": np.random.default_rng(0).bytes(5000)}, "binary, not text"),
    "deep JSON": ({"s.json": b"[" * 100_000}, "it is nested too deeply"),
    "pickle": ({"s.pkl": b"cos\nsystem\n(S'touch ran'\ntR."}, "its format cannot be detected"),
    "module": ({"typer.py": b"raise SystemExit"}, "its format cannot be detected"),
    "two tables": ({"s.csv": CSV.encode(), "t.csv": CSV.encode()}, "folder: a tidy score matrix is one file"),
    "two formats": ({"s.csv": CSV.encode(), "t.txt": b"x"}, "folder/t.txt: its format cannot be detected"),
    "endless numbers": ({"s.csv": CSV.replace("0.5", "1e400").encode()}, "the score '1e400' is not a finite number"),
    "thousands of columns": ({"s.csv": MANY_COLUMNS}, "9997 more"),
}


@pytest.fixture(scope="module")
def page():
    """The page Your scores, one for all: what one file did wrong leaves nothing behind for the next."""
    opened = AppTest.from_string("from metaeval.app.views import your_scores\nyour_scores.show()", default_timeout=60)
    return opened.run()


def send(page, files):
    page.file_uploader(key="sent").set_value([(name, content, "") for name, content in files.items()]).run()
    assert not page.exception
    return [one.value.replace("\\", "") for one in page.error]


@pytest.mark.parametrize(("files", "message"), FILES.values(), ids=FILES)
def test_an_odd_file_is_one_sentence_that_calls_it_as_the_visitor_does(page, files, message):
    (said,) = send(page, files)
    assert message in said
    assert "sent-" not in said
    assert str(page.session_state["workspace"].path) not in said
    assert not page.success


@pytest.mark.parametrize(
    ("name", "kept"),
    [
        ("scores (1), ours.csv", "scores (1), ours"),
        ("评分.csv", "评分"),
        ("<img src=x onerror=alert(1)>.csv", "_img src=x onerror=alert(1)_"),
        ("a\nb\r\n.csv", "a_b__"),
        ("\u202ecsv.parquet", "_csv"),
        ("n" * 400 + ".csv", "n" * 150),
        ("ü" * 400 + ".csv", "ü" * 75),
        ("../../x/", "scores"),
    ],
)
def test_a_name_of_any_letters_is_kept_or_cleaned_and_the_command_says_the_same(page, name, kept):
    content = WHOLE if name.endswith("parquet") else CSV.encode()
    assert send(page, {name: content}) == []
    assert page.success[0].value.replace("\\", "").endswith(f", {kept}")
    workspace = page.session_state["workspace"]
    assert len(list(workspace.path.rglob("*"))) == 2  # a folder and the file in it
    assert "<img" not in page.code[0].value
    assert visible(page.code[0].value).count("\n") == 0


POLYGLOT = '"run","topic","measure","score"\n' + "".join(
    f"""{run},"t{topic}",{measure},{(7 * k + 3 * topic + len(measure)) % 10 / 10}\n"""
    for k, run in enumerate(("__import__('pathlib').Path('ran').touch()", '"b"', '"c"', '"d"'))
    for topic in range(6)
    for measure in ('"AP"', '"{label}"')
)
"""A table of scores that is a program too, which makes the file `ran`."""


def test_a_table_that_is_a_program_with_a_measure_that_names_it_is_a_table():
    label = "sent-1/scores.py:f"
    page = AppTest.from_string("from metaeval.app.views import your_scores\nyour_scores.show()", default_timeout=60)
    assert send(page.run(), {"scores.py": POLYGLOT.replace("{label}", label).encode()}) == []
    page.selectbox(key="question").select("ranks").run()
    page.selectbox(key="which").select(label).run()
    page.number_input(key="trials").set_value(100).run()
    page.button(key="start").click().run()
    job, workspace = page.session_state["job"], page.session_state["workspace"]
    job._process.wait(60)
    assert job.succeeded, job.problem()
    (kept,) = workspace.path.glob("sent-*/*")
    assert kept.name == "scores.txt"
    assert not list(workspace.path.rglob("ran"))
    assert f"--measure={label}" in job.words


def test_a_command_of_a_page_runs_no_file_whatever_its_words_say():
    workspace = Workspace()
    (workspace.path / "scores.py").write_text("import pathlib\npathlib.Path('ran').touch()\ndef f(p, q): return p\n")
    for words in (["measures", "scores.py:f"], ["properties", "scores.py:f"]):
        job = Job(words, workspace.path)
        job._process.wait(60)
        assert job.problem() == "scores.py:f: measures of files are not run here"
    assert not (workspace.path / "ran").exists()
    workspace.close()


@pytest.mark.parametrize("label", ["a\0b", "a" * 2**18])
def test_a_name_that_no_command_can_hold_is_a_sentence(label):
    workspace = Workspace()
    with pytest.raises(MetaevalError, match="the command cannot be started .*: rename what has an odd name"):
        Job(["ranks", "s.csv", f"--measure={label}"], workspace.path)
    workspace.close()


def test_a_data_set_that_was_not_offered_is_refused(monkeypatch):
    page = AppTest.from_string("from metaeval.app.views import your_scores\nyour_scores.show()", default_timeout=60)
    monkeypatch.setattr(your_scores, "_list_data_sets", lambda: ["/etc/passwd"])
    page.run()
    page.selectbox(key="data_set").set_value("/etc/passwd")
    monkeypatch.setattr(your_scores, "_list_data_sets", lambda: ["tiny"])
    page.run()
    assert not page.success
    assert not page.exception


def test_several_files_are_called_alike_whenever_they_are_sent(page):
    """The name is part of the seed: the second visit would otherwise get other numbers than the first."""
    for _ in range(2):
        runs = {f"{run}.txt": f"{run} Q0 d1 1 0.5 {run}\n".encode() for run in "ab"}
        (said,) = send(page, runs)
        assert said.startswith("folder")
        assert not list(page.session_state["workspace"].path.glob("sent-*/*.txt"))


def test_messages_about_reading_name_the_fields_of_the_page(page):
    (said,) = send(page, {"s.csv": CSV.replace(",0.5\n", ",\n").encode()})
    assert "“Where a run has no score on a topic”: drop-topic" in said
    assert "missing=" not in said


def test_a_data_set_that_cannot_be_downloaded_is_one_sentence(page, tmp_path, monkeypatch):
    monkeypatch.setenv("METAEVAL_DATA", str(tmp_path))
    monkeypatch.setattr(socket, "socket", _refuse)
    monkeypatch.setattr(socket, "create_connection", _refuse)
    monkeypatch.setattr(socket, "getaddrinfo", _refuse)
    with pytest.raises(MetaevalError, match=r"trec-web-2013 needs \d+ files .*\(no network\)"):
        _read("trec-web-2013", {})


def _refuse(*_, **__):
    raise OSError("no network")


def test_what_was_sent_is_read_once_and_goes_with_the_visit():
    workspace, reads = Workspace(), []
    for _ in range(3):
        workspace.keep([("s.csv", lambda: reads.append(1) or b"1")], "same")
    assert len(reads) == 1
    workspace.opened = ("asked", "scores")
    here = {"x"}
    visits = Visits(here.__contains__, patience=0.0)
    visits.add("x", workspace)
    workspace.job = Job(["--help"], workspace.path)
    visits.clear()
    assert workspace.path.exists()
    here.clear()
    visits.clear()
    assert not workspace.job.running
    assert workspace.opened == (None, None)
    assert not workspace.path.exists()


ADDRESSES = {
    "huge": {
        "page": "Closeness",
        "items": "9" * 5000,
        "run": "<script>alert(1)</script>",
        "level": "x",
        "unknown": "1",
    },
    "long": {"page": "../../etc/passwd", "items": "1 " * 100_000, "classes": "," * 100_000, "constant": "-1"},
    "no numbers": {"page": "Closeness", "items": "-1 nan \x00", "matrix": "/" * 1000, "run": "own confusion matrix"},
    "half": {
        "page": "Two runs",
        "first": "1 2 /",
        "how": "",
        "runs": "![x](http://example.org/x.png)",
        "turn": "CEM_ORD",
    },
    "infinite": {"page": "Two distributions", "gold": "1e308 1e308", "p": "inf", "scale": "," * 100, "surface": "none"},
    "tiny": {
        "page": "Two distributions",
        "gold": "1e-320 1",
        "p": "1e-320 1",
        "q": "1 1e-320",
        "estimates": "<b>, <b>",
    },
    "fields of files": {
        "page": "Your scores",
        "question": "power",
        "sent": "/etc/passwd",
        "data_set": "../x",
        "trials": "-1",
    },
}


QUESTIONS = {
    "Two runs": "Which system is better?",
    "Two distributions": "Which estimate is better?",
    "Closeness": "Which mistake is smaller?",
    "Your scores": "Your scores",
}
"""What stands on top of each page."""


@pytest.mark.parametrize("address", ADDRESSES.values(), ids=ADDRESSES)
def test_a_hostile_address_is_at_most_a_sentence(address):
    page = AppTest.from_file(str(ROOT / "metaeval" / "app" / "main.py"), default_timeout=60)
    page.query_params.update(address)
    page.run()
    assert not page.exception
    assert len(page.error) <= 1
    assert page.title[0].value.startswith(QUESTIONS.get(address["page"], QUESTIONS["Two runs"]))
    assert not any("](http" in one.value for one in page.markdown)


def test_two_visitors_share_nothing():
    one, other = (
        AppTest.from_string("from metaeval.app.views import your_scores\nyour_scores.show()", default_timeout=60).run()
        for _ in range(2)
    )
    send(one, {"mine.csv": CSV.encode()})
    send(other, {"yours.csv": CSV.replace("a,", "z,").encode()})
    one.run()
    assert one.success[0].value.endswith("mine")
    assert other.success[0].value.endswith("yours")
    assert one.session_state["workspace"].path != other.session_state["workspace"].path
    assert "a" in one.session_state["workspace"].opened[1].runs
    assert "a" not in other.session_state["workspace"].opened[1].runs


def test_a_measure_without_a_score_is_said_and_listed_last():
    def odd(estimated, gold):
        if (estimated[..., 0] == 0.25).any():
            raise RuntimeError("no <b>quarters</b>")
        return np.where(estimated[..., 0] == 0.5, np.nan, np.abs(estimated - gold).sum(-1))

    gold, first, second = np.array([0.5, 0.3, 0.2]), np.array([0.25, 0.25, 0.5]), np.array([0.2, 0.3, 0.5])
    measures = [Measure("odd", False, kind="quantification", formula=odd), measure("NMD")]
    rows = {str(row["measure"]): row for row in two_distributions.compare_estimates(measures, gold, first, second)}
    assert "no <b>quarters</b>" in rows["odd"]["error"]
    assert rows["NMD"]["error"] == ""
    rows = two_distributions.compare_estimates(measures, gold, np.array([0.5, 0.5, 0.0]), second)
    assert [str(row["measure"]) for row in rows] == ["NMD", "odd"]
    assert two_distributions.describe_turns(np.arange(3.0), np.array([1, np.nan, -1]), ("A", "B")) == (
        "A wins at first; not defined once you move 1; B wins once you move 2"
    )


def test_a_bug_is_a_sentence_on_the_page(monkeypatch):
    def fail(*_):
        raise ZeroDivisionError("<b>of all things</b>")

    monkeypatch.setattr(two_runs, "compare_runs", fail)
    page = AppTest.from_string("from metaeval.app.views import two_runs\ntwo_runs.show()", default_timeout=60).run()
    assert not page.exception
    assert "This is a bug of metaeval: ZeroDivisionError" in page.error[0].value.replace("\\", "")
    monkeypatch.setenv("METAEVAL_DEBUG", "1")
    assert page.run().exception


@pytest.mark.parametrize(
    ("host", "message"),
    [
        ("", "an address to listen on has letters or digits"),
        (" ", "an address to listen on has letters or digits"),
        ("no.such.host.invalid", "there is no address 'no.such.host.invalid'"),
        ("127.0.0.1 --x", "there is no address"),
        ("x" * 300, "there is no address"),
    ],
)
def test_an_address_that_is_none_is_refused(host, message):
    with pytest.raises(MetaevalError, match=message):
        find_address(host)


def test_an_address_of_another_machine_is_refused():
    with pytest.raises(MetaevalError, match=r"192\.0\.2\.1 is no address of this machine: name another with --host"):
        find_port("192.0.2.1", None)  # kept for documents: nobody has it


@pytest.mark.parametrize(
    ("words", "message"),
    [
        (["--port", "0"], "--port takes a number"),
        (["--port", "99999"], "--port takes a number"),
        (["--port", "x"], "--port takes a whole number"),
        (["--host", ""], "an address to listen on has letters or digits"),
    ],
)
def test_a_command_that_cannot_start_says_so_in_a_sentence(words, message, tmp_path, capfd, monkeypatch):
    from metaeval.cli import main

    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr(sys, "argv", ["metaeval", "app", "--no-browser", *words])
    with pytest.raises(SystemExit) as stop:
        main()
    said = capfd.readouterr()
    assert stop.value.code == 2
    assert message in said.err
    assert said.err.count("\n") == 1
    assert said.out == ""


def test_without_streamlit_one_sentence_says_what_to_install(capfd, monkeypatch):
    from metaeval.app import launch

    monkeypatch.setattr(launch, "find_spec", lambda _: None)
    with pytest.raises(MetaevalError, match=r'^the playground needs Streamlit: pip install "metaeval\[app\]"$'):
        launch.launch()


VISITED = """
import sys
from metaeval.__main__ import main
from metaeval.app.jobs import Job, Workspace

visit = Workspace()  # as one that goes on while the server is stopped
rows = [f"r{r},t{t},{(7 * r + 3 * t) % 10 / 10}" for r in range(40) for t in range(50)]
source = visit.keep([("s.csv", lambda: "\\n".join(["run,topic,AP", *rows]).encode())])
visit.job = Job(["power", source, "-B", "1000000"], visit.path)
print(visit.job._process.pid, flush=True)
main()
"""


def test_ctrl_c_leaves_one_line_and_nothing_else_and_strangers_are_refused(tmp_path):
    home, temporary, here = (tmp_path / name for name in ("home", "temporary", "here"))
    for folder in (home, temporary, here):
        folder.mkdir()
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        port = probe.getsockname()[1]
    server = subprocess.Popen(
        [sys.executable, "-c", VISITED, "app", "--no-browser", "--port", str(port)], cwd=here, text=True,
        env={**os.environ, "HOME": str(home), "TMPDIR": str(temporary), "PYTHONPATH": str(ROOT)},
        stdout=subprocess.PIPE, stderr=subprocess.PIPE,
    )  # fmt: skip
    command = int(server.stdout.readline())
    assert server.stdout.readline() == f"metaeval: the playground is at http://127.0.0.1:{port} (Ctrl-C stops it)\n"
    wait_for(f"http://127.0.0.1:{port}", server)
    with socket.create_connection(("127.0.0.1", port), timeout=30) as line:  # a page of another site knocks
        line.sendall(
            f"GET /_stcore/stream HTTP/1.1\r\nHost: 127.0.0.1:{port}\r\nUpgrade: websocket\r\nConnection: Upgrade\r\n"
            "Sec-WebSocket-Version: 13\r\nSec-WebSocket-Key: dGhlIHNhbXBsZSBub25jZQ==\r\n"
            "Origin: http://example.org\r\n\r\n".encode()
        )
        assert b" 403 " in line.recv(1000).partition(b"\r\n")[0]
    assert list(temporary.iterdir())
    server.send_signal(signal.SIGINT)
    out, err = server.communicate(timeout=60)
    assert server.returncode == 0
    assert (out, err) == ("", "")
    left = {one for folder in (home, temporary, here) for one in folder.rglob("*") if one.is_file()}
    assert [
        one for one in left if home / ".cache" / "metaeval" not in one.parents
    ] == []  # code that was compiled stays
    assert not list(temporary.iterdir())
    with pytest.raises(ProcessLookupError):
        os.kill(command, 0)


def test_no_server_elsewhere_is_asked_for_the_address_of_this_machine(monkeypatch):
    from streamlit import net_util
    from streamlit.web import cli

    from metaeval.app import launch

    asked = []
    monkeypatch.setenv(LARGEST_FILE_OPTION, "1000")
    monkeypatch.setattr(net_util, "get_external_ip", lambda: asked.append(1))
    monkeypatch.setattr(cli, "main", lambda *_, **__: net_util.get_external_ip())
    monkeypatch.setattr(signal, "signal", lambda *_: None)
    launch.launch(browser=False)
    assert asked == []
