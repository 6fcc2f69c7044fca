"""The engines that `search` compares, each to be run in a process of its own: `python -m benchmarks.search_engines ENGINE FOLDER`.

The last line printed is the result as JSON. The folder holds `matrix.npy`, `days.npy`, `queries.npy` and
`cutoffs.json`. What the seed systems do is rebuilt here and nowhere else: FAISS, then a look-up in TinyDB.
"""

import json
import sys
import time
from collections.abc import Callable
from datetime import date, timedelta
from pathlib import Path

import numpy as np
import polars as pl

DEPTH = 60
REPEATS = 40
_BATCH = 20_000
_EPOCH = date(1970, 1, 1)


def paper_id(row: int) -> str:
    return f"{1000 + row // 90_000:04}.{row % 90_000:05}"


class GivenVectors:
    """The identity of vectors that no model of ours made; embeds nothing."""

    def __init__(self) -> None:
        from indexes.embedding import EmbedderIdentity

        self.identity = EmbedderIdentity("given", "0" * 64, 128, 384)

    def embed(self, texts):
        raise TypeError("queries are vectors here, no texts")


def build(folder: Path) -> dict:
    """Our index of the vectors, with a line of text for each."""
    from benchmarks.figures import peak_mb, stopwatch
    from indexes.paper_index import PaperIndex
    from indexes.vector_table import VectorTable

    matrix, days = np.load(folder / "matrix.npy", mmap_mode="r"), np.load(folder / "days.npy")
    embedder = GivenVectors()
    table = VectorTable(folder / "index")
    index = PaperIndex.open(folder / "index", embedder=embedder, create=True)

    def frames():
        for start in range(0, len(matrix), _BATCH):
            yield _frame(range(start, min(len(matrix), start + _BATCH)), days)

    index.update(frames(), snapshot="benchmark")
    with stopwatch() as stored:
        for number, frame in enumerate(frames()):
            part = np.ascontiguousarray(matrix[number * _BATCH : number * _BATCH + frame.height])
            table.write(frame, part, embedder.identity)
        table.take_in()
    with stopwatch() as indexed:
        record = table.bring_up_vectors()
    return {
        "store_s": stored(),
        "index_s": indexed(),
        "peak_mb": peak_mb(),
        "recall": record and record.recall,
        "probes": record and record.probes,
    }


def ours(folder: Path) -> dict:
    from indexes.paper_index import PaperIndex

    imports = _resident_mb()
    index = PaperIndex.open(folder / "index", embedder=GivenVectors())
    return _measured(
        folder, imports, lambda query, cutoff: [h.paper_id for h in index.dense(query, DEPTH, cutoff=cutoff)]
    )


def cold(folder: Path) -> dict:
    from indexes.paper_index import PaperIndex

    started = time.perf_counter()
    index = PaperIndex.open(folder / "index", embedder=GivenVectors())
    index.dense(np.load(folder / "queries.npy")[0], DEPTH, cutoff=date.max)
    return {"open_s": time.perf_counter() - started}


def faiss(folder: Path) -> dict:
    """FAISS flat in memory, a mask of the days, a dict to look papers up in."""
    import faiss as library

    imports = _resident_mb()
    index, days = _faiss_index(library, folder), np.load(folder / "days.npy")
    papers = {row: {"id": paper_id(row), "day": int(day)} for row, day in enumerate(days)}
    masks: dict[date, object] = {}

    def search(query: np.ndarray, cutoff: date) -> list[str]:
        if cutoff == date.max:
            parameters = None
        else:
            if cutoff not in masks:
                bits = np.packbits(days <= (cutoff - _EPOCH).days, bitorder="little")
                masks[cutoff] = library.SearchParameters(sel=library.IDSelectorBitmap(bits))
            parameters = masks[cutoff]
        _, rows = index.search(query[None], DEPTH, params=parameters)
        return [papers[int(row)]["id"] for row in rows[0]]

    return _measured(folder, imports, search)


