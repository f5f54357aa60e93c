import gzip
import pickle
import subprocess
import sys
from unittest.mock import Mock

import pytest
import requests

from metaeval.datasets import Dataset, File, download, fetch
from metaeval.errors import DatasetError, PolicyWarning
from tests.datasets.conftest import whole

CONTENT = b"q1 0 p1 2\nq1 0 p2 0\n" * 50


@pytest.fixture(autouse=True)
def impatient(monkeypatch):
    monkeypatch.setattr("pooch.core.time.sleep", lambda seconds: None)
    monkeypatch.setattr(download, "TIMEOUT", 10.0)


def nothing(request):
    """Hang up without a word."""


def hanging_half_way(request):
    whole(CONTENT[:100], length=len(CONTENT))(request)
    request.wfile.flush()
    request.server.over.wait(3)


def chunked_and_cut(request):
    whole(b"400\r\n" + CONTENT[:100], Transfer_Encoding="chunked")(request)


def found_in(folder):
    return sorted(path.name for path in folder.rglob("*") if path.is_file())


def test_every_file_is_there_and_whole_after_a_download_and_nothing_is_printed_or_asked_for_again(
    server, tmp_path, capfd
):
    tiny, folder = server.dataset({"gold.txt": CONTENT, "runs/a.txt": CONTENT[:400]}), tmp_path / "new" / "cache"
    files = fetch(tiny, folder=folder)
    folder.chmod(0o555)
    assert fetch(tiny, folder=folder) == files == {name: folder / name for name in ("gold.txt", "runs/a.txt")}
    folder.chmod(0o755)
    assert (files["gold.txt"].read_bytes(), files["runs/a.txt"].read_bytes()) == (CONTENT, CONTENT[:400])
    assert files["gold.txt"].stat().st_mode & 0o044, "a cache folder may be shared"
    assert found_in(tmp_path) == ["a.txt", "gold.txt"]
    assert sorted(server.asked) == ["/gold.txt", "/runs/a.txt"]
    assert capfd.readouterr() == ("", "")


@pytest.mark.parametrize("damage", [CONTENT[:-1], b"x" + CONTENT[1:]])
def test_a_damaged_file_is_downloaded_again_and_that_is_said(server, tmp_path, damage):
    tiny = server.dataset({"gold.txt": CONTENT, "other.txt": b"1"})
    (tmp_path / "gold.txt").write_bytes(damage)
    (tmp_path / "other.txt").write_bytes(b"1")
    with pytest.warns(PolicyWarning, match="gold.txt was not the file that it should be, and was downloaded again"):
        files = fetch(tiny, folder=tmp_path)
    assert files["gold.txt"].read_bytes() == CONTENT
    assert server.asked == ["/gold.txt"]


CUT, OTHER = "cannot be reached, or cuts the connection", "does not match the known hash"
ANSWERS = {
    # what a server answers one after the other, and why that is refused; None where the file is had
    "no such file": ([whole(b"gone", 404)], "answers 404 Not Found"),
    "server error": ([whole(b"oops", 500)], "answers 500 Internal Server Error"),
    "cut half-way": ([whole(CONTENT[:100], length=len(CONTENT))], CUT),
    "cut inside a chunk": ([chunked_and_cut], CUT),
    "hangs up": ([nothing], CUT),
    "hangs": ([hanging_half_way], r"127.0.0.1:\d+ (does not answer within 0.2 s|cannot be reached)"),
    "length said too small": ([whole(CONTENT, length=100)], OTHER),
    "empty": ([whole(b"")], OTHER),
    "a page instead of the file": ([whole(b"<html>log in", Content_Type="text/html")], OTHER),
    "another, larger file": ([whole(b"x" * 2_000_000)], "gives more than 1,000 bytes"),
    "redirect to itself": ([whole(b"", 302, Location="/gold.txt")], "Exceeded 30 redirects"),
    "redirect to a local file": ([whole(b"", 302, Location="file:///etc/hosts")], "No connection adapters"),
    "redirect to nonsense": ([whole(b"", 302, Location="http://[x")], "Invalid IPv6 URL"),
    "not really gzip": ([whole(CONTENT, Content_Encoding="gzip")], "gzip"),
    "after a redirect": ([whole(b"", 302, Location="/moved"), whole(CONTENT)], None),
    "compressed on the way": ([whole(gzip.compress(CONTENT), Content_Encoding="gzip")], None),
    "of a length that is no number": ([whole(CONTENT, length="many")], None),
    "at the third attempt": ([nothing, whole(b"", 503), whole(CONTENT)], None),
}


