#!/usr/bin/env python3
"""compat_verdict.py VERSION STEPS < report.json: one line on what was recorded of two ranks.

Exits 1 if anything is missing, after printing what the report itself says about it.
"""
import json
import sys


def main():
    version, steps = sys.argv[1], int(sys.argv[2])
    report = json.load(sys.stdin)
    run, quality = report["run"], report["data_quality"]
    collectives = sum(row.get("count", 1) for row in report["collectives"])
    complete = (
        run["ranks"] == 2
        and run["steps"] >= steps
        and collectives > 0
        and quality["events_lost"] == 0
    )
    print(
        f"torch {version}: {'recorded' if complete else 'INCOMPLETE'}: {run['ranks']} ranks, "
        f"{run['steps']} steps, {quality['events']} events, {quality['events_lost']} lost, "
        f"{collectives} collectives in steady steps"
    )
    for issue in quality["issues"]:
        print(f"torch {version}: {issue['severity']} {issue['name']}: {issue['detail']}")
    return 0 if complete else 1


if __name__ == "__main__":
    sys.exit(main())