def upstream(folder: Path) -> dict:
    """As AutoSurvey and SurveyForge do: FAISS over everything, the hits looked up in TinyDB, days compared afterwards."""
    import faiss as library
    from tinydb import Query, TinyDB

    imports = _resident_mb()
    days = np.load(folder / "days.npy")
    path = folder / "papers.json"
    rows = {
        str(n + 1): {"id": paper_id(n), "title": f"Paper {n}", "date": (_EPOCH + timedelta(days=int(day))).isoformat()}
        for n, day in enumerate(days)
    }
    path.write_text(json.dumps({"cs_paper_info": rows}))
    del rows
    index, table = _faiss_index(library, folder), TinyDB(path).table("cs_paper_info")

    def search(query: np.ndarray, cutoff: date) -> list[str]:
        _, found = index.search(query[None], DEPTH)
        table.clear_cache()
        ids = [paper_id(int(row)) for row in found[0]]
        return [row["id"] for row in table.search(Query().id.one_of(ids)) if row["date"] <= cutoff.isoformat()]

    return _measured(folder, imports, search, repeats=3)


def _faiss_index(library, folder: Path):
    matrix = np.load(folder / "matrix.npy", mmap_mode="r")
    index = library.IndexFlatIP(matrix.shape[1])
    for start in range(0, len(matrix), _BATCH):
        index.add(np.ascontiguousarray(matrix[start : start + _BATCH]))
    return index


def _measured(
    folder: Path, imports: float, search: Callable[[np.ndarray, date], list[str]], repeats: int = REPEATS
) -> dict:
    queries = np.load(folder / "queries.npy")
    cutoffs = {what: date.fromisoformat(day) for what, day in json.loads((folder / "cutoffs.json").read_text()).items()}
    times, found = {}, {}
    for what, cutoff in cutoffs.items():
        search(queries[0], cutoff)
        taken = []
        for query in queries[:repeats]:
            started = time.perf_counter()
            search(query, cutoff)
            taken.append(time.perf_counter() - started)
        times[what] = 1000 * float(np.median(taken))
        if repeats == REPEATS:
            found[what] = [search(query, cutoff) for query in queries]
    return {"ms": times, "found": found, "mb": _resident_mb(), "imports_mb": imports}


def _resident_mb() -> float:
    """Anonymous and file pages of this process now, in MB."""
    lines = Path("/proc/self/status").read_text().splitlines()
    return int(next(line for line in lines if line.startswith("VmRSS")).split()[1]) / 1024


def _frame(rows: range, days: np.ndarray) -> pl.DataFrame:
    return pl.DataFrame(
        {
            "paper_id": [paper_id(row) for row in rows],
            "title": [f"Paper {row}" for row in rows],
            "abstract": [None] * len(rows),
            "submitted_latest": pl.Series(days[rows.start : rows.stop]).cast(pl.Date),
            "is_withdrawn": [False] * len(rows),
            "content_hash": [f"{row:064}" for row in rows],
        },
        schema_overrides={"abstract": pl.String},
    )


def real_papers(metadata: Path) -> pl.DataFrame:
    """Titles and abstracts of the shared metadata in the columns of the index; the day is that of the last update."""
    columns = {"id": "paper_id", "title": "title", "abstract": "abstract", "update_date": "submitted_latest"}
    files = sorted(p for p in metadata.glob("papers_*.parquet") if "offtopic" not in p.name)
    frames = [pl.read_parquet(file, columns=[*columns]).rename(columns) for file in files]
    papers = pl.concat([f.with_columns(pl.col("submitted_latest").str.to_date(strict=False)) for f in frames])
    return papers.unique("paper_id", keep="first", maintain_order=True).with_columns(
        pl.col("submitted_latest").fill_null(date(2020, 1, 1)),
        pl.col("title").fill_null(""),
        is_withdrawn=pl.lit(False),
        content_hash=pl.lit("0" * 64),
    )


def lance_sum(index, query: str, cutoff: date) -> list[float]:
    """Scores of LanceDB's own sum of title and abstract, best first."""
    import lancedb
    from lancedb.query import BooleanQuery, MatchQuery, Occur

    from indexes.predicates import admitted
    from indexes.text_table import TITLE_WEIGHT

    table = lancedb.connect(index.folder).open_table("paper_text")
    title, abstract = MatchQuery(query, "title", boost=TITLE_WEIGHT), MatchQuery(query, "abstract")
    match = BooleanQuery([(Occur.SHOULD, title), (Occur.SHOULD, abstract)])
    rows = table.search(match).where(admitted(cutoff), prefilter=True).select(["_score"]).limit(DEPTH).to_arrow()
    return rows["_score"].to_pylist()


if __name__ == "__main__":
    engines = {engine.__name__: engine for engine in (build, ours, cold, faiss, upstream)}
    print(json.dumps(engines[sys.argv[1]](Path(sys.argv[2]))))
