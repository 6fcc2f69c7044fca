"""Papers to test with."""

from datetime import date

import pytest

from generation.values import Paper


@pytest.fixture
def make_paper():
    """A paper with sensible values; any field can be given."""

    def make(paper_id: str = "2005.11401", **fields) -> Paper:
        values = {
            "title": "A Title",
            "abstract": "An abstract.",
            "abstract_origin": "source",
            "authors": ("Ada Lovelace",),
            "collaborations": (),
            "submitted_on": date(2020, 5, 22),
            "submitted_latest": date(2020, 5, 22),
            "submitted_precision": "day",
            "content_hash": "h",
        }
        return Paper(paper_id, **{**values, **fields})

    return make
