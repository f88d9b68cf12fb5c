#!/usr/bin/env python3
"""compat_verdict.py VERSION STEPS RUN < report.json: one line on what was recorded of two ranks.

Exits 1 if anything is missing, after a line for each source that recorded nothing and what the
report itself says.
"""
import json
import pathlib
import sqlite3
import sys

# What each source must have recorded of the sample on every rank.
SOURCES = {
    "operators": "cpu_op WHERE sequence_nr >= 0",
    "backward operators with their forward thread": "cpu_op WHERE forward_tid > 0",
    "collectives with bytes, type and order": "collective_source"
    " WHERE bytes > 0 AND dtype_id > 0 AND sequence >= 0",
    "communicators": "communicator WHERE backend = 'gloo' AND group_size = 2",
    "allocations": "memory_event WHERE delta_bytes > 0",
    "releases of known size": "memory_event WHERE delta_bytes < 0",
    "waits for data": "data_wait",
    "optimizer phases": "phase WHERE phase = 'optimizer'",
    "system counters": "counter_sample",
}


def missing_sources(run):
    """Lines that say which source recorded nothing on which rank."""
    for file in sorted(pathlib.Path(run).glob("rank-*.sqlite")):
        rank = sqlite3.connect(f"{file.absolute().as_uri()}?mode=ro", uri=True)
        for what, rows in SOURCES.items():
            if not rank.execute(f"SELECT EXISTS (SELECT 1 FROM {rows})").fetchone()[0]:
                yield f"{file.stem}: no {what}"
        rank.close()


def main():
    version, steps, folder = sys.argv[1], int(sys.argv[2]), sys.argv[3]
    report = json.load(sys.stdin)
    run, quality = report["run"], report["data_quality"]
    collectives = sum(row.get("count", 1) for row in report["collectives"])
    missing = list(missing_sources(folder))
    complete = (
        run["ranks"] == 2
        and run["steps"] >= steps
        and collectives > 0
        and quality["events_lost"] == 0
        and not missing
    )
    print(
        f"torch {version}: {'recorded' if complete else 'INCOMPLETE'}: {run['ranks']} ranks, "
        f"{run['steps']} steps, {quality['events']} events, {quality['events_lost']} lost, "
        f"{collectives} collectives in steady steps"
    )
    for line in missing:
        print(f"torch {version}: {line}")
    for issue in quality["issues"]:
        print(f"torch {version}: {issue['severity']} {issue['name']}: {issue['detail']}")
    return 0 if complete else 1


if __name__ == "__main__":
    sys.exit(main())
