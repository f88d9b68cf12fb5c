"""TensorBoard scalars and OpenMetrics text of a run say what `tutti query` says."""
import csv
import io
import os
import pathlib
import re
import struct
import subprocess
import tempfile
import unittest

from tensorboard.backend.event_processing.event_accumulator import EventAccumulator

TUTTI = os.environ["TUTTI_PROGRAM"]
WORKLOAD = os.environ.get("TUTTI_MNIST_MLP")
STEPS = 12
PARTS = ("compute", "exposed_comm_transfer", "exposed_comm_wait", "exposed_comm_unsplit",
         "exposed_copy", "input_wait", "sync", "host_bound", "idle")


def tutti(*arguments):
    done = subprocess.run([TUTTI, *map(str, arguments)], capture_output=True, text=True,
                          timeout=120)
    if done.returncode != 0:
        raise AssertionError(f"{arguments}: {done.stderr}")
    return done.stdout


def as_float32(value):
    return struct.unpack("f", struct.pack("f", value))[0]


@unittest.skipUnless(WORKLOAD, "the workloads are not built")
class ScalarsTest(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        folder = tempfile.TemporaryDirectory()
        cls.addClassCleanup(folder.cleanup)
        cls.folder = pathlib.Path(folder.name)
        cls.run_folder = cls.folder / "run"
        tutti("record", "-o", cls.run_folder, "--nproc", "2", "--", WORKLOAD, "--steps", STEPS)

    def query(self, sql):
        rows = csv.DictReader(io.StringIO(tutti("query", self.run_folder, "--format", "csv", sql)))
        return list(rows)

    def scalars(self, board, tag):
        return {event.step: event.value for event in board.Scalars(tag)}

    def board(self, name):
        board = EventAccumulator(str(self.folder / "board" / name))
        board.Reload()
        return board

    def test_tensorboard(self):
        tutti("export", self.run_folder, "--to", "tensorboard", "-f", "-o", self.folder / "board")
        for rank in (0, 1):
            board = self.board(f"rank-0000{rank}")
            rows = self.query("SELECT s.number, w.end_ns, b.* FROM step_breakdown AS b"
                              " JOIN run_step AS s USING (step)"
                              " JOIN step_window AS w USING (rank, step)"
                              f" WHERE rank = {rank}")
            self.assertEqual(len(rows), STEPS)
            for tag, column in [("step/time_ms", "step_ns"),
                                *((f"breakdown_ms/{part}", f"{part}_ns") for part in PARTS)]:
                told = self.scalars(board, tag)
                expected = {int(row["number"]): as_float32(int(row[column]) / 1e6) for row in rows}
                self.assertEqual(told, expected, tag)
            walls = [event.wall_time for event in board.Scalars("step/time_ms")]
            self.assertEqual(walls, [int(row["end_ns"]) / 1e9 for row in rows])
            self.check_rest_of_rank(board, rank)
        self.check_all_ranks(self.board("all-ranks"))

    def check_rest_of_rank(self, board, rank):
        for row in self.query("SELECT s.number, o.*, t.samples, w.step_ns FROM step_overlap AS o"
                              " JOIN run_step AS s USING (step) JOIN step_window AS w USING"
                              " (rank, step) LEFT JOIN step_batch AS t USING (rank, step)"
                              f" WHERE rank = {rank}"):
            step, comm, exposed = (int(row[k]) for k in ("number", "comm_ns", "exposed_ns"))
            self.assertEqual(self.scalars(board, "overlap/comm_ms")[step], as_float32(comm / 1e6))
            self.assertAlmostEqual(self.scalars(board, "overlap/frac")[step],
                                   (comm - exposed) / comm, places=6)
            self.assertAlmostEqual(self.scalars(board, "throughput/samples_per_s")[step],
                                   int(row["samples"]) * 1e9 / int(row["step_ns"]), delta=0.01)
        peak = self.query(f"SELECT max(peak_bytes) AS peak FROM memory_peak WHERE rank = {rank}")
        told = self.scalars(board, "memory/cpu_peak_bytes")
        self.assertLessEqual(max(told.values()), int(peak[0]["peak"]))
        self.assertEqual(len(told), STEPS)

    def check_all_ranks(self, board):
        rows = self.query("SELECT s.number, s.step_period_ns, avg(b.step_ns) AS mean_ns,"
                          " sum(t.samples) AS samples FROM run_step AS s JOIN step_breakdown AS b"
                          " USING (step) LEFT JOIN step_batch AS t USING (rank, step)"
                          " GROUP BY step")
        times, periods = (self.scalars(board, f"step/{what}_ms") for what in ("time", "period"))
        parts = [self.scalars(board, f"breakdown_ms/{part}") for part in PARTS]
        for row in rows:
            step = int(row["number"])
            self.assertAlmostEqual(times[step], float(row["mean_ns"]) / 1e6, places=4)
            self.assertAlmostEqual(sum(part[step] for part in parts), times[step], places=4)
            if row["step_period_ns"]:
                self.assertEqual(periods[step], as_float32(int(row["step_period_ns"]) / 1e6))
                rate = int(row["samples"]) * 1e9 / int(row["step_period_ns"])
                told = self.scalars(board, "throughput/samples_per_s")[step]
                self.assertAlmostEqual(told / rate, 1, places=6)
        self.assertEqual(len(periods), STEPS - 1)

    def test_exports_again_only_when_told(self):
        folder = self.folder / "again"
        tutti("export", self.run_folder, "--to", "tensorboard", "-o", folder)
        with self.assertRaisesRegex(AssertionError, "exists"):
            tutti("export", self.run_folder, "--to", "tensorboard", "-o", folder)
        tutti("export", self.run_folder, "--to", "tensorboard", "-f", "-o", folder)
        self.assertEqual(len(list((folder / "rank-00000").iterdir())), 1)

    def test_prometheus(self):
        output = self.folder / "run.prom"
        tutti("export", self.run_folder, "--to", "prometheus", "-f", "-o", output)
        text = output.read_text()
        self.assertTrue(text.endswith("# EOF\n"))
        sample = re.compile(r"(\w+)\{job=\"mnist_mlp\"(.*)\} (\S+)")
        values = {}
        for line in text.splitlines():
            if not line.startswith("#"):
                name, labels, value = sample.fullmatch(line).groups()
                values[name, labels] = float(value)
        metrics = {row["name"]: row["value"] for row in self.query("SELECT * FROM run_metric")}
        self.assertEqual(values["tutti_events", ""], int(metrics["run.events"]))
        self.assertAlmostEqual(values["tutti_step_seconds", ',stat="median"'] * 1e9
                               / int(metrics["step.median_ns"]), 1, places=3)
        parts = sum(v for (name, _), v in values.items() if name == "tutti_step_part_seconds")
        self.assertAlmostEqual(parts * 1e9 / float(metrics["step.mean_ns"]), 1, places=2)
        self.assertEqual(values["tutti_ranks", ""], 2)


if __name__ == "__main__":
    unittest.main()
