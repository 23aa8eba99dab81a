-- A run's results, format version 1. One transaction a step; a step is all there or not there at all.
PRAGMA application_id = 0x6c656164;  -- "lead": how a foreign SQLite file is told from ours
PRAGMA user_version = 1;

CREATE TABLE step (
    ordinal INTEGER PRIMARY KEY, kind TEXT NOT NULL, experiment TEXT NOT NULL, cell TEXT NOT NULL, repeat INTEGER NOT NULL,
    status TEXT NOT NULL, reason TEXT, engine TEXT NOT NULL, started_unix_ns INTEGER NOT NULL, wall_ns INTEGER NOT NULL,
    command TEXT NOT NULL, exit_code INTEGER, totals TEXT NOT NULL, warnings TEXT NOT NULL, facts TEXT NOT NULL
);
CREATE TABLE measurement (
    ordinal INTEGER NOT NULL REFERENCES step ON DELETE CASCADE, host TEXT NOT NULL, job INTEGER NOT NULL, direction TEXT NOT NULL,
    operations INTEGER NOT NULL, size_bytes INTEGER NOT NULL, runtime_ns INTEGER NOT NULL
);
-- kind: latency (total), submission, completion, service, lag
CREATE TABLE latency (
    ordinal INTEGER NOT NULL REFERENCES step ON DELETE CASCADE, host TEXT NOT NULL, job INTEGER NOT NULL, direction TEXT NOT NULL,
    kind TEXT NOT NULL, count INTEGER NOT NULL, mean_ns REAL NOT NULL, min_ns REAL, max_ns REAL, standard_deviation_ns REAL,
    histogram BLOB, stated_percentiles_ns TEXT NOT NULL
);
-- Operations that failed, by the errno's name; those that succeeded are in measurement. Runs of before have no such table.
CREATE TABLE failure (
    ordinal INTEGER NOT NULL REFERENCES step ON DELETE CASCADE, host TEXT NOT NULL, job INTEGER NOT NULL, direction TEXT NOT NULL,
    error TEXT NOT NULL, count INTEGER NOT NULL
);
CREATE TABLE job_use (
    ordinal INTEGER NOT NULL REFERENCES step ON DELETE CASCADE, host TEXT NOT NULL, job INTEGER NOT NULL, user_cpu_share REAL NOT NULL,
    system_cpu_share REAL NOT NULL, context_switches INTEGER NOT NULL, runtime_ns INTEGER NOT NULL, error INTEGER NOT NULL
);
-- family: throughput, counter. One row holds all series with the same times: names and units as JSON lists, times as
-- little-endian int64, values as little-endian float64, series after series.
CREATE TABLE series (
    ordinal INTEGER NOT NULL REFERENCES step ON DELETE CASCADE, family TEXT NOT NULL, names TEXT NOT NULL, units TEXT NOT NULL,
    times_ns BLOB NOT NULL, series_values BLOB NOT NULL
);
-- What a step came to, where that is no rate (conformance, consistency): JSON, compressed by zlib. Runs of before have no such table.
CREATE TABLE document (
    ordinal INTEGER NOT NULL REFERENCES step ON DELETE CASCADE, kind TEXT NOT NULL, body BLOB NOT NULL
);
CREATE INDEX measurement_of_step ON measurement (ordinal);
CREATE INDEX latency_of_step ON latency (ordinal);
CREATE INDEX failure_of_step ON failure (ordinal);
CREATE INDEX job_use_of_step ON job_use (ordinal);
CREATE INDEX series_of_step ON series (ordinal);
