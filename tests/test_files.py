"""Files are written whole or not at all, alone and together, whatever stops the writer."""

import os
import signal
import subprocess
import sys
import time

import pytest

from metaeval.files import TEMPORARY, write_atomically, write_together

OLD = {"a.csv": "old a", "b.csv": "old b", "c/d.csv": "old d"}
posix = pytest.mark.skipif(os.name != "posix", reason="signals and permissions are those of POSIX")


def write(folder, content, *, instead_of=()):
    with write_together(folder, instead_of=instead_of) as aside:
        for name, text in content.items():
            (aside / name).parent.mkdir(exist_ok=True)
            (aside / name).write_text(text)


def content_of(folder):
    return {str(path.relative_to(folder)): path.read_text() for path in folder.rglob("*") if path.is_file()}


def test_files_written_together_replace_their_namesakes_and_leave_others_alone(tmp_path):
    write(tmp_path / "x", OLD)
    (tmp_path / "x" / "mine.txt").write_text("mine")
    write(tmp_path / "x", {"a.csv": "new a"}, instead_of=["b.csv", "a.csv", "never.csv"])
    assert content_of(tmp_path) == {"x/a.csv": "new a", "x/c/d.csv": "old d", "x/mine.txt": "mine"}
    # What others write meanwhile stays too.
    with write_together(tmp_path / "x") as aside:
        (aside / "a.csv").write_text("newest")
        write(tmp_path / "x", {"a.csv": "other", "b.csv": "b"})
        with write_together(tmp_path / "x") as other:
            (other / "c.csv").write_text("c")
    more = {"x/a.csv": "newest", "x/b.csv": "b", "x/c.csv": "c"}
    assert content_of(tmp_path) == {"x/c/d.csv": "old d", "x/mine.txt": "mine", **more}


@pytest.mark.parametrize("stop", [KeyboardInterrupt, ValueError, OSError(28, "No space left on device")])
def test_a_writer_that_is_stopped_leaves_what_was_there_and_nothing_else(tmp_path, stop):
    write(tmp_path / "out", OLD)
    for folder in (tmp_path / "out", tmp_path / "new" / "one"):
        with pytest.raises((KeyboardInterrupt, ValueError)), write_together(folder) as aside:
            (aside / "a.csv").write_text("half")
            raise stop
    assert content_of(tmp_path / "out") == OLD
    assert [path.name for path in tmp_path.iterdir()] == ["out"]


KILLED = """
import os, pathlib, signal, sys
from metaeval.files import write_together
def replace(*arguments):
    os.kill(os.getpid(), signal.SIGKILL)
os.replace = replace
with write_together(sys.argv[1], instead_of=["b.csv"]) as aside:
    (aside / "a.csv").write_text("new")
"""


@posix
@pytest.mark.parametrize("before", [{}, OLD])
def test_a_writer_that_is_killed_leaves_what_was_there_and_leftovers_are_cleared_after_a_day(tmp_path, before):
    folder = tmp_path / "out"
    if before:
        write(folder, before)
    done = subprocess.run([sys.executable, "-c", KILLED, str(folder)], check=False)
    assert done.returncode == -signal.SIGKILL
    assert folder.exists() == bool(before)
    home = folder if before else tmp_path
    (left,) = home.glob(f"{TEMPORARY}*")
    for age, cleared in ((0, False), (2 * 24 * 3600, True)):
        os.utime(left, (time.time() - age,) * 2)
        write_atomically(home / "other.txt", "")
        assert left.exists() is not cleared
    assert content_of(home) == {**before, "other.txt": ""}


@posix
def test_what_is_written_has_the_permissions_of_other_new_files(tmp_path):
    before = os.umask(0o022)
    try:
        write(tmp_path / "out", {"a.csv": ""})
        write_atomically(tmp_path / "b.csv", "")
    finally:
        os.umask(before)
    modes = [(tmp_path / name).stat().st_mode & 0o777 for name in ("out", "out/a.csv", "b.csv")]
    assert modes == [0o755, 0o644, 0o644]


@posix
def test_sigterm_stops_a_command_as_ctrl_c_does(tmp_path):
    rows = [f"r{r},t{t},{m},{(r * 7 + t * 3) % 11 / 10}" for r in range(40) for t in range(40) for m in ("AP", "RR")]
    (tmp_path / "s.csv").write_text("\n".join(["run,topic,measure,score", *rows]))
    words = [sys.executable, "-m", "metaeval", *["power", "s.csv", "-B", "10000000", "--out", "out"]]
    process = subprocess.Popen(words, cwd=tmp_path, stderr=subprocess.PIPE, stdout=subprocess.PIPE)
    output = b""
    while b"discriminative power" not in output:  # it says so after two seconds
        output += os.read(process.stderr.fileno(), 1000)
    time.sleep(0.1)
    process.terminate()
    _, err = process.communicate(timeout=60)
    assert process.returncode == 128 + signal.SIGTERM, err.decode()
    assert err.decode().splitlines()[-1] == "metaeval: stopped"
    assert [path.name for path in tmp_path.iterdir()] == ["s.csv"]
