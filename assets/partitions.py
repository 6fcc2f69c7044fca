"""Partitions: id months, topics, and topics × methods."""

from datetime import date

import dagster as dg

from generation.stages import METHODS

FIRST_MONTH = date(1991, 7, 1)
"""arXiv's first month; works from outside arXiv may be older and then belong to no partition."""

months = dg.MonthlyPartitionsDefinition(start_date=FIRST_MONTH.isoformat(), end_offset=1)
topics = dg.DynamicPartitionsDefinition(name="topics")
topics_and_methods = dg.MultiPartitionsDefinition(
    {"topic": topics, "method": dg.StaticPartitionsDefinition(sorted(METHODS))}
)


def month_key(month: date) -> str:
    return month.isoformat()


def survey_key(topic: str, method: str) -> dg.MultiPartitionKey:
    return dg.MultiPartitionKey({"topic": topic, "method": method})
