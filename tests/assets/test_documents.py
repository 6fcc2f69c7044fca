"""Papers' files in the lake, end to end: the demo's texts, `lithouse paper --text`, bad files, sixty files and a kill."""

import os
import re
import shutil
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest
import typst

pytestmark = pytest.mark.run

_DRIVER = Path(__file__).with_name("read_driver.py")
_FILES = 60


def test_the_demo_reads_its_two_files_with_pages_references_and_cards(demo, tools):
    def sql(query: str) -> list[dict]:
        return tools.lithouse(demo.home, "sql", query, "--json").json

    documents = sql(
        "SELECT paper_id, page_count, passage_count, references_status FROM documents WHERE status = 'parsed'"
    )
    assert {d["paper_id"]: d["references_status"] for d in documents} == {
        "2005.11401": "parsed",
        "2310.11511": "parsed",
    }
    assert all(d["page_count"] >= 2 and d["passage_count"] >= 10 for d in documents)
    held = sql("SELECT count(*) AS n FROM topic_pool WHERE paper_id NOT IN (SELECT paper_id FROM documents)")
    assert held == [{"n": 0}], "a paper of the pool without a row"
    [entries] = sql("SELECT count(*) AS n, count(cited_id) AS cited FROM bibliography")
    assert entries["n"] == 19
    assert entries["cited"] >= 12
    edges = sql("SELECT contexts FROM citations WHERE list_contains(sources, 'bibliography') AND len(contexts) > 0")
    assert len(edges) >= 8
    cards = sql("SELECT made_from, count(*) AS n FROM paper_cards GROUP BY made_from ORDER BY made_from")
    assert cards == [{"made_from": "abstract", "n": 38}, {"made_from": "full text", "n": 2}]
    pages = sql("SELECT DISTINCT span.page AS page FROM (SELECT unnest(spans) AS span FROM survey_sentences) "
                "WHERE span.source = 'passage'")  # fmt: skip
    assert pages
    assert all(p["page"] for p in pages)


def test_passages_and_cards_of_the_demo_are_found_in_the_index(demo):
    from datetime import date

    from indexes.piece_index import PieceIndex

    cutoff = date(2024, 12, 31)
    passages = PieceIndex(demo.home / "index", "passages")
    hits = passages.dense("reflection tokens decide when to retrieve", 3, cutoff=cutoff)
    assert {hit.paper_id.split("/")[0] for hit in hits} == {"2310.11511"}
    assert passages.full_text("non-parametric memory", 3, cutoff=cutoff, within=["2005.11401"])
    assert PieceIndex(demo.home / "index", "cards").count() == 2


def test_paper_prints_the_text_and_what_is_known_of_it(demo, tools):
    told = tools.lithouse(demo.home, "paper", "2310.11511")
    assert re.search(r"text of v1: 2 pages, \d+ sections, \d+ passages, 10 references", told.out), told.out
    text = tools.lithouse(demo.home, "paper", "arXiv:2310.11511v1", "--text").out
    assert text.startswith("# ")
    assert "## 1 Introduction" in text
    found = tools.lithouse(demo.home, "paper", "2310.11511", "--text", "--json").json
    assert (found["document_status"], found["markdown"]) == ("parsed", text.removesuffix("\n"))
    assert [r["number"] for r in found["references"]][:3] == [1, 2, 3]
    assert sum(r["cited_id"] is not None for r in found["references"]) >= 6
    bare = tools.lithouse(demo.home, "paper", "2004.04906", "--text")
    assert bare.code == 1
    assert "Add the PDF to a mirror" in bare.err


