"""Automation that would rebuild stale surveys; a person starts it on Dagster's page (Automation → rebuild_stale_surveys).

A refresh reports what each topic would get now (`topic_evidence`). Where that differs, and only there, the topic's
pool, documents and cards are requested in one run; when they have changed, the outline, digests and survey of every
method that the topic has been surveyed with in a second. What was never materialized is never requested: which topics
are surveyed, and how, is for people to say.

Dagster's own `eager()` does not serve: it takes missing months for missing inputs, and every materialization for news.
"""

import dagster as dg
from dagster import AutomationCondition as When

_SURVEY_CHAIN = ("topic_pool", "topic_documents", "paper_cards", "outline", "digests", "survey")

# News is another data version, unless it came with the very run that also made the asset in question.
_NEWS = When.data_version_changed() & ~When.executed_with_root_target()


def _rebuilt(upstream: When) -> When:
    """When upstream has news that was not handled, nothing is under way, and the partition was materialized before."""
    idle = ~When.in_progress() & ~When.any_deps_in_progress()
    return upstream.since_last_handled() & idle & ~When.missing()


_EVIDENCE = dg.AssetSelection.assets("topic_evidence")

pool_changed = _rebuilt(When.any_deps_match(_NEWS | When.will_be_requested())).with_label("rebuild with the pool")
"""For the assets of a topic."""

# A run is of one kind of partition. So the stages do not look at the evidence, which changes before the pool does,
# but at what is made from it.
inputs_changed = _rebuilt(When.any_deps_match(_NEWS | When.will_be_requested()).ignore(_EVIDENCE)).with_label(
    "rebuild with pool, texts and outlines"
)
"""For the stages of a survey."""

rebuild_stale_surveys = dg.AutomationConditionSensorDefinition(
    "rebuild_stale_surveys",
    target=dg.AssetSelection.assets(*_SURVEY_CHAIN),
    default_status=dg.DefaultSensorStatus.STOPPED,
    minimum_interval_seconds=60,
    description="Rebuilds the surveys whose pool, texts or outlines a refresh has changed. Off until started.",
)
