import gzip
import hashlib
import pickle
import subprocess
import sys

import pytest
import requests

from metaeval.datasets import Dataset, File, download, fetch, remember_unreachable_hosts
from metaeval.errors import DatasetError, PolicyWarning
from tests.datasets.bad_server import whole

CONTENT = b"q1 0 p1 2\nq1 0 p2 0\n" * 50
QUICK = {"waits": (0.01, 0.01), "timeout": 5.0, "progress": False}


def chunked_and_cut(request):
    request.send_response(200)
    request.send_header("Transfer-Encoding", "chunked")
    request.end_headers()
    request.wfile.write(b"400\r\n" + CONTENT[:100])


def nothing(request):
    """Hang up without a word."""


def hanging(request):
    request.server.over.wait(3)


def hanging_half_way(request):
    request.send_response(200)
    request.send_header("Content-Length", str(len(CONTENT)))
    request.end_headers()
    request.wfile.write(CONTENT[:100])
    request.wfile.flush()
    request.server.over.wait(3)


def found_in(folder):
    """Every file but the lock."""
    return sorted(path.name for path in folder.rglob("*") if path.is_file() and path.name != ".download.lock")


def test_every_file_is_there_and_whole_after_a_download(server, tmp_path):
    tiny = server.dataset({"gold.txt": CONTENT, "runs/a.txt": CONTENT[:400]})
    files = fetch(tiny, folder=tmp_path / "new" / "cache", **QUICK)
    assert files["gold.txt"].read_bytes() == CONTENT
    assert files["runs/a.txt"].read_bytes() == CONTENT[:400]
    assert files["runs/a.txt"] == tmp_path / "new" / "cache" / "runs" / "a.txt"
    assert found_in(tmp_path) == ["a.txt", "gold.txt"]


def test_a_file_that_is_whole_is_not_asked_for_and_nothing_is_written(server, tmp_path):
    tiny = server.dataset({"gold.txt": CONTENT})
    (tmp_path / "gold.txt").write_bytes(CONTENT)
    fetch(tiny, folder=tmp_path, **QUICK)
    assert server.asked == []
    assert [path.name for path in tmp_path.iterdir()] == ["gold.txt"]


@pytest.mark.parametrize("damage", [CONTENT[:-1], b"", b"x" + CONTENT[1:], CONTENT + b"\n"])
def test_a_damaged_file_is_downloaded_again_and_that_is_said(server, tmp_path, damage):
    tiny = server.dataset({"gold.txt": CONTENT, "other.txt": b"1"})
    (tmp_path / "gold.txt").write_bytes(damage)
    (tmp_path / "other.txt").write_bytes(b"1")
    with pytest.warns(PolicyWarning, match="gold.txt was not the file that it should be, and was downloaded again"):
        files = fetch(tiny, folder=tmp_path, **QUICK)
    assert files["gold.txt"].read_bytes() == CONTENT
    assert server.asked == ["/gold.txt"]


BAD = {
    "no such file": (whole(b"gone", 404), "answers 404 Not Found", 1),
    "server error": (whole(b"oops", 500), "answers 500 Internal Server Error", 3),
    "too many requests": (whole(b"later", 429), "answers 429 Too Many Requests", 3),
    "cut half-way": (whole(CONTENT[:100], length=len(CONTENT)), "cut the connection after", 3),
    "cut inside a chunk": (chunked_and_cut, "cut the connection after", 3),
    "hangs up": (nothing, "cut the connection after 0 of 1,000 bytes of gold.txt", 3),
    "length said too small": (whole(CONTENT, length=100), "gives 100 bytes with sha256", 3),
    "length said too large": (whole(CONTENT, length=5000), "cut the connection after", 3),
    "length that is no number": (whole(CONTENT, length="many"), "does not lead to a download", 1),
    "empty": (whole(b""), "gives 0 bytes with sha256 e3b0c442", 3),
    "another file": (whole(b"x" * 1000), "not 1,000 with ", 1),
    "another, larger file": (whole(b"x" * 2000), "gives 2,000 bytes with sha256", 1),
    "endless file": (whole(b"x" * 2_000_000), "gives far more than 1,000 bytes", 1),
    "a page instead of the file": (whole(b"<html>log in", Content_Type="text/html"), "gives 12 bytes", 3),
    "redirect to itself": (whole(b"", 302, Location="/gold.txt"), "redirects without end", None),
    "redirect to a local file": (whole(b"", 302, Location="file:///etc/hosts"), "does not lead to a download", 1),
    "redirect to ftp": (whole(b"", 302, Location="ftp://127.0.0.1/gold.txt"), "does not lead to a download", 1),
    "redirect to nonsense": (whole(b"", 302, Location="http://[x"), "does not lead to a download", 1),
    "nothing to see": (whole(b"", 204), "gives 0 bytes", 3),
    "not really gzip": (whole(CONTENT, Content_Encoding="gzip"), "does not lead to a download", 1),
}


