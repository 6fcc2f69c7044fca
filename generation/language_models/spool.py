"""The spool: replies made durable the moment they arrive, and rows on their way into the table, in one SQLite file.

    replies   key → what became of the call, for instant look-up
    rows      rows that are not in the table yet; `is_offered` once a commit with them may have begun
    claims    calls that a running process is about to make
    days      how many outcomes of each day of the table are in `replies`
    marks     which version of the table was looked through

Each change is one transaction, and those with replies are written through to the disk, so that a killed process loses
nothing it was told is kept. Not here: the table and what a claim's owner is (`ledger`).
"""

import errno
import sqlite3
import threading
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path

from generation.language_models.calls import LedgerFull
from generation.language_models.records import OUTCOMES, Reply
from ingestion.errors import PermanentFailure, TransientFailure

_BUSY_SECONDS = 60
_TABLES = """
CREATE TABLE IF NOT EXISTS replies (
    key TEXT PRIMARY KEY, status TEXT NOT NULL, text TEXT NOT NULL, finish_reason TEXT,
    input_tokens INTEGER NOT NULL, output_tokens INTEGER NOT NULL, error TEXT
);
CREATE TABLE IF NOT EXISTS rows (
    number INTEGER PRIMARY KEY, call_id TEXT UNIQUE NOT NULL, row TEXT NOT NULL, is_offered INTEGER NOT NULL DEFAULT 0
);
CREATE TABLE IF NOT EXISTS claims (key TEXT PRIMARY KEY, owner TEXT NOT NULL);
CREATE TABLE IF NOT EXISTS days (day TEXT PRIMARY KEY, outcomes INTEGER NOT NULL);
CREATE TABLE IF NOT EXISTS marks (name TEXT PRIMARY KEY, value TEXT NOT NULL);
"""


