"""Resolution of the bibliographies of real papers against real metadata (shared data): the issue's targets."""

import importlib.util
import sys
from pathlib import Path
from types import ModuleType

import pytest

from corpus.resolution import resolve_entries
from ingestion.documents.values import ReferenceText
from ingestion.references.fields import parse_entry


@pytest.fixture(scope="module")
def benchmark() -> ModuleType:
    path = Path(__file__).parents[2] / "benchmarks" / "reference_resolution.py"
    spec = importlib.util.spec_from_file_location("reference_resolution", path)
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    sys.modules[spec.name] = module  # its dataclasses look their module up
    spec.loader.exec_module(module)
    return module


@pytest.mark.run
def test_entries_of_real_papers_are_resolved_without_their_ids(shared_data, lake, tmp_path, benchmark):
    # The papers are of December 2022: what they cite is in the first file.
    benchmark.load(lake, shared_data, tmp_path, files=benchmark.FILES[:1])
    papers = lake.scan("papers")
    cases = list(benchmark.unarxive_cases(shared_data))
    entries = [parse_entry(ReferenceText("", benchmark.blanked(case.text))) for case in cases]
    assert not any(entry.arxiv_ids or entry.dois for entry in entries)
    score = benchmark.score(cases, resolve_entries(entries, papers), benchmark.held_ids(cases, papers))
    assert score.held >= 30
    assert score.precision >= benchmark.PRECISION
    assert score.recall >= benchmark.RECALL