@pytest.mark.parametrize("case", BAD)
def test_a_bad_download_is_refused_in_one_sentence_and_leaves_nothing(server, tmp_path, case):
    answer, why, attempts = BAD[case]
    tiny = server.dataset({"gold.txt": CONTENT}, answer)
    with pytest.raises(DatasetError, match=r"^tiny needs 1 file that is not in .*, and it cannot be") as caught:
        fetch(tiny, folder=tmp_path, **QUICK)
    assert why in str(caught.value)
    assert "\n" not in str(caught.value)
    assert str(caught.value).endswith("Put it there by hand: metaeval data info tiny lists it")
    assert found_in(tmp_path) == []
    assert attempts is None or len(server.asked) == attempts


@pytest.mark.parametrize("answer", [hanging, hanging_half_way])
def test_a_server_that_hangs_is_given_up(server, tmp_path, answer):
    tiny = server.dataset({"gold.txt": CONTENT}, answer)
    with pytest.raises(DatasetError, match=r"127.0.0.1:\d+ does not answer within 0.2 s"):
        fetch(tiny, folder=tmp_path, waits=(0.01,), timeout=0.2, progress=False)
    assert found_in(tmp_path) == []
    assert len(server.asked) == 2


def test_a_wrong_checksum_names_the_file_the_expected_and_the_actual_one(server, tmp_path):
    tiny = server.dataset({"gold.txt": CONTENT}, whole(b"x" * 1000))
    with pytest.raises(DatasetError) as caught:
        fetch(tiny, folder=tmp_path, **QUICK)
    actual = hashlib.sha256(b"x" * 1000).hexdigest()
    for part in ("gold.txt", tiny.files[0].sha256, actual, tiny.files[0].url):
        assert part in str(caught.value)


def test_a_redirect_to_the_file_is_followed(server, tmp_path):
    tiny = server.dataset({"gold.txt": CONTENT}, whole(b"", 302, Location="/moved"))
    server.answers["/moved"] = whole(CONTENT)
    assert fetch(tiny, folder=tmp_path, **QUICK)["gold.txt"].read_bytes() == CONTENT


def test_a_compressed_answer_is_the_file(server, tmp_path):
    tiny = server.dataset({"gold.txt": CONTENT}, whole(gzip.compress(CONTENT), Content_Encoding="gzip"))
    assert fetch(tiny, folder=tmp_path, **QUICK)["gold.txt"].read_bytes() == CONTENT


def test_a_server_that_fails_twice_is_asked_a_third_time(server, tmp_path):
    answers = iter([nothing, whole(b"", 503), whole(CONTENT)])
    tiny = server.dataset({"gold.txt": CONTENT}, lambda request: next(answers)(request))
    assert fetch(tiny, folder=tmp_path, **QUICK)["gold.txt"].read_bytes() == CONTENT


def test_what_was_had_before_a_failure_is_kept_for_the_next_time(server, tmp_path):
    tiny = server.dataset({"a.txt": b"a", "b.txt": b"b"})
    server.answers["/b.txt"] = whole(b"", 404)
    with pytest.raises(DatasetError, match="needs 1 file that is not in"):
        fetch(tiny, folder=tmp_path, **QUICK)
    server.answers["/b.txt"] = whole(b"b")
    fetch(tiny, folder=tmp_path, **QUICK)
    assert server.asked == ["/a.txt", "/b.txt", "/b.txt"]


