"""What visitors send, type and name by mistake or on purpose: one sentence, no traceback, no file elsewhere, nothing run."""

import bz2
import gzip
import io
import itertools
import os
import signal
import socket
import subprocess
import sys

import pandas as pd
import pytest

pytest.importorskip("streamlit")

from streamlit import net_util
from streamlit.testing.v1 import AppTest
from streamlit.web import cli

from metaeval.app import candidates, launch
from metaeval.app.inputs import clean_name
from metaeval.app.your_scores import Folder
from metaeval.errors import MetaevalError, visible
from metaeval.files import LARGEST_FILE_OPTION
from tests.app.serve import ROOT, find_free_port, wait_for
from tests.app.test_pages import open_page

pytestmark = pytest.mark.filterwarnings("ignore")


def write_csv(runs, measures=("AP", "nDCG")):
    rows = itertools.product(enumerate(runs), range(6), measures)
    scores = (f"{run},{t},{name},{(7 * k + 3 * t + len(name)) % 10 / 10}\n" for (k, run), t, name in rows)
    return "".join(["run,topic,measure,score\n", *scores])


CSV = write_csv("abcd")
WHOLE = pd.read_csv(io.StringIO(CSV), dtype={"topic": str}).to_parquet()
LONG_LABEL = pd.DataFrame({"run": "x" * 200_000, "topic": [*"abcdefghi"], "measure": "AP", "score": 0.5}).to_parquet()
MANY_COLUMNS = f"run,topic,{','.join(f'm{i}' for i in range(10_000))}\na,1{',x' * 10_000}".encode()

