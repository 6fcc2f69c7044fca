"""Where a survey, a section or a sentence came from, as a tree down to records, files, table versions and the run.

A sentence that a model wrote leads to its calls as well (`call_lineage`).
"""

import polars as pl

from corpus.tables import Lake
from generation.call_lineage import Calls, checks, keys_of, spent, spent_by_edition
from generation.lineage_nodes import Node
from ingestion.errors import BadInput, NotFound

__all__ = ["Node", "find_edition", "of_section", "of_sentence", "of_survey"]


def find_edition(lake: Lake, name: str, writer: str | None = None) -> dict:
    """The `surveys` row of `SLUG`, `SLUG/METHOD` or `SLUG/METHOD@EDITION`; the newest that fits.

    A name that is no slug with a survey is taken as a title.

    Args:
        writer: only editions by this one; None for any.

    Raises:
        NotFound: there is no such survey; says which there are.
    """
    from generation.topics import BadTopic, define_topic

    path, _, edition = name.partition("@")
    slug, _, method = path.partition("/")
    rows = lake.scan("surveys").sort("created_at").collect()
    if writer:
        rows = rows.filter(pl.col("writer") == writer)
    found = rows.filter(pl.col("topic") == slug)
    if method:
        found = found.filter(pl.col("method") == method)
    if edition:
        found = found.filter(pl.col("edition").str.starts_with(edition))
    if not len(found) and not edition:
        try:
            key = define_topic(name).key
        except BadTopic:
            key = ""
        # A title names the topic that follows the corpus, else any frozen topic of that title.
        found = rows.filter(pl.col("topic") == key)
        if not len(found):
            found = rows.filter(pl.col("title").str.to_lowercase() == " ".join(name.split()).lower())
    if not len(found):
        known = ", ".join(dict.fromkeys(f"{r['topic']}/{r['method']}" for r in rows.to_dicts())) or "none yet"
        raise NotFound("there is no survey", which=name, advice=f"Surveys: {known}.")
    return found.to_dicts()[-1]


def of_survey(lake: Lake, row: dict) -> Node:
    """The survey, its sections, the outlines and tables it was made from, and its run."""
    key = {"topic": row["topic"], "edition": row["edition"]}
    sections = lake.read("survey_sections", **key).sort("position").to_dicts()
    sentences = lake.read("survey_sentences", **key)
    children = [
        Node(
            "section",
            s["number"],
            s["title"],
            {
                "words": s["words"],
                "sentences": len(sentences.filter(pl.col("section") == s["number"])),
                "papers": len(s["paper_ids"]),
            },
        )
        for s in sections
    ]
    detail = {
        "method": row["method"],
        "writer": row["writer"],
        "cutoff": row["cutoff"].isoformat(),
        "admitted": row["admitted_count"],
        "pool": row["pool_count"],
        "consulted": row["consulted_count"],
        "cited": row["cited_count"],
        "status": row["status"],
        "have": row["have_count"],
        "expected": row["expected_count"],
        "grounding": row["grounding"],
    }
    children += [_patterns(lake, key), _pool(lake, row), spent_by_edition(lake, **key), _tables(row), _run(row)]
    return Node(
        "survey", f"{row['topic']}/{row['method']}@{row['edition']}", row["title"], detail, [c for c in children if c]
    )