@pytest.mark.parametrize("case", ANSWERS)
def test_a_bad_download_is_refused_in_one_sentence_and_leaves_nothing(server, tmp_path, case, monkeypatch):
    answers, why = ANSWERS[case]
    if case == "hangs":
        monkeypatch.setattr(download, "TIMEOUT", 0.2)
    left = iter(answers)
    tiny = server.dataset({"gold.txt": CONTENT}, lambda request: next(left, answers[-1])(request))
    server.answers["/moved"] = server.answers["/gold.txt"]
    if why is None:
        assert fetch(tiny, folder=tmp_path)["gold.txt"].read_bytes() == CONTENT
        return
    hint = "Put it there by hand: metaeval data info tiny lists it"
    with pytest.raises(DatasetError, match=rf"^tiny needs gold.txt, which is not in .* and cannot be.*{why}.*{hint}$"):
        fetch(tiny, folder=tmp_path)
    assert found_in(tmp_path) == []
    assert len(server.asked) >= 1 + download.RETRIES


def test_what_was_had_before_a_failure_is_kept_for_the_next_time(server, tmp_path):
    tiny = server.dataset({"a.txt": b"a", "b.txt": b"b"})
    server.answers["/b.txt"] = whole(b"", 404)
    with pytest.raises(DatasetError, match=r"needs b.txt, which is not in"):
        fetch(tiny, folder=tmp_path)
    server.answers["/b.txt"] = whole(b"b")
    fetch(tiny, folder=tmp_path)
    assert server.asked == ["/a.txt", *["/b.txt"] * (2 + download.RETRIES)]


@pytest.mark.parametrize("is_damaged", [True, False])
def test_without_a_network_it_is_said_which_file_to_put_where(tmp_path, monkeypatch, is_damaged):
    monkeypatch.setenv("METAEVAL_DATA", str(tmp_path))
    if is_damaged:
        (tmp_path / "a.txt").write_bytes(b"damaged")
    state = "damaged" if is_damaged else "not"
    for error, why in (("ConnectionError", "reached"), ("ConnectTimeout", "answer"), ("SSLError", "cert")):
        monkeypatch.setattr(requests, "get", Mock(side_effect=getattr(requests.exceptions, error)("no")))
        with pytest.raises(DatasetError, match=rf"tiny needs a.txt, which is {state} in {tmp_path} and .*{why}"):
            fetch(Dataset("tiny", files=(File("a.txt", "https://example.org/a", "00", 1),)))
    assert not is_damaged or (tmp_path / "a.txt").read_bytes() == b"damaged"


def test_a_file_where_a_folder_should_be_is_an_error_in_words(server, tmp_path):
    for name in ("runs", "cache"):
        (tmp_path / name).write_text("a file")
    for folder in (tmp_path, tmp_path / "cache"):
        with pytest.raises(DatasetError, match=r"File exists|Not a directory"):
            fetch(server.dataset({"runs/a.txt": CONTENT}), folder=folder)


NAMES_THAT_LEAD_AWAY = [
    "../a", "a/../../b", "/etc/passwd", "a//b", "", ".", "..", "a/", "C:\\a", "C:/a", "a\\..\\..\\b", "~/a", "a/.b",
    "a\0b", "a\nb", "a\n", "./a", "-rf", "\\\\host\\a", "a b",
]  # fmt: skip
NO_ADDRESSES = ["file:///etc/passwd", "ftp://example.org/a", "example.org/a", "", "javascript:a"]


@pytest.mark.parametrize(
    ("name", "url"),
    [(name, "https://example.org/a") for name in NAMES_THAT_LEAD_AWAY] + [("a.txt", url) for url in NO_ADDRESSES],
)
def test_a_name_that_leads_out_of_the_folder_and_an_address_that_is_not_on_the_web_are_refused(name, url):
    with pytest.raises(DatasetError, match="is no file of the data folder from the web"):
        File(name, url, "00", 1)


FETCHER = """
import pickle, sys
from metaeval.datasets import fetch
print(sorted(fetch(pickle.loads(bytes.fromhex(sys.argv[1])), folder=sys.argv[2])))
"""


def test_two_processes_that_download_at_once_harm_nothing(server, tmp_path):
    slow = lambda request: request.server.over.wait(0.1) or whole(CONTENT)(request)  # noqa: E731
    tiny = server.dataset({f"{name}.txt": CONTENT for name in "abcd"}, slow)
    command = [sys.executable, "-c", FETCHER, pickle.dumps(tiny).hex(), str(tmp_path)]
    both = [subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True) for _ in range(2)]
    for process in both:
        out, _ = process.communicate(timeout=60)
        assert out.strip() == "['a.txt', 'b.txt', 'c.txt', 'd.txt']"
    assert found_in(tmp_path) == ["a.txt", "b.txt", "c.txt", "d.txt"]