def test_no_network_says_which_files_to_put_where(closed_port, tmp_path):
    files = tuple(File(f"runs/{name}.txt", closed_port(f"/{name}"), "00", 1) for name in "abc")
    with pytest.raises(DatasetError) as caught:
        fetch(Dataset("tiny", files=files), folder=tmp_path, **QUICK)
    assert str(caught.value) == (
        f"tiny needs 3 files that are not in {tmp_path}, and they cannot be downloaded (no network). "
        "Put them there by hand: metaeval data info tiny lists them"
    )


def test_no_network_and_a_damaged_file_says_that_it_is_damaged(closed_port, tmp_path, monkeypatch):
    monkeypatch.setenv("METAEVAL_DATA", str(tmp_path))
    (tmp_path / "a.txt").write_bytes(b"damaged")
    one, other = (File(f"{name}.txt", closed_port(f"/{name}"), "00", 1) for name in "ab")
    with pytest.raises(DatasetError) as caught:
        fetch(Dataset("tiny", files=(one,)), **QUICK)
    assert str(caught.value).startswith(f"tiny needs 1 file that is damaged in {tmp_path} (a.txt), and it cannot be")
    with pytest.raises(DatasetError, match=r"1 file that is not in .* and 1 file that is damaged there \(a.txt\)"):
        fetch(Dataset("tiny", files=(one, other)), **QUICK)
    assert (tmp_path / "a.txt").read_bytes() == b"damaged"


def attempts_at(monkeypatch):
    """Count how often a file is tried to be had."""
    made = []
    attempt = download._attempt
    monkeypatch.setattr(download, "_attempt", lambda file, *rest: made.append(file.name) or attempt(file, *rest))
    return made


def test_a_host_that_cannot_be_reached_is_tried_once_in_a_run(closed_port, tmp_path, monkeypatch):
    made = attempts_at(monkeypatch)
    one, other = (Dataset(name, files=(File(f"{name}.txt", closed_port(f"/{name}"), "00", 1),)) for name in "ab")
    with remember_unreachable_hosts():
        with pytest.raises(DatasetError, match=r"\(no network\)"):
            fetch(one, folder=tmp_path, **QUICK)
        for again in (other, one):
            with pytest.raises(DatasetError, match=r"\(127.0.0.1:\d+ could not be reached before\). Put it there by"):
                fetch(again, folder=tmp_path, **QUICK)
        with remember_unreachable_hosts(), pytest.raises(DatasetError, match="could not be reached before"):
            fetch(one, folder=tmp_path, **QUICK)
        assert made == ["a.txt"] * 3, "with its retries, and then no more"
    with pytest.raises(DatasetError, match="no network"):
        fetch(other, folder=tmp_path, **QUICK)
    assert made == ["a.txt"] * 3 + ["b.txt"] * 3, "afterwards nothing is remembered"


def test_other_hosts_are_still_tried(server, closed_port, tmp_path):
    lost = Dataset("lost", files=(File("lost.txt", closed_port("/lost"), "00", 1),))
    with remember_unreachable_hosts():
        with pytest.raises(DatasetError, match="no network"):
            fetch(lost, folder=tmp_path, **QUICK)
        assert fetch(server.dataset({"gold.txt": CONTENT}), folder=tmp_path, **QUICK)["gold.txt"].exists()


@pytest.mark.parametrize("answer", [whole(b"gone", 404), whole(b"oops", 503), nothing, hanging])
def test_a_host_that_was_reached_is_asked_again(server, tmp_path, answer):
    bad = Dataset("bad", files=(server.serves("bad.txt", CONTENT, answer),))
    with remember_unreachable_hosts():
        with pytest.raises(DatasetError):
            fetch(bad, folder=tmp_path, waits=(), timeout=0.2, progress=False)
        assert fetch(server.dataset({"gold.txt": CONTENT}), folder=tmp_path, **QUICK)["gold.txt"].exists()