FILES = {
    "nothing": ({"s.csv": b""}, "s.csv: the file is empty"),
    "half a parquet": ({"s.parquet": WHOLE[: len(WHOLE) // 2]}, "s.parquet: it is not a complete Parquet file"),
    "parquet of one long label": ({"s.parquet": LONG_LABEL}, "a run has 200,000 letters"),
    "bomb in gzip": ({"s.csv.gz": gzip.compress(b"0" * 2**22)}, "it is not a table: field larger"),
    "half a bzip2": ({"s.csv.bz2": bz2.compress(CSV.encode())[:-12]}, "s.csv.bz2: it is no whole bz2 file"),
    "bomb in zip": ({"s.zip": b"PK\x03\x04" + bytes(2**22)}, "a ZIP archive is unpacked"),
    "pickle": ({"s.pkl": b"cos\nsystem\n(S'touch ran'\ntR."}, "its format cannot be detected"),
    "module": ({"typer.py": b"raise SystemExit"}, "its format cannot be detected"),
    "two tables": ({"s.csv": CSV.encode(), "t.csv": CSV.encode()}, "files: a tidy score matrix is one file"),
    "two of a name": ({"s.csv": CSV.encode(), "x/s.csv": b"x"}, "two files are called s.csv"),
    "a gap": ({"s.csv": CSV.replace(",0.5\n", ",\n").encode()}, "drop-topic"),
    "thousands of columns": ({"s.csv": MANY_COLUMNS}, "9997 more"),
}


@pytest.fixture(scope="module")
def page():
    """The page Your scores, one for all: what one file did wrong leaves nothing behind for the next."""
    return open_page()


def send(page, files):
    page.file_uploader(key="sent").set_value([(name, content, "") for name, content in files.items()]).run()
    assert not page.exception
    return [shown.value.replace("\\", "") for shown in page.error]


@pytest.mark.parametrize(("files", "message"), FILES.values(), ids=FILES)
def test_an_odd_file_is_one_sentence_that_calls_it_as_the_visitor_does(page, files, message):
    (said,) = send(page, files)
    assert message in said
    assert str(page.session_state["folder"].path) not in said
    assert not page.success


NAMES = {
    "scores (1), ours.csv": "scores (1), ours.csv",
    "评分.csv": "评分.csv",
    "<img src=x onerror=alert(1)>.csv": "_img src=x onerror=alert(1)_.csv",
    "a\nb\r\n.csv": "a_b__.csv",
    "\u202ecsv.parquet": "_csv.parquet",
    "n" * 400 + ".csv": "n" * 150 + ".csv",
    "ü" * 400 + ".csv": "ü" * 75 + ".csv",
    **dict.fromkeys(["../../x.csv", "..\\..\\x.csv", "/etc/x.csv", "--x.csv", ".x.csv"], "x.csv"),
}


@pytest.mark.parametrize(("name", "kept"), NAMES.items())
def test_a_name_of_any_letters_is_kept_or_cleaned_and_no_file_leaves_its_folder(page, name, kept):
    assert clean_name(name) == kept
    assert send(page, {name: WHOLE if name.endswith("parquet") else CSV.encode()}) == []
    assert [path.name for path in page.session_state["folder"].path.rglob("*")] == [kept]
    assert "<img" not in page.code[0].value
    assert visible(page.code[0].value).count("\n") == 0


def test_a_table_that_is_a_program_with_a_measure_that_names_it_is_a_table(tmp_path, monkeypatch):
    """A file that is scores and Python, whose measure is called as a function in it, in the working folder."""
    monkeypatch.chdir(tmp_path)
    proof = tmp_path / "ran"
    content = write_csv((f"__import__('pathlib').Path({str(proof)!r}).touch()", *"123"), ('"AP"', '"scores.py:f"'))
    content = content.replace("run,topic,measure,score", '"run","topic","measure","score"')
    (tmp_path / "scores.py").write_text(content)
    compile(content, "scores.py", "exec")
    page = open_page()
    assert send(page, {"scores.py": content.encode()}) == []
    for question, key in (("ranks", "which"), ("agreement", "reference"), ("compare", "which")):
        page.selectbox(key="question").select(question).run()
        page.selectbox(key=key).select("scores.py:f").run()
        page.button(key="start").click().run()
        assert (list(page.exception), list(page.error)) == ([], []), question
    assert not proof.exists()


def test_what_was_sent_goes_with_the_visit_and_two_visitors_share_nothing(page):
    folder = Folder()
    path = folder.path
    assert path.stat().st_mode & 0o077 == 0  # nobody else may look into it
    (path / "s.csv").write_text("x")
    del folder
    assert not path.exists()
    for run in "az":  # a new file takes the place of the old one
        assert send(page, {"s.csv": CSV.replace("a,", f"{run},").encode()}) == []
        assert run in page.session_state["opened"][1].runs
    one = open_page()
    send(one, {"mine.csv": CSV.encode()})
    page.run()
    assert (one.success[0].value[-4:], page.success[0].value[-1:]) == ("mine", "s")
    assert one.session_state["folder"].path != page.session_state["folder"].path
    assert "a" not in page.session_state["opened"][1].runs


PICTURE, TINY = "![x](http://example.org/x.png)", "1e-320 1"
ADDRESSES = [
    {"page": "Closeness", "items": "9" * 5000, "run": "<script>alert(1)</script>", "level": "x", "unknown": "1"},
    {"page": "../../etc/passwd", "items": "1 " * 100_000, "classes": "," * 100_000, "constant": "-1"},
    {"page": "Closeness", "items": "-1 nan \x00", "matrix": "/" * 1000},
    {"page": "Two runs", "first": "1 2 /", "how": "", "runs": PICTURE, "turn": "CEM_ORD"},
    {"page": "Two runs", "first": "3 1 / 0 4", "second": "2 2 / 0 4", "runs": f"<img src=x onerror=1>, {PICTURE}"},
    {"page": "Two distributions", "gold": "1e308 1e308", "p": "inf", "scale": "," * 100, "surface": "none"},
    {"page": "Two distributions", "gold": TINY, "p": TINY, "q": "1 1e-320", "estimates": "<b>, <b>"},
    {"page": "Your scores", "question": "power", "sent": "/etc/passwd", "data_set": "../x", "folder": "/"},
]
QUESTIONS = {name: candidates.SPECIFICATIONS[page].question for name, page in candidates.PAGES.items()}


@pytest.mark.parametrize("address", ADDRESSES, ids=lambda address: f"{address['page']}: {', '.join(address)}")
def test_a_hostile_address_is_at_most_a_sentence(address):
    page = AppTest.from_file(str(ROOT / "metaeval" / "app" / "main.py"), default_timeout=60)
    page.query_params.update(address)
    page.run()
    assert not page.exception
    assert len(page.error) <= 1
    question = {**QUESTIONS, "Your scores": "Your scores"}.get(address["page"], QUESTIONS["Two runs"])
    assert page.title[0].value.startswith(question)
    assert not any("](http" in text.value for text in page.markdown)
    bodies = " ".join(block.proto.body for block in page.get("html"))
    assert "<img" not in bodies
    assert ("&lt;img" in bodies) == ("<img" in address.get("runs", ""))


VISITED = """
from metaeval.__main__ import main
from metaeval.app.your_scores import Folder

visit = Folder()  # as one that goes on while the server is stopped
(visit.path / "s.csv").write_text("x")
main()
"""


def test_ctrl_c_leaves_one_line_and_nothing_else_and_strangers_are_refused(tmp_path):
    folders = home, temporary, here = [tmp_path / name for name in ("home", "temporary", "here")]
    for folder in folders:
        folder.mkdir()
    port = find_free_port()
    server = subprocess.Popen(
        [sys.executable, "-c", VISITED, "app", "--no-browser", "--port", str(port)], cwd=here, text=True,
        env={**os.environ, "HOME": str(home), "TMPDIR": str(temporary), "PYTHONPATH": str(ROOT)},
        stdout=subprocess.PIPE, stderr=subprocess.PIPE,
    )  # fmt: skip
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
    assert (server.returncode, out, err) == (0, "", "")
    left = [path for folder in folders for path in folder.rglob("*") if path.is_file()]
    caches = (home / ".cache" / "metaeval", home / ".cache" / "matplotlib")  # code that was compiled, and fonts, stay
    assert [path for path in left if not any(cache in path.parents for cache in caches)] == []
    assert not list(temporary.iterdir())


def test_without_streamlit_one_sentence_says_what_to_install_and_with_it_no_server_elsewhere_is_asked(monkeypatch):
    asked = []
    monkeypatch.setenv(LARGEST_FILE_OPTION, "1000")
    monkeypatch.setattr(net_util, "get_external_ip", lambda: asked.append(1))
    monkeypatch.setattr(cli, "main", lambda *_, **__: net_util.get_external_ip())
    monkeypatch.setattr(signal, "signal", lambda *_: None)
    launch.launch(browser=False)
    assert asked == []
    monkeypatch.setattr(launch, "find_spec", lambda _: None)
    with pytest.raises(MetaevalError, match=r'^the playground needs Streamlit: pip install "metaeval\[app\]"$'):
        launch.launch()