def test_paper_reads_a_file_nobody_asked_for_before(home, run, tools, sample_records, tmp_path):
    records = [r for r in sample_records if r["id"] in ("2310.11511", "2005.11401")]
    mirror = tools.write_mirror(tmp_path / "mirror", records)
    shutil.copytree(tools.sample / "pdf", mirror / "pdf")
    (mirror / "pdf" / "2005.11401v1.pdf").write_bytes(b"<html>not found</html>")
    assert run("refresh", "--source", f"mirror:{mirror}", "--cutoff", "2024-12-31").code == 0
    assert run("paper", "2310.11511", "--json").json["document_status"] == "held"
    assert "## 1 Introduction" in run("paper", "2310.11511", "--text").out
    assert run("paper", "2310.11511", "--json").json["document_status"] == "parsed"
    failed = run("paper", "2005.11401", "--text")
    assert failed.code == 1
    assert "not_pdf" in failed.err
    assert run("paper", "2005.11401", "--json").json["document_status"] == "not_pdf"
    for parser, message in (
        ("nonsense", "No such parser"),
        ("mineru-kit:none", "no such tier"),
        ("magic-pdf", "not installed"),
    ):
        refused = run("paper", "2310.11511", "--text", "--parser", parser)
        assert refused.code == 1
        assert message in refused.err


def test_a_survey_reads_as_many_files_as_it_is_told_and_the_rest_when_it_is_not(
    home, run, tools, sample_records, tmp_path
):
    mirror = tools.write_mirror(tmp_path / "mirror", sample_records[:14])
    shutil.copytree(tools.sample / "pdf", mirror / "pdf")
    held = [r["id"] for r in sample_records[:14] if list((mirror / "pdf").glob(f"{r['id']}v*"))]
    for extra in sample_records[:2]:
        if extra["id"] not in held:
            shutil.copy(mirror / "pdf" / "2310.11511v1.pdf", mirror / "pdf" / f"{extra['id']}v1.pdf")
            held.append(extra["id"])
    assert len(held) >= 2
    assert run("refresh", "--source", f"mirror:{mirror}", "--cutoff", "2024-12-31").code == 0
    read = "SELECT count(*) AS n FROM documents WHERE status = 'parsed'"
    editions = set()
    for option, count in (("--read=0", 0), ("--read=1", 1), ("--read=0", 1), ("--parser=docvortex", len(held))):
        told = run("survey", tools.topic, option, "--json")
        assert told.code == 0, told.err
        assert run("sql", read, "--json").json == [{"n": count}], option
        editions.add(told.json["edition"])
    assert len(editions) == 3
    assert "still to be read" not in run("status").out


_BAD = {
    "empty.pdf": "empty_file", "encrypted.pdf": "encrypted", "html_as_pdf.pdf": "not_pdf",
    "scanned.pdf": "no_text_layer", "truncated.pdf": "corrupt",
}  # fmt: skip


def test_pd04_bad_files_are_rows_with_advice_and_stop_nothing(home, run, tools, tmp_path, shared_data):
    names = {f"2401.{n:05d}": name for n, name in enumerate(_BAD, start=1)}
    records = [
        {"id": i, "title": f"On {i}", "abstract": "We read.", "update_date": "2024-01-09"}
        for i in [*names, "2401.00009"]
    ]
    mirror = tools.write_mirror(tmp_path / "mirror", records)
    (mirror / "pdf").mkdir()
    for paper, name in names.items():
        shutil.copy(shared_data / "pdfs" / "bad" / name, mirror / "pdf" / f"{paper}v1.pdf")
    shutil.copy(tools.sample / "pdf" / "2310.11511v1.pdf", mirror / "pdf" / "2401.00009v1.pdf")
    assert run("refresh", "--source", f"mirror:{mirror}", "--cutoff", "2024-12-31").code == 0
    told = _read(home)
    assert told.returncode == 0, told.stderr
    rows = run("sql", "SELECT paper_id, status, advice FROM documents", "--json").json
    statuses = {r["paper_id"]: r["status"] for r in rows}
    assert statuses == {**{paper: _BAD[name] for paper, name in names.items()}, "2401.00009": "parsed"}
    assert len({r["advice"] for r in rows}) == len(_BAD) + 1


