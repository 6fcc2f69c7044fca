"""The ledger: every request to a model once in the table `language_model_calls`, every reply at hand for good.

A reply is durable in the spool (`raw/language_model_calls.sqlite`) before anyone sees it; `flush` moves rows from
there into the table, each exactly once however often a process is killed in between. A lake that was copied without
`raw/` fills its spool from the table.
"""

import asyncio
import threading
import uuid
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from typing import Any, Self

import polars as pl
from filelock import FileLock, Timeout

from corpus.commits import identity
from corpus.tables import Lake
from generation.language_models.calls import Spent
from generation.language_models.records import OUTCOMES, REPLAYED, TABLE, Reply, to_frame, to_text
from generation.language_models.spool import Spool, explained, is_full
from ingestion.errors import LithouseError, TransientFailure

_FLUSHED = 1000
"""Rows of one commit at most."""
_LOADED = 2000
"""Replies read from the table at once."""
_LOOK_AGAIN = (0.02, 0.5)
"""Seconds between looks at a call that another loop or process is making, first and at most."""
_WAIT_FOR_FLUSH = 120.0
_VERSION = "table_version"


class Ledger:
    """The ledger of one lake, open in this process; use as a context manager, or `close` it.

    Opening moves what killed runs left behind into the table, and reads replies that are only there.

    Raises:
        LedgerFull: the disk is full.
        TransientFailure: another process holds its files for too long.
        PermanentFailure: its files cannot be used.
    """

    def __init__(self, lake: Lake) -> None:
        self._lake = lake
        raw = lake.home / "raw"
        self._spool = Spool(raw / f"{TABLE}.sqlite")
        self._owners = raw / f"{TABLE}.claims"
        # Whoever holds the lock of this name is alive: the system lets it go when a process ends, however it ends.
        self._owner = uuid.uuid4().hex
        self._alive = FileLock(self._owner_file(self._owner))
        self._turn = FileLock(raw / f"{TABLE}.lock")
        self.pending: dict[tuple[int, str], Any] = {}
        self._claimed: dict[str, asyncio.AbstractEventLoop] = {}
        self._lock = threading.Lock()
        try:
            with self._explained():
                self._owners.mkdir(exist_ok=True)
                self._alive.acquire()
            self._clear_claims()
            self.flush()
            self._load()
        except BaseException:
            self._alive.release()
            self._spool.close()
            raise

    @classmethod
    def open(cls, lake: Lake) -> Self:
        """The ledger of a lake."""
        return cls(lake)

    def __enter__(self) -> Self:
        return self

    def __exit__(self, kind: type[BaseException] | None, *_: object) -> None:
        # An error that is on its way is what the user must see; the rows stay in the spool for the next opening.
        try:
            self.flush()
        except LithouseError:
            if kind is None:
                raise
        finally:
            self.close()

    def close(self) -> None:
        """Let go of the files; what is not flushed stays in the spool."""
        self._alive.release()
        self._owner_file(self._owner).unlink(missing_ok=True)
        self._spool.close()

    def find(self, key: str, *, is_replaying: bool = False) -> Reply | None:
        """What became of a call; None where it must be made (again)."""
        return self._spool.find(key, REPLAYED if is_replaying else OUTCOMES)

    async def claim(self, key: str) -> Reply | None:
        """Wait until a call is this event loop's to make, or another loop, thread or process has made it.

        Returns:
            What became of it; None where it is ours now, until `keep` with its reply or `release`.
        """
        wait, most = _LOOK_AGAIN
        while not self._is_claimed(key, asyncio.get_running_loop()):
            if reply := self._spool.find(key):
                return reply
            await asyncio.sleep(wait)
            wait = min(wait * 1.5, most)
        return None

    def release(self, key: str) -> None:
        """Give up a claim: the call came to nothing, and others may try."""
        with self._lock:
            self._claimed.pop(key, None)
            self._spool.release(key, self._owner)

    def keep(self, row: Mapping[str, Any], reply: Reply | None = None) -> None:
        """Keep a row of the table, and with it what became of the call: durable when this returns.

        Raises:
            LedgerFull: the disk is full.
        """
        with self._explained():
            self._spool.add(row["call_id"], to_text(row), reply)
        if reply is not None:
            with self._lock:
                self._claimed.pop(reply.key, None)

    def flush(self) -> int:
        """Move the rows of the spool into the table; how many.

        Raises:
            LedgerFull: the disk is full; the rows stay in the spool.
            LostRace: other writers kept winning; the same.
        """
        if not self._spool.row_count():
            return 0
        moved = 0
        with self._alone():
            while True:
                texts, offered = self._spool.offer(_FLUSHED)
                if not texts:
                    return moved
                frame = to_frame(texts)
                # Rows that a commit may have taken before its process was killed: the table knows.
                fresh = frame.filter(~pl.col("call_id").is_in(self._present(frame, offered)))
                self._append(fresh)
                outcomes = _outcomes_by_day(fresh.lazy())
                self._spool.forget(frame["call_id"].to_list(), outcomes)
                moved += len(fresh)

    def spent(self, **equals: object) -> Spent:
        """Tokens and money of rows whose columns equal the given values, flushed or not: `spent(topic="rag")`."""
        columns = ["call_id", "origin", "input_tokens", "output_tokens", "cost"]
        conditions = [pl.col(column).eq_missing(pl.lit(value)) for column, value in equals.items()]
        # First the spool: a row that is moved meanwhile is then seen twice, never missed, and counted once.
        waiting = to_frame(self._spool.rows())
        frames = [f.filter(*conditions).select(columns).collect() for f in (waiting.lazy(), self._lake.scan(TABLE))]
        rows = pl.concat(frames).unique("call_id")
        paid = rows.filter(pl.col("origin") == "paid")
        cached = rows.filter(pl.col("origin") == "cached")
        used = paid.filter(pl.col("input_tokens").is_not_null() | pl.col("output_tokens").is_not_null())
        return Spent(
            input_tokens=paid["input_tokens"].sum(),
            output_tokens=paid["output_tokens"].sum(),
            cached_tokens=cached["input_tokens"].sum() + cached["output_tokens"].sum(),
            cost=None if used["cost"].null_count() else float(used["cost"].sum()),
            calls=len(paid),
            cached_calls=len(cached),
        )

    def _is_claimed(self, key: str, loop: asyncio.AbstractEventLoop) -> bool:
        with self._lock:
            holder = self._claimed.get(key)
            if holder is not None and holder is not loop and not holder.is_closed():
                return False
            if not self._spool.claim(key, self._owner, self._is_alive):
                return False
            self._claimed[key] = loop
            return True

    def _append(self, frame: pl.DataFrame) -> None:
        if not len(frame):
            return
        was_seen = self._spool.mark(_VERSION) == self._version()
        try:
            commit = self._lake.append(TABLE, frame)
        except Exception as error:
            if is_full(error):
                raise explained(error, self._lake.folder(TABLE)) from error
            raise
        # Only our own commit on top of what was seen: nothing new is in the table.
        if was_seen and commit.version == self._lake.version(TABLE):
            self._spool.set_mark(_VERSION, self._version())

    def _present(self, frame: pl.DataFrame, offered: list[str]) -> list[str]:
        if not offered:
            return []
        days = frame.filter(pl.col("call_id").is_in(offered))["day"].unique().to_list()
        table = self._lake.scan(TABLE).filter(pl.col("day").is_in(days), pl.col("call_id").is_in(offered))
        return table.select("call_id").collect()["call_id"].to_list()

    def _load(self) -> None:
        """Take over the replies of days that the table has more of than the spool, once for each version."""
        if self._spool.mark(_VERSION) == self._version():
            return
        with self._alone():
            version, held = self._version(), self._spool.days()
            table = self._lake.scan(TABLE).filter(pl.col("origin") == "paid", pl.col("status").is_in(REPLAYED))
            for day, outcomes in _outcomes_by_day(table).items():
                if held.get(day) == outcomes:
                    continue
                rows = table.filter(pl.col("day") == pl.lit(day).str.to_date()).select(
                    "key", "status", "reply", "finish_reason", "input_tokens", "output_tokens", "error"
                )
                for part in rows.collect_batches(chunk_size=_LOADED, maintain_order=True):
                    self._spool.load(
                        Reply(key, status, text or "", finish, sent or 0, written or 0, error)
                        for key, status, text, finish, sent, written, error in part.iter_rows()
                    )
                self._spool.set_day(day, outcomes)
            self._spool.set_mark(_VERSION, version)

    def _version(self) -> str:
        version = self._lake.version(TABLE)
        return "" if version is None else f"{version} {identity(self._lake.folder(TABLE), version)}"

    def _owner_file(self, owner: str) -> Path:
        return self._owners / f"{owner}.lock"

    def _is_alive(self, owner: str) -> bool:
        if owner == self._owner:
            return True
        path = self._owner_file(owner)
        if not path.exists():
            return False
        try:
            with FileLock(path, timeout=0):
                path.unlink(missing_ok=True)
            return False
        except Timeout:
            return True

    def _clear_claims(self) -> None:
        for owner in {path.stem for path in self._owners.glob("*.lock")} | set(self._spool.owners()):
            if not self._is_alive(owner):
                self._spool.drop_claims(owner)

    @contextmanager
    def _alone(self) -> Iterator[None]:
        """The only one of all processes that moves rows between spool and table."""
        with self._explained():
            try:
                self._turn.acquire(timeout=_WAIT_FOR_FLUSH)
            except Timeout:
                raise TransientFailure(
                    "another process has been writing the table of model calls for too long",
                    which=TABLE,
                    advice="Run the command again when it has ended.",
                ) from None
        try:
            yield
        finally:
            self._turn.release()

    @contextmanager
    def _explained(self) -> Iterator[None]:
        try:
            yield
        except OSError as error:
            raise explained(error, self._lake.home / "raw") from error


def _outcomes_by_day(table: pl.LazyFrame) -> dict[str, int]:
    paid = table.filter(pl.col("origin") == "paid", pl.col("status").is_in(REPLAYED))
    counts = paid.group_by("day").agg(pl.len()).sort("day").collect()
    return {day.isoformat(): count for day, count in counts.iter_rows()}
