"""The full text table: title and abstract of every paper, ranked by BM25.

Vectors live in `vector_table`; what a query may see is a predicate made in `predicates`.
"""

import unicodedata
from collections.abc import Sequence
from pathlib import Path

import polars as pl
import pyarrow as pa
from lancedb.index import FTS
from lancedb.query import BooleanQuery, MatchQuery, Occur

from indexes.lance_table import KEY, STATE, LanceTable
from indexes.ranking import Hit, top
from ingestion.errors import BadInput

SCHEMA = pa.schema(
    [
        pa.field(KEY, pa.string(), nullable=False),
        pa.field("title", pa.string(), nullable=False),
        pa.field("abstract", pa.string()),
        pa.field("submitted_latest", pa.date32(), nullable=False),
        pa.field("is_withdrawn", pa.bool_(), nullable=False),
        pa.field("content_hash", pa.string(), nullable=False),
    ]
)
TITLE_WEIGHT = 0.5
"""Of the title's score beside the abstract's.

On the benchmark references in pool30k, four topics, recall at 1,500 was .495 at .5, .483 at 1, .473 at 2;
.481 with LanceDB's own multi-match (the better of the two columns), .494 with both in one column (whose
precision at 60 was .34 instead of .39). The sum costs 130 ms at 254,515
papers where multi-match costs 28.
"""


class TextTable(LanceTable):
    """`paper_text`, with English stemming and stop words."""

    def __init__(self, folder: Path) -> None:
        super().__init__(folder, "paper_text")

    def make(self) -> None:
        """Create the table if there is none."""
        if self.table is None:
            self.create(SCHEMA)

    def write(self, frame: pl.DataFrame, *, are_new: bool) -> None:
        """Add or replace papers; `are_new` says that none of them is there yet, which is faster."""
        rows = frame.select(SCHEMA.names).to_arrow().cast(SCHEMA)
        if are_new:
            self.add(rows)
        else:
            self.merge(rows)

    def finish(self, *, is_changed: bool) -> None:
        """Bring the indexes up to the rows."""
        indexes = {column: FTS(stem=True, remove_stop_words=True, language="English") for column in _SEARCHED}
        self.current(indexes, is_changed=is_changed)

    def papers(self, paper_ids: Sequence[str]) -> pl.DataFrame:
        """The rows of these papers that there are, in the order given."""
        columns = [KEY, "title", "abstract", *STATE]
        found = [pl.DataFrame(rows) for rows in self.rows(paper_ids, columns)]
        wanted = pl.DataFrame({KEY: list(paper_ids)}, schema={KEY: pl.String})
        frame = pl.concat(found) if found else pl.DataFrame(SCHEMA.empty_table())
        return wanted.join(frame, on=KEY, how="inner", maintain_order="left")

    def search(self, query: str, k: int, where: str) -> list[Hit]:
        """The k best papers by BM25 over title and abstract, equal scores by id; [] if none shares a word.

        Raises:
            BadInput: there is no word in the query, or k is less than 1.
        """
        words = plain_words(query)
        if not self.count():
            return []
        match = BooleanQuery(
            [
                (Occur.SHOULD, MatchQuery(words, "title", boost=TITLE_WEIGHT)),
                (Occur.SHOULD, MatchQuery(words, "abstract")),
            ]
        )

        def fetch(limit: int) -> list[Hit]:
            found = self.table.search(match).where(where, prefilter=True).select([KEY, "_score"]).limit(limit)
            with self.reading():
                rows = found.to_arrow()
            return [Hit(*row) for row in zip(rows[KEY].to_pylist(), rows["_score"].to_pylist(), strict=True)]

        return top(fetch, k)


_SEARCHED = ("title", "abstract")


def plain_words(query: str) -> str:
    """The query with every character that is no letter, digit or mark made a blank: nothing is an operator.

    Raises:
        BadInput: nothing is left.
    """
    kept = (c if c.isalnum() or unicodedata.category(c)[0] == "M" else " " for c in query)
    words = " ".join("".join(kept).split())
    if not words:
        raise BadInput("there is no word to search for", which=ascii(query), advice="Give at least one word or number.")
    return words
