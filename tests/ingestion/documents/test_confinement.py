"""Files that break their parser in every way cost their limit and nothing else. Real processes, no real parser."""

import os
import subprocess
import sys
import tempfile
import time
from pathlib import Path

import pytest

from ingestion.documents.parsing.files import parse_files
from ingestion.documents.parsing.limits import Limits
from ingestion.documents.parsing.parsers import Parser
from ingestion.errors import BadInput, TransientFailure

pytestmark = pytest.mark.run


def outcomes(files, parser, **settings):
    return {path.stem: outcome for path, outcome in parse_files(files, parser, **settings)}


def is_alive(pid: int) -> bool:
    try:
        return "\nState:\tZ" not in Path(f"/proc/{pid}/status").read_text()
    except FileNotFoundError:
        return False


def wait_until(condition, seconds: float = 10.0) -> bool:
    until = time.monotonic() + seconds
    while not condition() and time.monotonic() < until:
        time.sleep(0.02)
    return condition()


def left_folders() -> list[Path]:
    return list(Path(tempfile.gettempdir()).glob("lithouse-parsing-*"))


@pytest.fixture(autouse=True)
def private_temporary_folder(tmp_path, monkeypatch):
    (tmp_path / "tmp").mkdir()
    monkeypatch.setattr(tempfile, "tempdir", str(tmp_path / "tmp"))


def test_pd09_a_hanging_file_costs_its_limit_and_nothing_else(order, bad_parser):
    files = [order("text", "before"), order("hang"), order("text", "after")]
    started = time.monotonic()
    found = outcomes(files, bad_parser(wall_seconds=1))
    assert [(name, outcome.status) for name, outcome in found.items()] == [
        ("before", "parsed"), ("hang", "timeout"), ("after", "parsed"),
    ]  # fmt: skip
    assert 1 <= found["hang"].seconds < 2
    assert time.monotonic() - started < 12
    assert found["hang"].notes == ("stopped after 1 s",)
    assert not found["hang"].is_retryable
    assert left_folders() == []


def test_pd09_processes_that_a_parser_started_end_with_it(order, bad_parser, tmp_path):
    """Also one that made itself a session of its own."""
    found = outcomes([order("hang_with_children")], bad_parser(wall_seconds=3))
    assert found["hang_with_children"].status == "timeout"
    pids = [int(pid) for pid in (tmp_path / "note").read_text().split()]
    assert len(pids) == 2
    assert wait_until(lambda: not any(map(is_alive, pids)))


def test_processes_left_behind_by_a_parser_that_ended_well_end_too(order, bad_parser, tmp_path):
    assert outcomes([order("leave_children")], bad_parser())["leave_children"].status == "parsed"
    assert wait_until(lambda: not any(is_alive(int(pid)) for pid in (tmp_path / "note").read_text().split()))


def test_a_file_that_only_computes_costs_its_cpu_limit(order, bad_parser):
    outcome = outcomes([order("burn")], bad_parser(cpu_seconds=1))["burn"]
    assert (outcome.status, outcome.notes) == ("timeout", ("stopped after 1 CPU seconds",))
    assert 0.9 <= outcome.cpu_seconds < 3


@pytest.mark.parametrize(
    ("word", "status", "said", "is_retryable"),
    [
        ("eat", "too_large", "needed more than 1 GB", False),
        ("abort", "too_large", "SIGABRT", False),
        ("crash", "corrupt", "SIGSEGV", False),
        ("killed", "too_large", "killed by the system", True),
        ("nothing", "empty_text", "ended without a result", False),
        ("garbage", "corrupt", "cannot be read", False),
        ("contradiction", "corrupt", "contradicts itself", False),
        ("fail", "corrupt", "RuntimeError: the page tree bites its tail", False),
        ("flood", "too_large", "wrote more than 0.95", False),
        ("no_text", "empty_text", "found no text", False),
    ],
)
def test_pd04_each_way_to_fail_has_its_status_and_the_next_file_is_parsed(
    order, bad_parser, word, status, said, is_retryable
):
    found = outcomes([order(word), order("text")], bad_parser(output_bytes=10**6))
    assert (found[word].status, found[word].is_retryable, found[word].document) == (status, is_retryable, None)
    assert said in found[word].notes[-1]
    assert found[word].advice
    assert found["text"].status == "parsed"


def test_a_warden_that_is_killed_takes_its_jobs_and_nothing_else(order, bad_parser):
    found = outcomes([order("kill_the_warden"), order("text")], bad_parser())
    assert (found["kill_the_warden"].status, found["kill_the_warden"].is_retryable) == ("too_large", True)
    assert found["text"].status == "parsed"


def test_parsers_see_no_secret_no_input_and_a_folder_of_their_own(order, bad_parser, monkeypatch):
    monkeypatch.setenv("LITHOUSE_SECRET", "swordfish")
    outcome = outcomes([order("tell")], bad_parser())["tell"]
    assert outcome.document.markdown.strip() == "stdin '' secret None group True folder True mode 0o700"