def of_section(lake: Lake, row: dict, number: str) -> Node:
    """A section, its sentences with their spans, the outline node and what was retrieved for it.

    Raises:
        NotFound: the survey has no such section.
    """
    key = {"topic": row["topic"], "edition": row["edition"]}
    sections = lake.read("survey_sections", **key).sort("position").to_dicts()
    section = next((s for s in sections if s["number"] == number), None)
    if section is None:
        raise NotFound(
            "the survey has no section", which=number, advice=f"Sections: {', '.join(s['number'] for s in sections)}."
        )
    sentences = lake.read("survey_sentences", **key).filter(pl.col("section") == number).sort("number").to_dicts()
    node = next((n for n in lake.read("outlines", **key).to_dicts() if n["title"] == section["title"]), None)
    calls = Calls(lake, keys_of(sentences), row["edition"])
    children = [_sentence(lake, row, s, calls) for s in sentences]
    if node:
        entries = lake.read("digests", **key).filter(pl.col("number") == node["number"]).sort("rank").to_dicts()
        children.append(
            Node(
                "outline node",
                node["number"],
                node["title"],
                {"heading_origin": node["heading_origin"], "author": node["author"], "queries": node["queries"], "human_outlines": node["patterns"]},
                [
                    Node("retrieved", e["paper_id"], f"rank {e['rank']} for “{e['query']}”",
                         {"similarity": e["similarity"], "time_window": e["time_window"], "citations": e["citation_count"]})
                    for e in entries
                ],
            )
        )  # fmt: skip
    children += [c for c in (spent(calls.rows(), row["edition"]), _tables(row), _run(row)) if c]
    return Node(
        "section", number, section["title"], {"survey": f"{row['topic']}/{row['method']}@{row['edition']}"}, children
    )


def of_sentence(lake: Lake, row: dict, number: int) -> Node:
    """A sentence down to the characters, the record, the file, the table versions and the run.

    Raises:
        BadInput: numbers begin at 1.
        NotFound: the survey has no such sentence.
    """
    if number < 1:
        raise BadInput("sentences are numbered from 1", which=str(number))
    found = lake.read("survey_sentences", topic=row["topic"], edition=row["edition"], number=number).to_dicts()
    if not found:
        raise NotFound(
            "the survey has no sentence", which=str(number), advice=f"It has {row['sentence_count']} sentences."
        )
    calls = Calls(lake, keys_of(found), row["edition"])
    node = _sentence(lake, row, found[0], calls, deep=True)
    node.children += [_tables(row), _run(row)]
    return node


def _sentence(lake: Lake, row: dict, sentence: dict, calls: Calls, *, deep: bool = False) -> Node:
    detail: dict = {"section": sentence["section"], "kind": sentence["kind"]}
    if sentence["edits"]:
        detail["edits"] = [f"{e['name']}: “{e['before']}” → “{e['after']}”" for e in sentence["edits"]]
    if sentence["template"]:
        detail["template"] = sentence["template"]
    children = [_span(lake, row, span, deep) for span in sentence["spans"]]
    children += [
        Node("stated value", r["name"], r["value"], {"query": r["query"]} if r["query"] else {})
        for r in sentence["rows"]
    ]
    children += checks(sentence) + [calls.node(key) for key in sentence["calls"] or ()]
    return Node("sentence", str(sentence["number"]), sentence["text"], detail, children)


def _span(lake: Lake, row: dict, span: dict, deep: bool) -> Node:
    versions = {m["table"]: m["version"] for m in row["manifest"]}
    held = lake.read("papers", version=versions.get("papers"), paper_id=span["paper_id"]).to_dicts()
    paper = held[0] if held else None
    passage = _passage(lake, span, paper, versions) if span["source"] == "passage" else None
    source = (passage["text"] if passage else "") if span["source"] == "passage" else (paper or {}).get("abstract")
    detail = {
        "text": (source or "")[span["start"] : span["end"]],
        "characters": [span["start"], span["end"]],
        "page": span["page"],
    }
    place = span["passage_id"] if span["source"] == "passage" else f"{span['paper_id']}:abstract"
    label = f"{span['source']} of {span['paper_id']}" + (f", page {span['page']}" if span["page"] else "")
    node = Node("span", f"{place}[{span['start']}:{span['end']}]", label, detail)
    if passage:
        node.detail["section"] = " ".join([passage["section_number"] or "", *passage["section_path"][-1:]]).strip()
        node.children.append(_document(lake, passage, versions))
    if paper:
        node.detail["abstract_origin"] = paper["abstract_origin"]
        node.children.append(_paper(lake, paper, versions, deep))
    return node


def _passage(lake: Lake, span: dict, paper: dict | None, versions: dict) -> dict | None:
    where = {"id_month": paper["id_month"]} if paper else {}
    rows = lake.read("passages", version=versions.get("passages"), passage_id=span["passage_id"], **where).to_dicts()
    return rows[0] if rows else None


