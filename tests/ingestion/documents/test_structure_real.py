"""Headings and reference lists of real papers, with their link destinations and without: the benchmark's own limits."""

import subprocess
import sys
from pathlib import Path

import pytest

BENCHMARK = Path(__file__).parents[3] / "benchmarks" / "pdf_structure.py"
PAPERS = "1706.03762v5,2203.00274v2,1512.03385v1"
"""One column and two, numbered and author-year lists, headings with and without stops; the whole takes two minutes."""


@pytest.mark.run
def test_real_papers_keep_headings_levels_and_references(shared_data, tmp_path):
    done = subprocess.run(
        [sys.executable, str(BENCHMARK), str(shared_data), "--cache", str(tmp_path), "--papers", PAPERS],
        capture_output=True,
        text=True,
        timeout=300,
    )
    print(done.stdout)
    assert done.returncode == 0, done.stdout + done.stderr
    assert done.stdout.count("together") == 2
