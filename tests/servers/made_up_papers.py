"""Papers that nobody wrote, about one made-up topic, in any number: mirror records and edges, from a seed.

Unlike benchmarks/synthetic.py, whose words mean nothing, these are English sentences in our own words about a few
subjects, so that a pool, an outline and sections come of them. Their authors are people of the past who wrote none of it.
"""

import json
import random
from collections.abc import Iterator
from datetime import date, datetime, timedelta
from email.utils import format_datetime
from pathlib import Path

TOPIC = "Answering questions from archives"
_METHODS = [
    ("sparse term weighting", "scores each term by how rarely the archive uses it"),
    ("dense passage vectors", "places questions and passages in one vector space"),
    ("late interaction of tokens", "compares every token of a question with every token of a passage"),
    ("query rewriting", "turns a vague question into several precise ones before it searches"),
    ("graph walks over entities", "follows links between names that occur in the same document"),
    ("iterative reading", "searches again whenever the reader finds a gap in what it knows"),
    ("answer verification", "checks each answer against a second passage before giving it"),
    ("passage compression", "keeps only those clauses of a passage that bear on the question"),
    ("memory of past questions", "stores earlier questions with their answers and looks there first"),
    ("table lookup", "translates questions about quantities into lookups in tables"),
]
_FIELDS = [
    ("court rulings", "rulings of three courts"),
    ("ship logs", "logs of merchant ships"),
    ("hospital letters", "letters between wards"),
    ("patent files", "claims of expired patents"),
    ("parliament minutes", "minutes of a parliament"),
    ("weather diaries", "diaries of weather stations"),
    ("repair manuals", "manuals for old engines"),
    ("trial registers", "registers of clinical trials"),
    ("newspaper scans", "scanned newspapers of a port town"),
    ("lecture notes", "notes of university lectures"),
    ("census rolls", "rolls of four censuses"),
    ("field reports", "reports of geologists"),
]
_AIMS = ["speed", "coverage", "robust wording", "small memory", "long questions", "rare names", "dated facts"]
_FAULTS = [
    "fails on questions that need two documents",
    "needs the archive to be indexed twice",
    "is slower than plain search on short questions",
    "was tried with one language only",
    "confuses people who share a name",
    "depends on clean scans",
]


def records(count: int, seed: int = 5) -> Iterator[dict]:
    """`count` records in the snapshot's fields, ids ascending over 2019 to 2024."""
    draw = random.Random(seed)
    every = [(m, f, a) for m in range(len(_METHODS)) for f in range(len(_FIELDS)) for a in range(len(_AIMS))]
    chosen = draw.sample(every, count)
    first, days = date(2019, 1, 2), 6 * 360
    for number, (method, where, aim) in enumerate(chosen):
        day = first + timedelta(days=number * days // count)
        yield _record(f"{day:%y%m}.{number + 1:05d}", day, _METHODS[method], _FIELDS[where], _AIMS[aim], draw)


def _record(paper_id: str, day: date, method: tuple, where: tuple, aim: str, draw: random.Random) -> dict:
    gain, size, share = draw.randint(2, 29), draw.randint(12, 990), draw.randint(31, 79)
    sentences = [
        f"This paper applies {method[0]} to {where[0]} with {aim} in mind.",
        f"The system {method[1]}, and is built for {where[1]}.",
        f"On {size} questions about {where[0]} it answers {share} percent correctly, {gain} points above the baseline.",
        f"An analysis of {where[1]} shows that the gain in {aim} is largest where {method[0]} has little to go on.",
        f"It {draw.choice(_FAULTS)}.",
    ]
    created = format_datetime(datetime(day.year, day.month, day.day, 9), usegmt=False)
    return {
        "id": paper_id,
        "title": f"{method[0].capitalize()} for {where[0]}: {aim} from {size} questions",
        "abstract": " ".join(sentences),
        "authors": "Ada Lovelace, Charles Babbage",
        "categories": "cs.CL cs.IR",
        "versions": [{"version": "v1", "created": created}],
        "update_date": day.isoformat(),
    }


def write_mirror(folder: Path, count: int, seed: int = 5) -> Path:
    """A mirror folder of so many papers, each later one citing up to three earlier ones."""
    folder.mkdir(parents=True, exist_ok=True)
    made = list(records(count, seed))
    draw = random.Random(seed + 1)
    edges = [
        {"citing_id": record["id"], "cited_id": made[other]["id"]}
        for number, record in enumerate(made)
        for other in sorted(draw.sample(range(number), min(number, 3)))
    ]
    for name, rows in (("metadata", made), ("citations", edges)):
        text = "".join(json.dumps(row) + "\n" for row in rows)
        (folder / f"{name}.jsonl").write_text(text, encoding="utf-8")
    return folder
