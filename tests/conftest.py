"""Builders for any test: records in the snapshot's fields, mirror folders, an empty lake, the shared real data."""

import gzip
import json
import os
from collections.abc import Callable, Iterable
from datetime import UTC, date, datetime
from email.utils import format_datetime
from pathlib import Path

import pytest

from corpus.tables import Lake


def make_record(paper_id: str, day: str | None = None, **fields: object) -> dict:
    """A record with sensible defaults; `day` gives version 1 its time, without it no version is known."""
    created = day and format_datetime(datetime.combine(date.fromisoformat(day), datetime.min.time(), UTC), usegmt=True)
    return {
        "id": paper_id,
        "title": f"Paper {paper_id}",
        "abstract": f"We study {paper_id}.",
        "authors": "Ada Lovelace, Alan Turing",
        "categories": "cs.CL cs.AI",
        "versions": [{"version": "v1", "created": created}] if created else [],
        "update_date": day,
        **fields,
    }


def write_mirror_folder(folder: Path, records: Iterable[dict | str], **extra_files: object) -> Path:
    """A mirror: `records` as metadata.jsonl (text lines go in as they are), extra files by name with _ for the dot.

    A dict becomes JSON, a list JSON lines (compressed where the name ends in `_gz`), bytes and text themselves.
    """
    folder.mkdir(parents=True, exist_ok=True)
    files = {"metadata.jsonl": list(records)}
    files |= {name.replace("_", "."): content for name, content in extra_files.items()}
    for name, content in files.items():
        if isinstance(content, list):
            content = "".join(f"{line if isinstance(line, str) else json.dumps(line)}\n" for line in content)
        elif isinstance(content, dict):
            content = json.dumps(content)
        data = content if isinstance(content, bytes) else content.encode()
        (folder / name).write_bytes(gzip.compress(data) if name.endswith(".gz") else data)
    return folder


@pytest.fixture
def record() -> Callable[..., dict]:
    return make_record


@pytest.fixture
def write_mirror() -> Callable[..., Path]:
    return write_mirror_folder


@pytest.fixture
def lake(tmp_path: Path) -> Lake:
    return Lake(tmp_path / "home")


@pytest.fixture(scope="session")
def shared_data() -> Path:
    folder = Path(os.environ.get("LITHOUSE_SHARED_DATA") or Path(__file__).parents[2] / "shared" / "data")
    if not (folder / "mirror" / "metadata.jsonl.gz").is_file():
        pytest.skip(f"no shared data in {folder} (LITHOUSE_SHARED_DATA)")
    return folder
