"""The full text table: title and abstract of every paper, ranked by BM25.

Vectors live in `vector_table`; what a query may see is said by `predicates`; how two columns' rankings become one
is in `column_sum`.
"""

import unicodedata
from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import polars as pl
import pyarrow as pa
from lancedb.index import FTS, Bitmap, BTree
from lancedb.query import MatchQuery

from indexes.column_sum import weighted_sum
from indexes.lance_table import KEY, SLICE, STATE, LanceTable
from indexes.predicates import Admission, one_of
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
precision at 60 was .34 instead of .39). LanceDB's own sum of two columns takes 216 ms at 254,515
papers, `column_sum` gives the same ranking in 37 (a busy machine).
"""


class TextTable(LanceTable):
    """`paper_text`, with English stemming and stop words."""

    def __init__(self, folder: Path, *, version: int | None = None) -> None:
        super().__init__(folder, "paper_text", version=version)

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
        indexes = {column: FTS(stem=True, remove_stop_words=True, language="English") for column in _WEIGHTS}
        # The cutoff's predicate by these takes 38 ms of CPU at 254,515 papers with the search, by reading rows 55.
        self.current({**indexes, "submitted_latest": BTree(), "is_withdrawn": Bitmap()}, is_changed=is_changed)

    def papers(self, paper_ids: Sequence[str]) -> pl.DataFrame:
        """The rows of these papers that there are, in the order given."""
        columns = [KEY, "title", "abstract", *STATE]
        found = [pl.DataFrame(rows) for rows in self.rows(paper_ids, columns)]
        wanted = pl.DataFrame({KEY: list(paper_ids)}, schema={KEY: pl.String})
        frame = pl.concat(found) if found else pl.DataFrame(SCHEMA.empty_table())
        return wanted.join(frame, on=KEY, how="inner", maintain_order="left")

    def search(self, query: str, k: int, admission: Admission) -> list[Hit]:
        """The k best papers by BM25 over title and abstract, equal scores by id; [] if none shares a word.

        Raises:
            BadInput: there is no word in the query, or k is less than 1.
        """
        words = plain_words(query)
        if not self.count():
            return []
        where, hidden = self.narrowed(admission)
        with ThreadPoolExecutor(len(_WEIGHTS)) as threads:

            def best(limit: int) -> list[dict[str, float]]:
                return list(threads.map(lambda column: self._scores(words, column, limit, where), _WEIGHTS))

            def scores(asked: Sequence[Sequence[str]]) -> list[dict[str, float]]:
                return list(threads.map(lambda pair: self._scores_of(words, *pair), zip(_WEIGHTS, asked, strict=True)))

            def fetch(limit: int) -> list[Hit]:
                found = weighted_sum(best, scores, tuple(_WEIGHTS.values()), limit + len(hidden))
                return [Hit(*pair) for pair in found if pair[0] not in hidden]

            return top(fetch, k)

    def _scores(self, words: str, column: str, limit: int, where: str | None) -> dict[str, float]:
        """The best papers by one column, at most `limit`, with their scores."""
        query = self.table.search(MatchQuery(words, column)).select([KEY, "_score"]).limit(limit)
        with self.reading():
            rows = (query.where(where, prefilter=True) if where else query).to_arrow()
        return dict(zip(rows[KEY].to_pylist(), rows["_score"].to_pylist(), strict=True))

    def _scores_of(self, words: str, column: str, paper_ids: Sequence[str]) -> dict[str, float]:
        """Scores of these papers by one column; those that share no word with the query are left out."""
        found: dict[str, float] = {}
        for start in range(0, len(paper_ids), SLICE):
            part = paper_ids[start : start + SLICE]
            found |= self._scores(words, column, len(part), one_of(KEY, part))
        return found


_WEIGHTS = {"title": TITLE_WEIGHT, "abstract": 1.0}


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
