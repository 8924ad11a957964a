"""The queue's SQLite file. A change is on stable storage when its transaction has ended (WAL, synchronous=FULL).

A connection belongs to one thread. Several processes may use the file at once.
"""

from __future__ import annotations

import contextlib
import sqlite3
from collections.abc import Iterator
from pathlib import Path

from ecosort_appliance.errors import QueueUnreadable

FILE_NAME = "queue.sqlite"
_WAIT_S = 30.0

# Each brings the file from the version that is its place in this list to the next one. What was released is never changed.
MIGRATIONS = [
    """
    CREATE TABLE jobs (
      id INTEGER PRIMARY KEY AUTOINCREMENT,
      parent INTEGER,                     -- the standing job (every, watch) that this one was made from
      uid INTEGER NOT NULL,
      name TEXT NOT NULL DEFAULT '',
      words TEXT NOT NULL,                -- JSON; bytes that are no UTF-8 as lone surrogates
      directory TEXT NOT NULL,            -- JSON string, where it was queued
      environment TEXT NOT NULL,          -- JSON object
      output TEXT,                        -- JSON string, the real path; of a standing job NULL
      priority INTEGER NOT NULL DEFAULT 0,
      memory TEXT,
      on_end TEXT,
      resumable INTEGER NOT NULL,
      state TEXT NOT NULL,
      reason TEXT NOT NULL DEFAULT '',
      wish TEXT NOT NULL DEFAULT '',      -- cancel or pause: what is asked of a job that runs
      not_before_s REAL NOT NULL DEFAULT 0,
      every TEXT, at TEXT, watch TEXT, settle_s REAL,
      attempt INTEGER NOT NULL DEFAULT 0,
      has_begun INTEGER NOT NULL DEFAULT 0,   -- an attempt has begun to write
      output_before TEXT,                 -- JSON, identity of the output before the first attempt
      queued_s REAL NOT NULL, started_s REAL, ended_s REAL,
      exit_code INTEGER,
      work_s REAL NOT NULL DEFAULT 0,     -- of all attempts
      joules REAL, metered_s REAL NOT NULL DEFAULT 0,
      records INTEGER, bytes_moved INTEGER,
      notified INTEGER NOT NULL DEFAULT 0
    ) STRICT;
    CREATE UNIQUE INDEX one_writer ON jobs (output) WHERE output IS NOT NULL
      AND state IN ('queued', 'waiting', 'paused', 'running');
    CREATE INDEX by_state ON jobs (state);
    CREATE TABLE seen (job INTEGER NOT NULL, path TEXT NOT NULL, identity TEXT NOT NULL, PRIMARY KEY (job, path)) STRICT;
    CREATE TABLE settings (name TEXT PRIMARY KEY, value TEXT NOT NULL) STRICT;
    CREATE TABLE energy (day TEXT PRIMARY KEY, joules REAL NOT NULL, metered_s REAL NOT NULL) STRICT;
    """,
    # source: measured, simulated, or '' where an older program did not write it down. meter_values: NULL there.
    """
    ALTER TABLE jobs ADD COLUMN energy_source TEXT NOT NULL DEFAULT '';
    ALTER TABLE jobs ADD COLUMN meter_values INTEGER;
    CREATE TABLE energy_by_source (
      day TEXT NOT NULL, source TEXT NOT NULL, joules REAL NOT NULL, metered_s REAL NOT NULL, PRIMARY KEY (day, source)
    ) STRICT;
    INSERT INTO energy_by_source SELECT day, '', joules, metered_s FROM energy;
    DROP TABLE energy;
    ALTER TABLE energy_by_source RENAME TO energy;
    """,
    # Counts how often its end was reported in vain, and says when again, and what was wrong.
    """
    ALTER TABLE jobs ADD COLUMN tell_tries INTEGER NOT NULL DEFAULT 0;
    ALTER TABLE jobs ADD COLUMN tell_again_s REAL NOT NULL DEFAULT 0;
    ALTER TABLE jobs ADD COLUMN tell_error TEXT NOT NULL DEFAULT '';
    """,
    # JSON: which names in a watched directory are meant.
    """
    ALTER TABLE jobs ADD COLUMN patterns TEXT NOT NULL DEFAULT '[]';
    """,
    # condition: what a value must be when the job begins; latest: the time at which it begins whatever the value is, as it was
    # written, and for one job in seconds. 0: never. sources: where the values come from.
    """
    ALTER TABLE jobs ADD COLUMN condition TEXT;
    ALTER TABLE jobs ADD COLUMN latest TEXT;
    ALTER TABLE jobs ADD COLUMN latest_s REAL NOT NULL DEFAULT 0;
    CREATE TABLE sources (name TEXT PRIMARY KEY, source TEXT NOT NULL) STRICT;
    """,
    # request: JSON, what the words ask for and the options of the run. A sort in place can be resumed, too.
    """
    ALTER TABLE jobs ADD COLUMN request TEXT;
    UPDATE jobs SET resumable = 1 WHERE words LIKE '["inplace"%' OR (words LIKE '["lines"%' AND words LIKE '%"--inp%');
    """,
    # JSON strings, as the other columns that name files: watch, on_end and the sources of values.
    """
    UPDATE jobs SET watch = json_quote(watch) WHERE watch IS NOT NULL;
    UPDATE jobs SET on_end = json_quote(on_end) WHERE on_end IS NOT NULL;
    UPDATE sources SET source = json_quote(source);
    """,
    # journal: identifies the job directory that the attempts left; '' is none. NULL: an older program did not write it down.
    """
    ALTER TABLE jobs ADD COLUMN journal TEXT;
    """,
]


def open_database(directory: Path) -> sqlite3.Connection:
    """QueueUnreadable when it cannot be used, also when a newer program has made it."""
    try:
        connection = sqlite3.connect(directory / FILE_NAME, timeout=_WAIT_S, isolation_level=None)
        connection.row_factory = sqlite3.Row
        connection.execute("PRAGMA journal_mode=WAL")
        connection.execute("PRAGMA synchronous=FULL")
        _migrate(connection)
    except sqlite3.Error as error:
        raise QueueUnreadable(f"the queue in '{directory}' cannot be opened: {error}") from None
    return connection


def _migrate(connection: sqlite3.Connection) -> None:
    if connection.execute("PRAGMA user_version").fetchone()[0] == len(MIGRATIONS):
        return
    with transaction(connection):
        version = connection.execute("PRAGMA user_version").fetchone()[0]
        if version > len(MIGRATIONS):
            raise QueueUnreadable("the queue was made by a newer ecosort; install that one")
        for number, script in enumerate(MIGRATIONS[version:], version + 1):
            for statement in _statements(script):
                connection.execute(statement)
            connection.execute(f"PRAGMA user_version={number}")


def _statements(script: str) -> Iterator[str]:
    """executescript would end the transaction."""
    statement = ""
    for line in script.splitlines(keepends=True):
        statement += line
        if sqlite3.complete_statement(statement):
            yield statement
            statement = ""


@contextlib.contextmanager
def transaction(connection: sqlite3.Connection) -> Iterator[None]:
    """Takes the write lock at once, so that what was read in it stays true."""
    connection.execute("BEGIN IMMEDIATE")
    try:
        yield
    except BaseException:
        connection.execute("ROLLBACK")
        raise
    connection.execute("COMMIT")