def test_pd09_the_time_for_all_files_is_limited(order, bad_parser):
    files = [order("text", "first"), order("hang"), order("text", "never")]
    started = time.monotonic()
    found = outcomes(files, bad_parser(), total_seconds=2.5)
    assert time.monotonic() - started < 5
    assert [(o.status, o.is_retryable) for o in found.values()] == [
        ("parsed", False), ("timeout", True), ("timeout", True),
    ]  # fmt: skip
    assert found["never"].notes == ("not begun: the time for all files was up",)
    assert found["never"].seconds == 0


def test_a_caller_who_stops_listening_ends_what_runs(order, bad_parser, tmp_path):
    stream = parse_files([order("text"), order("hang_with_children")], bad_parser(), concurrency=2)
    assert next(stream)[1].status == "parsed"
    assert wait_until(lambda: (tmp_path / "note").is_file() and len((tmp_path / "note").read_text().split()) == 2)
    stream.close()
    assert wait_until(lambda: not any(is_alive(int(pid)) for pid in (tmp_path / "note").read_text().split()))
    assert left_folders() == []


def test_pd08_a_caller_that_is_killed_leaves_no_process_and_no_folder(order, bad_parser, tmp_path):
    parser, file = bad_parser(), order("hang_with_children")
    program = tmp_path / "caller.py"
    program.write_text(
        "import sys, tempfile\nfrom pathlib import Path\n"
        "from ingestion.documents.parsing.parsers import Parser\nfrom ingestion.documents.parsing.files import parse_files\n"
        "sys.path.insert(0, sys.argv[1])\ntempfile.tempdir = sys.argv[2]\n"
        "parser = Parser('bad', 'bad_tasks:parse', options={'note': sys.argv[3]})\n"
        "list(parse_files([Path(sys.argv[4])], parser))\n"
    )
    note = tmp_path / "note"
    given = [tmp_path / "tasks", tmp_path / "tmp", parser.options["note"], file]
    caller = subprocess.Popen([sys.executable, program, *given])
    try:
        assert wait_until(lambda: note.is_file() and len(note.read_text().split()) == 2)
        assert left_folders()
    finally:
        caller.kill()
        caller.wait()
    assert wait_until(lambda: not any(is_alive(int(pid)) for pid in note.read_text().split()))
    assert wait_until(lambda: not left_folders())


def test_pd09_time_is_limited_while_the_caller_is_busy(order, bad_parser):
    stream = parse_files([order("text"), order("hang")], bad_parser(wall_seconds=1), concurrency=2)
    next(stream)
    time.sleep(3)
    _, outcome = next(stream)
    assert (outcome.status, outcome.seconds < 2) == ("timeout", True)


def test_as_many_files_at_once_as_allowed_and_no_more(order, bad_parser):
    begun, most = [], 0
    files = (order("text", str(number)) for number in range(7))
    done = 0
    for _ in parse_files(files, bad_parser(), concurrency=3, progress=begun.append):
        done += 1
        most = max(most, len(begun) - done + 1)
    assert (done, len(begun), most) == (7, 7, 3)


@pytest.mark.parametrize("setting", [{"concurrency": 0}, {"concurrency": -1}, {"total_seconds": 0}])
def test_pd09_settings_that_are_not_above_zero_are_refused_before_anything_is_done(bad_parser, setting):
    def files():
        raise AssertionError("a file was asked for")
        yield

    with pytest.raises(BadInput, match="above 0"):
        parse_files(files(), bad_parser(), **setting)


@pytest.mark.parametrize("name", ["wall_seconds", "cpu_seconds", "memory_bytes", "file_bytes", "pages", "output_bytes"])
@pytest.mark.parametrize("value", [0, -1, float("nan")])
def test_pd09_limits_of_zero_are_refused(name, value):
    with pytest.raises(BadInput, match=f"{name} must be above 0"):
        Limits(**{name: value})


def test_a_parser_that_cannot_be_imported_is_our_error_and_no_files_fault(order):
    with pytest.raises(TransientFailure, match="no_such_module"):
        list(parse_files([order("text")], Parser("absent 1", "bad_tasks:parse", prepare="no_such_module:prepare")))


def test_files_that_cannot_be_read_are_outcomes(tmp_path, order, bad_parser):
    found = outcomes([tmp_path / "gone.pdf", tmp_path, order("text")], bad_parser())
    assert [(o.status, o.is_retryable) for o in found.values()] == [
        ("not_yet", True), ("corrupt", True), ("parsed", False),
    ]  # fmt: skip
    assert "regular file" in found[tmp_path.stem].notes[0]


def test_an_interrupt_of_the_terminal_reaches_only_the_caller(order, bad_parser):
    """Ctrl-C goes to the group in front; the warden is in another and ends when the caller closes."""
    stream = parse_files([order("text"), order("text", "again")], bad_parser())
    next(stream)
    children = Path(f"/proc/self/task/{os.getpid()}/children").read_text().split()
    assert children
    assert os.getpgid(0) not in {os.getpgid(int(pid)) for pid in children}
    stream.close()
    assert wait_until(lambda: not any(is_alive(int(pid)) for pid in children))