def _document(lake: Lake, passage: dict, versions: dict) -> Node:
    """The document a passage stands in: its file with SHA-256, what parsed it, and where the passage lies in it."""
    keys = {"id_month": passage["id_month"], "paper_id": passage["paper_id"], "sha256": passage["sha256"]}
    rows = lake.read("documents", version=versions.get("documents"), **keys).drop("markdown").to_dicts()
    row = rows[0] if rows else {}
    detail = {
        "sha256": passage["sha256"],
        "file": row.get("file"),
        "source": row.get("source"),
        "version": row.get("version"),
        "parser": row.get("parser"),
        "pages": row.get("page_count"),
        "page": passage["page"],
        "characters": [passage["start_char"], passage["end_char"]],
        "section": passage["section"],
    }
    return Node(
        "document",
        passage["sha256"],
        ", ".join(filter(None, (row.get("file"), passage["page"] and f"page {passage['page']}"))),
        detail,
    )


def _paper(lake: Lake, paper: dict, versions: dict, deep: bool) -> Node:
    node = Node(
        "paper",
        paper["paper_id"],
        paper["title"],
        {
            "submitted_latest": paper["submitted_latest"].isoformat(),
            "precision": paper["submitted_precision"],
            "content_hash": paper["content_hash"],
        },
    )
    if deep:
        then = versions.get("arxiv_records")  # manifests of older editions do not name it
        records = lake.read("arxiv_records", version=then, paper_id=paper["paper_id"]).sort("source").to_dicts()
        used = {f["source"] for f in paper["field_sources"] if f["field"] == "abstract"}
        node.children = [_record(lake, r, is_used=r["source"] in used) for r in records]
    return node


def _record(lake: Lake, record: dict, *, is_used: bool) -> Node:
    harvests = lake.read("harvests", harvest_id=record["harvest_id"]).to_dicts()
    file = next((f for h in harvests for f in h["files"] if f["path"] == record["source_file"]), None)
    detail = {
        "line": record["source_line"],
        "sha256": file["sha256"] if file else None,
        "harvest": record["harvest_id"],
    }
    children = [
        Node("source file", record["source_file"], f"line {record['source_line']} of {record['source_file']}", detail)
    ]
    children += [
        Node("harvest", h["harvest_id"], f"{h['status']}, finished {h['finished_at']:%Y-%m-%d %H:%M} UTC",
             {"source": h["source"], "cutoff": h["cutoff"] and h["cutoff"].isoformat(), "run": h["run_id"]})
        for h in harvests
    ]  # fmt: skip
    return Node(
        "record",
        f"{record['source']} {record['paper_id']}",
        f"{record['source_id']} as {record['source']} gave it",
        {
            "gave_the_abstract": is_used,
            "content_hash": record["content_hash"],
            "harvested_at": record["harvested_at"].isoformat(),
        },
        children,
    )


def _patterns(lake: Lake, key: dict) -> Node | None:
    nodes = lake.read("outlines", **key)
    ids = sorted({p for patterns in nodes["patterns"] for p in patterns})
    if not ids:
        return None
    titles = dict(
        lake.scan("human_outlines")
        .filter(pl.col("outline_id").is_in(ids))
        .select("outline_id", "title")
        .unique()
        .collect()
        .iter_rows()
    )
    return Node(
        "human outlines",
        str(len(ids)),
        "patterns of the outline",
        {},
        [Node("human outline", i, titles.get(i) or i) for i in ids],
    )


def _pool(lake: Lake, row: dict) -> Node:
    counts = lake.read("topic_pool", topic=row["topic"]).group_by("reason").len().sort("reason")
    return Node("topic_pool", row["pool_hash"], f"{row['pool_count']} papers", dict(counts.iter_rows()))


def _tables(row: dict) -> Node:
    versions = [
        Node("table", m["table"], f"version {m['version']}", {"version": m["version"]}) for m in row["manifest"]
    ]
    return Node(
        "manifest", row["corpus_hash"], "table versions read and written", {"corpus_hash": row["corpus_hash"]}, versions
    )


def _run(row: dict) -> Node:
    return Node("run", row["run_id"] or "", "Dagster run that wrote it", {"created_at": row["created_at"].isoformat()})