class Spool:
    """One SQLite file, open; used from several threads.

    Raises:
        LedgerFull: the disk is full; what was kept before is whole.
        TransientFailure: another process holds the file for too long.
        PermanentFailure: it is no spool, or cannot be written.
    """

    def __init__(self, path: Path) -> None:
        self.path = path
        self._lock = threading.RLock()
        with self._explained():
            path.parent.mkdir(parents=True, exist_ok=True)
            self._db = sqlite3.connect(path, isolation_level=None, check_same_thread=False, timeout=_BUSY_SECONDS)
            self._db.execute("PRAGMA journal_mode=WAL")
            self._db.execute("PRAGMA synchronous=NORMAL")
            self._db.executescript(_TABLES)

    def close(self) -> None:
        with self._lock:
            self._db.close()

    def find(self, key: str, statuses: Sequence[str] = OUTCOMES) -> Reply | None:
        """What became of a call, where it has one of the statuses."""
        with self._explained():
            row = self._db.execute(
                "SELECT key, status, text, finish_reason, input_tokens, output_tokens, error FROM replies WHERE key = ?",
                (key,),
            ).fetchone()
        return Reply(*row) if row and row[1] in statuses else None

    def claim(self, key: str, owner: str, is_alive: Callable[[str], bool]) -> bool:
        """Whether the owner may make the call now: nobody else who is alive is making it, and it has no reply."""
        with self._transaction():
            if self.find(key) is not None:
                return False
            held = self._db.execute("SELECT owner FROM claims WHERE key = ?", (key,)).fetchone()
            if held and held[0] != owner and is_alive(held[0]):
                return False
            self._db.execute("INSERT OR REPLACE INTO claims VALUES (?, ?)", (key, owner))
        return True

    def release(self, key: str, owner: str) -> None:
        """Give up a claim; without one nothing happens."""
        with self._transaction():
            self._db.execute("DELETE FROM claims WHERE key = ? AND owner = ?", (key, owner))

    def add(self, call_id: str, row: str, reply: Reply | None = None) -> None:
        """Keep a row, and with it what became of the call, which ends the claim on it."""
        # Paid replies outlive even a power failure; all else in here can be found out again.
        with self._transaction(is_durable=True):
            self._db.execute("INSERT INTO rows (call_id, row) VALUES (?, ?)", (call_id, row))
            if reply is not None:
                self._insert([reply])
                self._db.execute("DELETE FROM claims WHERE key = ?", (reply.key,))

    def load(self, replies: Iterable[Reply]) -> None:
        """Take over replies from the table; those that are here stay as they are."""
        with self._transaction():
            self._insert(replies)

    def offer(self, most: int) -> tuple[list[str], list[str]]:
        """The oldest rows, marked as about to be committed; and the ids of those that were marked before."""
        with self._transaction():
            found = self._db.execute(
                "SELECT number, call_id, row, is_offered FROM rows ORDER BY number LIMIT ?", (most,)
            ).fetchall()
            self._db.executemany("UPDATE rows SET is_offered = 1 WHERE number = ?", [(row[0],) for row in found])
        return [row[2] for row in found], [row[1] for row in found if row[3]]

    def forget(self, call_ids: Sequence[str], outcomes: dict[str, int]) -> None:
        """Drop rows that are in the table now, and add to each day's count of outcomes."""
        with self._transaction():
            self._db.executemany("DELETE FROM rows WHERE call_id = ?", [(call_id,) for call_id in call_ids])
            self._db.executemany(
                "INSERT INTO days VALUES (?, ?) ON CONFLICT (day) DO UPDATE SET outcomes = outcomes + excluded.outcomes",
                list(outcomes.items()),
            )

    def rows(self) -> list[str]:
        """Rows that are not in the table, as far as is known."""
        with self._explained():
            return [row for (row,) in self._db.execute("SELECT row FROM rows ORDER BY number")]

    def row_count(self) -> int:
        with self._explained():
            return self._db.execute("SELECT count(*) FROM rows").fetchone()[0]

    def days(self) -> dict[str, int]:
        """Day → outcomes of the table that are here."""
        with self._explained():
            return dict(self._db.execute("SELECT day, outcomes FROM days"))

    def set_day(self, day: str, outcomes: int) -> None:
        with self._transaction():
            self._db.execute("INSERT OR REPLACE INTO days VALUES (?, ?)", (day, outcomes))

    def mark(self, name: str) -> str | None:
        with self._explained():
            row = self._db.execute("SELECT value FROM marks WHERE name = ?", (name,)).fetchone()
        return row and row[0]

    def set_mark(self, name: str, value: str) -> None:
        with self._transaction():
            self._db.execute("INSERT OR REPLACE INTO marks VALUES (?, ?)", (name, value))

    def owners(self) -> list[str]:
        """Owners of claims."""
        with self._explained():
            return [owner for (owner,) in self._db.execute("SELECT DISTINCT owner FROM claims")]

    def drop_claims(self, owner: str) -> None:
        with self._transaction():
            self._db.execute("DELETE FROM claims WHERE owner = ?", (owner,))

    def _insert(self, replies: Iterable[Reply]) -> None:
        # An outcome stands for good; only "too long" may change, when the server has a larger window by now.
        self._db.executemany(
            "INSERT INTO replies VALUES (?, ?, ?, ?, ?, ?, ?) ON CONFLICT (key) DO UPDATE SET status = excluded.status,"
            " text = excluded.text, finish_reason = excluded.finish_reason, input_tokens = excluded.input_tokens,"
            " output_tokens = excluded.output_tokens, error = excluded.error WHERE replies.status = 'too_long'",
            ((r.key, r.status, r.text, r.finish_reason, r.input_tokens, r.output_tokens, r.error) for r in replies),
        )

    @contextmanager
    def _transaction(self, *, is_durable: bool = False) -> Iterator[None]:
        with self._explained():
            self._db.execute(f"PRAGMA synchronous={'FULL' if is_durable else 'NORMAL'}")
            self._db.execute("BEGIN IMMEDIATE")
            try:
                yield
                self._db.execute("COMMIT")
            except BaseException:
                if self._db.in_transaction:
                    self._db.execute("ROLLBACK")
                raise

    @contextmanager
    def _explained(self) -> Iterator[None]:
        with self._lock:
            try:
                yield
            except (sqlite3.Error, OSError) as error:
                raise explained(error, self.path) from error


def is_full(error: Exception) -> bool:
    """Whether it says that no room is left, whoever raised it."""
    told = str(error)
    return (
        "disk is full" in told
        or "No space left" in told
        or "Disk quota" in told
        or getattr(error, "errno", None) in (errno.ENOSPC, errno.EDQUOT)
    )


def explained(error: Exception, path: Path) -> LedgerFull | TransientFailure | PermanentFailure:
    """What it means that the ledger cannot be written."""
    told = str(error)
    if is_full(error):
        return LedgerFull(
            "the model's replies cannot be kept, because the disk is full",
            which=str(path),
            advice="Make room and run the command again; what was kept before is not paid for again.",
        )
    if "locked" in told or "busy" in told:
        return TransientFailure(
            "another process holds the file of the model's replies",
            which=str(path),
            advice="Run the command again when it has ended.",
        )
    return PermanentFailure("the file of the model's replies cannot be used", which=f"{path}: {told}")
