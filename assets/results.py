"""The objects `--json` prints: keys may be added, never renamed."""

from dataclasses import asdict
from pathlib import Path


def refresh_result(outcome, source) -> dict:
    """`refresh`: months, counts, refusals, commits, status."""
    report = outcome.report
    held = getattr(source, "papers_with_files", dict)()
    known = set(report.all_ids.filter(report.all_ids.is_in(list(held)))) if held else set()
    orphans = [name for paper, names in held.items() if paper not in known for name in names]
    return {
        "source": report.source,
        "cutoff": report.cutoff and report.cutoff.isoformat(),
        "months": [f"{m:%Y-%m}" for m in report.months],
        "months_changed": [f"{m:%Y-%m}" for m in report.changed_months],
        "rows_added": len(report.added),
        "rows_changed": len(report.changed),
        "rows_unchanged": report.unchanged_count,
        "rows_removed": len(report.removed),
        "rejected": [
            {"id": r.raw_id, "reason": r.reason, "file": r.source_file, "line": r.source_line} for r in report.refusals
        ],
        "files_without_record": sorted(orphans),
        "skipped_files": [{"file": name, "reason": why} for name, why in getattr(source, "skipped_files", ())],
        "commits": report.commits,
        "status": report.status,
        "failures": [{"item": f.item, "reason": f.reason} for f in report.failures],
        "seconds": round(outcome.seconds, 3),
        "runs": list(outcome.run_ids),
    }


def survey_result(home: Path, row: dict, lake, seconds: float, stages_run: tuple[str, ...]) -> dict:
    """`survey` and `demo`: paths are absolute."""
    consulted = lake.read("edition_papers", topic=row["topic"], edition=row["edition"], is_consulted=True)
    return {
        "topic": row["title"],
        "slug": row["topic"],
        "method": row["method"],
        "writer": row["writer"],
        "edition": row["edition"],
        "cutoff": row["cutoff"].isoformat(),
        "status": row["status"],
        "paths": {kind: str(home / path) for kind, path in row["paths"].items()},
        "sections": row["section_count"],
        "sentences": row["sentence_count"],
        "references": row["reference_ids"],
        "consulted": sorted(consulted["paper_id"]),
        "failures": row["failures"],
        "notes": row["notes"],
        "admitted_count": row["admitted_count"],
        "pool_count": row["pool_count"],
        "manifest": {m["table"]: m["version"] for m in row["manifest"]},
        "tokens": {"input": row["input_tokens"], "output": row["output_tokens"], "cached": row["cached_tokens"]},
        "cost": "unknown" if row["cost"] is None else row["cost"],
        "cards_tokens": _cards_tokens(lake, row),
        "have": row["have_count"],
        "expected": row["expected_count"],
        "grounding": row["grounding"],
        "seconds": round(seconds, 3),
        "stages_run": list(stages_run),
    }


def _cards_tokens(lake, row: dict) -> dict[str, int | float | None]:
    """What the topic's cards by this model took in all runs: they serve every edition, so no edition counts them."""
    import polars as pl

    if row["grounding"] is None:
        return {"input": 0, "output": 0, "cost": 0.0}
    calls = lake.scan("language_model_calls").filter(
        pl.col("topic") == row["topic"], pl.col("model") == row["writer"],
        pl.col("asset") == "paper_cards", pl.col("origin") == "paid",
    )  # fmt: skip
    sums = calls.select(
        pl.col("input_tokens", "output_tokens", "cost").sum(), pl.col("cost").is_null().any().alias("is_unpriced")
    )
    found = sums.collect().row(0, named=True)
    cost = None if found["is_unpriced"] else found["cost"]
    return {"input": found["input_tokens"], "output": found["output_tokens"], "cost": cost}


def plan_result(topic, model: str, planned) -> dict:
    """`survey --estimate`: the calls that a model would be asked, by asset and operation."""
    rows = [asdict(part) for part in planned.parts]
    total = {name: sum(r[name] for r in rows) for name in ("calls", "in_ledger", "input_tokens", "most_output_tokens")}
    cost = "unknown" if planned.most_cost is None else planned.most_cost
    return {"topic": topic.title, "slug": topic.key, "model": model, "plan": rows, **total, "most_cost": cost}
