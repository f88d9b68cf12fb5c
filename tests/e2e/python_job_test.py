"""Unmodified Python jobs under `tutti record`: what must be in the rank files, counted exactly."""
import importlib.metadata
import json
import os
import pathlib
import sqlite3
import subprocess
import sys
import tempfile
import unittest

TUTTI = os.environ["TUTTI_PROGRAM"]
SAMPLE = pathlib.Path(__file__).parents[2] / "samples/python/ddp_mnist.py"
STEPS = 20


class PythonJobTest(unittest.TestCase):
    def setUp(self):
        if pathlib.Path("/dev/nvidiactl").exists():
            self.skipTest("on a machine with a GPU the sample uses NCCL")
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.run_folder = pathlib.Path(folder.name, "run")

    def record(self, options, command):
        """Records and returns the rank files' connections by name."""
        done = subprocess.run(
            [TUTTI, "record", "-o", self.run_folder, *options, "--", *command],
            capture_output=True, text=True, timeout=170,
        )
        self.assertEqual(done.returncode, 0, done.stderr)
        self.assertIn("parameters equal on all ranks", done.stdout)
        self.said = done.stderr
        files = sorted(self.run_folder.glob("**/rank-*"))
        connections = {file.name: sqlite3.connect(file) for file in files}
        for connection in connections.values():
            self.addCleanup(connection.close)
        return connections

    def number(self, trace, sql):
        return trace.execute(sql).fetchone()[0]

    def check_two_ranks(self, traces):
        self.assertEqual(list(traces), ["rank-00000.sqlite", "rank-00001.sqlite"])
        for trace in traces.values():
            self.assertEqual(
                trace.execute("SELECT torch_version FROM process").fetchall(),
                [(importlib.metadata.version("torch").split("+")[0],)])
            ops = "SELECT count(*) FROM v_cpu_op WHERE end_ns IS NOT NULL AND name = "
            self.assertEqual(self.number(trace, ops + "'Optimizer.step#SGD.step'"), STEPS)
            self.assertEqual(self.number(trace, ops + "'DistributedDataParallel.forward'"), STEPS)
            self.assertEqual(self.number(trace, ops + "'aten::linear'"), 2 * STEPS)
            self.assertEqual(self.number(trace, ops + "'AddmmBackward0'"), 2 * STEPS)
            # One wait for each batch, and one more where an epoch ends.
            waits = self.number(trace, "SELECT count(*) FROM data_wait")
            batches_an_epoch = 15  # 1,797 digits on 2 ranks; 16 of the generated 2,048
            self.assertIn(waits - STEPS, ((STEPS - 1) // batches_an_epoch, (STEPS - 1) // 16))
            self.assertEqual(self.number(trace, "SELECT count(*) FROM phase WHERE phase ="
                                                " 'optimizer'"), 2 * STEPS)  # zero_grad and step
            self.assertGreaterEqual(
                self.number(trace, "SELECT count(*) FROM v_collective WHERE op ="
                                   " 'all_reduce' AND bytes > 0 AND end_ns IS NOT NULL"), STEPS)
            self.assertEqual(
                self.number(trace, "SELECT count(*) FROM trace_stat WHERE severity IN"
                                   " ('data_loss', 'error')"), 0)
        report = subprocess.run([TUTTI, "report", self.run_folder, "--format", "json"],
                                capture_output=True, text=True, check=True, timeout=60)
        report = json.loads(report.stdout)
        self.assertEqual(report["run"]["workload"], "ddp_mnist.py")
        self.assertIn(f", {report['data_quality']['events']:,} events, 0 lost", self.said)

    def test_torchrun(self):
        self.check_two_ranks(self.record([], [
            sys.executable, "-m", "torch.distributed.run", "--standalone", "--nproc-per-node", "2",
            SAMPLE, "--steps", str(STEPS)]))

    def test_nproc(self):
        self.check_two_ranks(self.record(
            ["--nproc", "2"], [sys.executable, SAMPLE, "--steps", str(STEPS)]))

    def stacked(self, workers):
        """How often rank 0's file has the operator that puts a batch together."""
        traces = self.record(["-f"], [sys.executable, SAMPLE, "--steps", str(STEPS), "--workers",
                                      str(workers)])
        self.assertEqual(list(traces), ["rank-00000.sqlite"])
        trace = traces["rank-00000.sqlite"]
        self.assertEqual(self.number(trace, "SELECT count(*) FROM process"), 1)
        return self.number(trace, "SELECT count(*) FROM v_cpu_op WHERE name = 'aten::stack'")

    def test_forked_loader_workers_write_nothing_into_their_parents_rings(self):
        # Batches are put together where they are loaded: by the rank itself without workers
        # (images and labels), else by forked children of it, once it is a rank.
        self.assertEqual(self.stacked(workers=0), 2 * STEPS)
        self.assertEqual(self.stacked(workers=2), 0)


if __name__ == "__main__":
    unittest.main()