def _environment(home: Path) -> dict[str, str]:
    return {**os.environ, "LITHOUSE_HOME": str(home)}


def _read(home: Path) -> subprocess.CompletedProcess:
    return subprocess.run(
        [sys.executable, str(_DRIVER)], capture_output=True, text=True, timeout=300, env=_environment(home)
    )


def test_pd08_sixty_files_flat_memory_and_a_kill_costs_no_second_parsing(home, run, tools, tmp_path):
    papers = [f"2401.{n:05d}" for n in range(1, _FILES + 1)]
    records = [{"id": p, "title": f"On {p}", "abstract": "We read.", "update_date": "2024-01-09"} for p in papers]
    mirror = tools.write_mirror(tmp_path / "mirror", records)
    (mirror / "pdf").mkdir()
    for paper in papers:
        source = f"= On reading {paper}\n== Method\n" + f"We read slot {paper} of the memory and write nothing. " * 40
        (mirror / "pdf" / f"{paper}v1.pdf").write_bytes(typst.compile(source.encode()))
    assert run("refresh", "--source", f"mirror:{mirror}", "--cutoff", "2024-12-31").code == 0

    kept = home / "raw" / "parsed"
    scratch = tmp_path / "scratch"
    scratch.mkdir()
    first = subprocess.Popen(
        [sys.executable, str(_DRIVER)],
        stdout=subprocess.PIPE,
        stderr=subprocess.DEVNULL,
        text=True,
        env=_environment(home) | {"TMPDIR": str(scratch)},
    )
    done = 0
    for line in first.stdout:
        done = int(line.split()[0])
        if done == 25:
            break
    assert _processes(scratch), "nothing runs that the kill could leave behind"
    os.kill(first.pid, signal.SIGKILL)
    first.wait()
    first.stdout.close()
    deadline = time.monotonic() + 20
    while (_processes(scratch) or any(scratch.iterdir())) and time.monotonic() < deadline:
        time.sleep(0.2)
    assert not _processes(scratch), "processes outlived the kill"
    assert not any(scratch.iterdir()), "temporary files outlived the kill"
    before = {path.name: path.stat().st_mtime_ns for path in kept.rglob("*.json.gz")}
    assert len(before) >= 25
    stored = {
        r["paper_id"]: r["parsed_at"] for r in run("sql", "SELECT paper_id, parsed_at FROM documents", "--json").json
    }

    second = _read(home)
    assert second.returncode == 0, second.stderr
    *lines, last = second.stdout.splitlines()
    parsed, reused = map(int, re.fullmatch(r"parsed (\d+), (\d+) from what was kept", last).groups())
    print(f"killed after {done} files, {len(stored)} of them stored; then parsed {parsed}, {reused} from what was kept")
    assert parsed == _FILES - len(before)
    assert parsed + reused + len(stored) == _FILES
    after = {path.name: path.stat().st_mtime_ns for path in kept.rglob("*.json.gz")}
    assert len(after) == _FILES
    assert {name: after[name] for name in before} == before
    rows = {r["paper_id"]: r for r in run("sql", "SELECT paper_id, status, parsed_at FROM documents", "--json").json}
    assert {r["status"] for r in rows.values()} == {"parsed"}
    assert {p: rows[p]["parsed_at"] for p in stored} == stored
    assert _read(home).stdout.strip() == "parsed 0, 0 from what was kept"

    sizes = [int(line.split()[1]) for line in lines]
    half = len(sizes) // 2
    print(f"resident memory: {sizes[half]:,} kB half way, {max(sizes[half:]):,} kB at most after")
    assert max(sizes[half:]) < 1.2 * max(sizes[:half])


def _processes(folder: Path) -> list[str]:
    """Processes whose command names the folder."""
    found = []
    for entry in Path("/proc").iterdir():
        if entry.name.isdigit():
            try:
                command = (entry / "cmdline").read_bytes().decode(errors="replace")
            except OSError:
                continue
            if str(folder) in command:
                found.append(entry.name)
    return found
