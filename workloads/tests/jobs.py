"""What a workload says at its end, and what `tutti record` writes about it."""
import json
import os
import pathlib
import re
import sqlite3
import subprocess
import tempfile
import unittest

import ranks

PROGRAMS = pathlib.Path(os.environ["TUTTI_WORKLOAD_DIR"])
TUTTI = os.environ.get("TUTTI_PROGRAM")


class Report:
    """What the rank that reports printed."""

    def __init__(self, text):
        self.text = text
        first, last = re.search(r"^loss ([\d.]+) -> ([\d.]+)", text, re.M).groups()
        self.first_loss, self.last_loss = float(first), float(last)
        self.losses = [float(loss) for loss in re.findall(r"^step +\d+  loss ([\d.]+)", text, re.M)]
        self.held_out = [float(loss) for loss in re.findall(r"held-out loss ([\d.]+)", text)]
        self.step_ms = float(re.search(r"^step time median ([\d.]+) ms", text, re.M)[1])
        self.steps, self.samples = map(
            int, re.search(r"^rank \d+: (\d+) steps, (\d+) samples", text, re.M).groups()
        )
        buckets = re.search(r"(\d+) buckets", text)
        collective = re.search(r"(\d+) collectives$", text, re.M)
        self.buckets = int(buckets[1]) if buckets else 0
        self.collectives = int(collective[1]) if collective else 0
        equal = re.search(r"^parameters equal on (\d+) ranks?: checksum (\w+)$", text, re.M)
        self.equal_ranks = int(equal[1]) if equal else 0
        self.checksum = equal[2] if equal else None


class JobTest(unittest.TestCase):
    def train(self, program, *options, world=2):
        """Runs the ranks, all of which must succeed."""
        results = ranks.run_ranks([PROGRAMS / program, *map(str, options)], world)
        for rank, (status, _, err) in enumerate(results):
            self.assertEqual(status, 0, f"rank {rank}: {err}")
        return Report("".join(out for _, out, _ in results))

    def record(self, program, *options, world=2):
        """The same under `tutti record`. Returns the report of the program, the numbers of calls
        by operation and rank, and the report of Tutti."""
        if not TUTTI:
            self.skipTest("this build has no tracer")
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        run = pathlib.Path(folder.name, "run")
        recorded = subprocess.run(
            [TUTTI, "record", "-o", run, "--nproc", str(world), "--",
             PROGRAMS / program, *map(str, options)],
            capture_output=True, text=True, timeout=150,
        )
        self.assertEqual(recorded.returncode, 0, recorded.stderr)
        self.traces = [self.open(run / f"rank-{rank:05}.sqlite") for rank in range(world)]
        calls = [self.calls(trace) for trace in self.traces]
        described = subprocess.run([TUTTI, "report", run, "--format", "json"],
                                   capture_output=True, text=True, timeout=100)
        self.assertEqual(described.returncode, 0, described.stderr)
        self.analysis = self.open(run / "run.sqlite")
        return Report(recorded.stdout), calls, json.loads(described.stdout)

    def open(self, file):
        trace = sqlite3.connect(file)
        self.addCleanup(trace.close)
        return trace

    def number(self, rank, sql):
        """Of a rank of the last recording."""
        return self.traces[rank].execute(sql).fetchone()[0]

    def derived(self, sql):
        """Rows of the analysis of the last recording."""
        return self.analysis.execute(sql).fetchall()

    def calls(self, trace):
        lost = trace.execute("SELECT count(*) FROM trace_stat WHERE severity IN"
                             " ('data_loss', 'error')").fetchone()[0]
        self.assertEqual(lost, 0)
        return dict(trace.execute(
            "SELECT op, count(*) FROM v_collective WHERE end_ns IS NOT NULL GROUP BY op"))
