"""Lost races: the error, how often and how patiently a write is tried again, and where that is told.

Belongs here: retrying. Not here: which commits race (`corpus.tables`).
"""

import logging

import stamina
from stamina.instrumentation import RetryDetails, set_on_retry_hooks

from ingestion.errors import TransientFailure

ATTEMPTS = 5


class LostRace(TransientFailure):
    """Other writers committed to the same rows first, more often than we retry."""


def _tell(details: RetryDetails) -> None:
    log = logging.getLogger(__name__)
    log.info("%s: again in %.2f s (%s)", details.name, details.wait_for, type(details.caused_by).__name__)


# stamina's own hook prints the call with all its rows, through structlog to standard output, where --json results go.
set_on_retry_hooks([_tell])

recomputed = stamina.retry(on=LostRace, attempts=ATTEMPTS, wait_initial=0.1, wait_max=2.0)
"""For functions that compute rows from a table and write them `on_top_of` the version they read: the loser of a race
reads and computes again, so that nothing the winner wrote is lost or doubled."""
