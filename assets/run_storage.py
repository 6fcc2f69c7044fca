"""Dagster's SQLite storage, made to carry hundreds of months in one run and several writers at once.

Dagster's own opens, commits and closes two databases for each event: 20 ms an event, half a minute for a run over all
of arXiv's months. Here connections stay open, commits follow SQLite's advice for its write-ahead log (no wait for the
disk at each; nothing is lost when a process is killed), events that Dagster hands over together are stored together,
and every database waits for other writers. Files and tables are Dagster's, unchanged: either storage reads what the
other wrote. `dagster_home/dagster.yaml` names this one; `assets.home` sets how many events go together.
"""

from collections import OrderedDict, defaultdict
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path

import sqlalchemy as db
from dagster._core.events import ASSET_EVENTS
from dagster._core.events.log import EventLogEntry
from dagster._core.storage.base_storage import DagsterStorage
from dagster._core.storage.event_log.schema import SqlEventLogStorageTable
from dagster._core.storage.event_log.sqlite.sqlite_event_log import (
    INDEX_SHARD_NAME,
    SqliteEventLogStorage,
    SqliteEventLogStorageWatchdog,
)
from dagster._core.storage.runs.sqlite.sqlite_run_storage import SqliteRunStorage
from dagster._core.storage.schedules.sqlite.sqlite_schedule_storage import SqliteScheduleStorage
from dagster._core.storage.sqlite_storage import (
    DagsterSqliteStorage,
    _event_logs_directory,
    _runs_directory,
    _schedule_directory,
)
from dagster._serdes import ConfigurableClassData
from filelock import FileLock
from sqlalchemy.engine import Connection, Engine
from sqlalchemy.pool import QueuePool
from watchdog.events import FileSystemEvent, PatternMatchingEventHandler
from watchdog.observers import Observer

BUSY_SECONDS = 60
"""How long a connection waits for other writers before it says that the database is locked."""

_OPEN_RUNS = 8
"""Databases of single runs that stay open; a page that looks at a thousand runs must not hold a thousand files."""


class Engines:
    """Engines by address, each with a connection that stays open; the least used are closed."""

    def __init__(self, most: int) -> None:
        self._most = most
        self._held: OrderedDict[str, Engine] = OrderedDict()

    def get(self, address: str) -> Engine:
        engine = self._held.pop(address, None) or _engine(address)
        self._held[address] = engine
        while len(self._held) > self._most:
            self._held.popitem(last=False)[1].dispose()
        return engine

    def close(self) -> None:
        while self._held:
            self._held.popitem()[1].dispose()


def _engine(address: str) -> Engine:
    # A connection serves whatever thread asks next, one at a time: the pool hands it out.
    engine = db.create_engine(
        address,
        poolclass=QueuePool,
        pool_size=1,
        max_overflow=-1,
        connect_args={"timeout": BUSY_SECONDS, "check_same_thread": False},
    )

    @db.event.listens_for(engine, "connect")
    def set_up(connection, _record) -> None:
        connection.execute("PRAGMA journal_mode=WAL")
        connection.execute("PRAGMA synchronous=NORMAL")

    return engine


def _made_by_one(folder: str) -> FileLock:
    """While databases are made: two processes that make one at once leave it with two versions, and unusable."""
    return FileLock(Path(folder) / "databases.lock", is_singleton=True, thread_local=False)