def test_a_host_that_redirects_to_one_that_is_not_there_was_reached(server, closed_port, tmp_path):
    bad = Dataset("bad", files=(server.serves("bad.txt", CONTENT, whole(b"", 302, Location=closed_port("/x"))),))
    with remember_unreachable_hosts():
        with pytest.raises(DatasetError, match="no network"):
            fetch(bad, folder=tmp_path, **QUICK)
        assert fetch(server.dataset({"gold.txt": CONTENT}), folder=tmp_path, **QUICK)["gold.txt"].exists()


@pytest.mark.parametrize("error", [requests.ConnectTimeout, requests.exceptions.ProxyError])
def test_no_connection_in_time_and_no_proxy_are_not_being_there(closed_port, tmp_path, monkeypatch, error):
    def fail(*_, **__):
        raise error("no")

    monkeypatch.setattr(requests, "get", fail)
    lost = Dataset("lost", files=(File("lost.txt", closed_port("/lost"), "00", 1),))
    with remember_unreachable_hosts():
        with pytest.raises(DatasetError, match="does not answer within|the proxy cannot be reached"):
            fetch(lost, folder=tmp_path, **QUICK)
        with pytest.raises(DatasetError, match="could not be reached before"):
            fetch(lost, folder=tmp_path, **QUICK)


def test_a_folder_that_cannot_be_made_is_an_error_in_words(server, tmp_path):
    (tmp_path / "cache").write_text("a file")
    with pytest.raises(DatasetError, match="the folder cannot be written: "):
        fetch(server.dataset({"gold.txt": CONTENT}), folder=tmp_path / "cache", **QUICK)


def test_a_file_where_a_folder_should_be_is_an_error_in_words(server, tmp_path):
    (tmp_path / "runs").write_text("a file")
    with pytest.raises(DatasetError, match=r"runs/a\.txt cannot be written: "):
        fetch(server.dataset({"runs/a.txt": CONTENT}), folder=tmp_path, **QUICK)


NAMES_THAT_LEAD_AWAY = [
    "../a", "a/../../b", "/etc/passwd", "a//b", "", ".", "..", "a/", "C:\\a", "C:/a", "a\\..\\..\\b", "~/a", "a/.b",
    "a\0b", "a\nb", "a\n", "./a", "-rf", "\\\\host\\a", "a b",
]  # fmt: skip


@pytest.mark.parametrize("name", NAMES_THAT_LEAD_AWAY)
def test_a_file_name_that_leads_out_of_the_folder_is_refused(name):
    with pytest.raises(DatasetError, match="is not a file's name inside the data folder"):
        File(name, "https://example.org/a", "00", 1)


@pytest.mark.parametrize("url", ["file:///etc/passwd", "ftp://example.org/a", "example.org/a", "", "javascript:a"])
def test_only_web_addresses_are_downloaded(url):
    with pytest.raises(DatasetError, match="is not an http"):
        File("a.txt", url, "00", 1)


def test_nothing_is_printed_where_nobody_looks(server, tmp_path, capfd):
    fetch(server.dataset({"gold.txt": CONTENT}), folder=tmp_path, waits=(), timeout=5)
    assert capfd.readouterr() == ("", "")


FETCHER = """
import pickle, sys
from metaeval.datasets import fetch
print(sorted(fetch(pickle.loads(bytes.fromhex(sys.argv[1])), folder=sys.argv[2])))
"""


def test_two_processes_download_every_file_once_between_them(server, tmp_path):
    def slowly(request):
        request.server.over.wait(0.1)
        whole(CONTENT)(request)

    tiny = server.dataset({f"{name}.txt": CONTENT for name in "abcd"}, slowly)
    command = [sys.executable, "-c", FETCHER, pickle.dumps(tiny).hex(), str(tmp_path)]
    both = [subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True) for _ in range(2)]
    for process in both:
        out, err = process.communicate(timeout=30)
        assert (out.strip(), err) == ("['a.txt', 'b.txt', 'c.txt', 'd.txt']", "")
    assert sorted(server.asked) == ["/a.txt", "/b.txt", "/c.txt", "/d.txt"]


def test_importing_and_listing_load_nothing_that_is_slow():
    code = (
        "import sys, metaeval.datasets as d; d.datasets(); "
        "print([name for name in ('rich', 'requests', 'filelock', 'pandas') if name in sys.modules])"
    )
    found = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert found.stdout.strip() == "[]"