class EventLog(SqliteEventLogStorage):
    """Dagster's event log: a database a run, and one with the events of assets across runs."""

    def __init__(self, base_dir: str, inst_data: ConfigurableClassData | None = None) -> None:
        self._runs, self._index = Engines(_OPEN_RUNS), Engines(1)
        super().__init__(base_dir, inst_data)

    @contextmanager
    def _connect(self, shard: str) -> Iterator[Connection]:
        with self._db_lock:  # Dagster's own: one thread of this process at a time
            engine = (self._index if shard == INDEX_SHARD_NAME else self._runs).get(self.conn_string_for_shard(shard))
            if shard not in self._initialized_dbs:
                self._initdb(engine)
                self._initialized_dbs.add(shard)
            with engine.connect() as connection, connection.begin():
                yield connection

    def _initdb(self, engine: Engine, for_index_shard: bool = False) -> None:
        with _made_by_one(self._base_dir):
            super()._initdb(engine, for_index_shard)

    def store_event_batch(self, events: Sequence[EventLogEntry]) -> None:
        """Store events in one transaction a database; what concerns no asset, and checks, go the usual way."""
        by_run: dict[str, list[EventLogEntry]] = defaultdict(list)
        for event in events:
            if event.is_dagster_event and event.dagster_event_type in ASSET_EVENTS and event.dagster_event.asset_key:
                by_run[event.run_id].append(event)
            else:
                self.store_event(event)
        for run_id, of_assets in by_run.items():
            self._store_asset_events(run_id, of_assets)

    def _store_asset_events(self, run_id: str, events: Sequence[EventLogEntry]) -> None:
        table = SqlEventLogStorageTable
        rows = [self._event_to_row(event) for event in events]
        with self.run_connection(run_id) as connection:
            connection.execute(table.insert(), rows)
        with self.index_transaction() as connection:
            numbered = table.insert().returning(table.c.id, sort_by_parameter_order=True)
            numbers = list(connection.execute(numbered, rows).scalars())
            self._store_asset_event_tags(connection, events, numbers)
            # The row of an asset holds its last event of each kind: those before it need not be written first.
            last = {
                (event.dagster_event.asset_key, event.dagster_event_type): (number, event)
                for number, event in zip(numbers, events, strict=True)
            }
            for number, event in sorted(last.values(), key=lambda pair: pair[0]):
                self._store_asset_event(connection, event, number)

    def watch(self, run_id: str, cursor: str | None, callback: Callable) -> None:
        if not self._obs:
            self._obs = Observer()
            self._obs.start()
        watcher = _Watcher(self, run_id, callback, cursor)
        self._watchers[run_id][callback] = (watcher, self._obs.schedule(watcher, self._base_dir, recursive=True))

    def wipe(self) -> None:
        self._runs.close()
        super().wipe()

    def dispose(self) -> None:
        self._runs.close()
        self._index.close()
        super().dispose()


class _Watcher(SqliteEventLogStorageWatchdog):
    """Tells a page of a run's new events as they come: they reach the write-ahead log long before the database."""

    def __init__(self, storage: EventLog, run_id: str, callback: Callable, cursor: str | None) -> None:
        super().__init__(storage, run_id, callback, cursor)
        path = storage.path_for_shard(run_id)
        PatternMatchingEventHandler.__init__(self, patterns=[path, f"{path}-wal"])

    def on_modified(self, event: FileSystemEvent) -> None:
        self._process_log()


class _Kept:
    """`connect` of Dagster's other two storages, with a connection that stays open and waits for other writers."""

    _engines: Engines | None = None

    @contextmanager
    def connect(self) -> Iterator[Connection]:
        if self._engines is None:
            self._engines = Engines(1)
        with self._engines.get(self._conn_string).connect() as connection, connection.begin():
            yield connection

    def dispose(self) -> None:
        if self._engines:
            self._engines.close()
        super().dispose()


class RunStorage(_Kept, SqliteRunStorage):
    """Dagster's table of runs."""


class ScheduleStorage(_Kept, SqliteScheduleStorage):
    """Dagster's table of schedules, sensors and their ticks."""


class Storage(DagsterSqliteStorage):
    """The three together, in the folder where Dagster keeps them."""

    def __init__(self, base_dir: str, inst_data: ConfigurableClassData | None = None) -> None:
        self.base_dir = base_dir
        with _made_by_one(base_dir):
            self._run_storage = RunStorage.from_local(_runs_directory(base_dir))
            self._schedule_storage = ScheduleStorage.from_local(_schedule_directory(base_dir))
        self._event_log_storage = EventLog(_event_logs_directory(base_dir))
        self._inst_data = inst_data
        DagsterStorage.__init__(self)

    @classmethod
    def from_config_value(cls, inst_data: ConfigurableClassData, config_value: dict) -> "Storage":
        return cls.from_local(inst_data=inst_data, **config_value)
