"""tools/gpu_check: its judgements on rows made up by hand, and all of it on the fake GPU."""
import importlib.machinery
import importlib.util
import json
import os
import pathlib
import sqlite3
import subprocess
import sys
import tempfile
import unittest
import unittest.mock

SCRIPT = pathlib.Path(__file__).parents[2] / "tools/gpu_check"


def load():
    loader = importlib.machinery.SourceFileLoader("gpu_check", str(SCRIPT))
    spec = importlib.util.spec_from_loader("gpu_check", loader)
    module = importlib.util.module_from_spec(spec)
    sys.modules["gpu_check"] = module
    loader.exec_module(module)
    return module


gpu_check = load()


def small_trace():
    """Two kernels of 50 and 60 us, one copy, a range that holds the first kernel's launch."""
    trace = sqlite3.connect(":memory:")
    trace.executescript("""
        CREATE TABLE string (id, text);
        CREATE TABLE kernel (name_id, begin_ns, end_ns, correlation_id);
        CREATE TABLE memcpy (copy_kind, bytes);
        CREATE TABLE api_call (correlation_id, begin_ns);
        CREATE TABLE range (name_id, begin_ns, end_ns);
        INSERT INTO string VALUES (1, 'Spin(int)'), (2, 'gemm'), (3, 'measured');
        INSERT INTO kernel VALUES (1, 1000, 51000, 7), (2, 60000, 120000, 8);
        INSERT INTO memcpy VALUES ('HtoD', 4096);
        INSERT INTO api_call VALUES (7, 500), (8, 900);
        INSERT INTO range VALUES (3, 400, 900);
    """)
    return trace


class ExpectationTest(unittest.TestCase):
    def difference(self, **expectation):
        trace = small_trace()
        self.addCleanup(trace.close)
        return gpu_check.compare_expectation(trace, expectation)

    def test_rows_that_agree_say_nothing(self):
        self.assertEqual("", self.difference(table="kernel", where={"name": "%Spin%"}, count=1,
                                             least_ns=49_000, most_ns=51_000))
        self.assertEqual("", self.difference(table="memcpy", where={"copy_kind": "HtoD"}, count=1,
                                             bytes=4096))

    def test_each_difference_is_told(self):
        self.assertEqual("2 rows instead of 3", self.difference(table="kernel", where={}, count=3))
        self.assertEqual("4096 bytes instead of 4097",
                         self.difference(table="memcpy", where={}, count=1, bytes=4097))
        self.assertEqual("50000 to 60000 ns instead of 49000 to 51000",
                         self.difference(table="kernel", where={}, count=2, least_ns=49_000,
                                         most_ns=51_000))

    def test_a_row_without_a_time_is_no_match(self):
        trace = small_trace()
        self.addCleanup(trace.close)
        trace.execute("UPDATE kernel SET end_ns = NULL WHERE name_id = 1")
        self.assertEqual("1 without a time", gpu_check.compare_expectation(
            trace, dict(table="kernel", where={}, count=2, least_ns=0, most_ns=10**9)))


class ProfilerTest(unittest.TestCase):
    def test_kernels_count_by_their_launch(self):
        trace = small_trace()
        self.addCleanup(trace.close)
        self.assertEqual({"Spin(int)": (1, 50_000)}, gpu_check.traced_kernels(trace))

    def test_a_missing_and_a_surplus_kernel_are_told(self):
        self.assertEqual("", gpu_check.compare_kernels({"a": (2, 10)}, {"a": (2, 11)}))
        self.assertEqual("1 instead of 2 of a; 0 instead of 1 of b",
                         gpu_check.compare_kernels({"a": (1, 10)}, {"a": (2, 11), "b": (1, 1)}))

    def verdict(self, ours, theirs, again):
        return gpu_check.judge_durations(*({"a": (1, ns)} for ns in (ours, theirs, again))).verdict

    def test_times_are_judged_by_the_profilers_own_spread(self):
        self.assertEqual(gpu_check.HELD, self.verdict(1_000_900, 1_000_000, 1_000_100))
        self.assertEqual(gpu_check.BROKEN, self.verdict(1_002_000, 1_000_000, 1_000_100))
        self.assertEqual(gpu_check.UNKNOWN, self.verdict(1_010_000, 1_000_000, 1_003_000))
        self.assertEqual(gpu_check.UNKNOWN, self.verdict(1, 0, 0))


class OverheadTest(unittest.TestCase):
    def test_costs_come_from_abba(self):
        costs, noise = gpu_check.overheads([[100, 103, 101, 100], [100, 100, 100, 110]])
        self.assertAlmostEqual(0.02, costs[0])
        self.assertAlmostEqual(-10 / 210, costs[1])
        self.assertEqual([0, 0.1], noise)

    def test_noise_is_not_taken_for_a_cost(self):
        self.assertEqual(gpu_check.HELD, gpu_check.judge_overhead([0.001, 0.002], [0, 0]).verdict)
        self.assertEqual(gpu_check.BROKEN, gpu_check.judge_overhead([0.02, 0.03], [0, 0]).verdict)
        self.assertEqual(gpu_check.UNKNOWN,
                         gpu_check.judge_overhead([-0.01, 0.03, 0.04], [0.1, 0.1]).verdict)


class TableTest(unittest.TestCase):
    def test_exit_code(self):
        def code(*verdicts):
            return gpu_check.exit_code([gpu_check.Result("", verdict) for verdict in verdicts])
        self.assertEqual(0, code(gpu_check.HELD, gpu_check.UNKNOWN))
        self.assertEqual(1, code(gpu_check.HELD, gpu_check.BROKEN))
        self.assertEqual(3, code(gpu_check.UNKNOWN))


class FakeGpuTest(unittest.TestCase):
    """The script itself, with the known-truth programs on the fake GPU."""

    def check(self, *options, environment=None):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.out = pathlib.Path(folder.name, "out")
        done = subprocess.run(
            [sys.executable, "-B", SCRIPT, "-o", self.out, "--tutti", os.environ["TUTTI_PROGRAM"],
             "--gpu-truth", os.environ["TUTTI_GPU_TRUTH"], "--training",
             os.environ["TUTTI_GPU_TRAINING"], "--workload", "/nonexistent", *options],
            capture_output=True, text=True, timeout=280, env={**os.environ, **(environment or {})},
        )
        return done

    def test_every_promise_is_held(self):
        done = self.check("--pairs", "0")
        self.assertEqual(done.returncode, 0, done.stdout + done.stderr)
        results = json.loads((self.out / "results.json").read_text())
        verdicts = {result["promise"]: result["verdict"] for result in results}
        self.assertGreater(len(verdicts), 40)
        for promise, verdict in verdicts.items():
            with self.subTest(promise):
                left_out = "costs" in promise or "mnist_mlp" in promise
                expected = gpu_check.UNKNOWN if left_out else gpu_check.HELD
                self.assertEqual(verdict, expected)

    def test_lost_records_break_promises(self):
        done = self.check("--only", "kernels", environment={"TUTTI_FAKE_CUPTI": "drop=7"})
        self.assertEqual(done.returncode, 1, done.stdout + done.stderr)
        self.assertRegex(done.stdout, r"NOT HELD +kernels: nothing is lost  \(gpu_records_dropped")

    def test_programs_that_fail_by_themselves_prove_nothing(self):
        done = self.check("--only", "kernels", "--gpu-truth", "/bin/false")
        self.assertEqual(done.returncode, 3, done.stdout + done.stderr)
        self.assertRegex(done.stdout, r"could not be checked +kernels: runs and is recorded")

    def test_overhead_is_measured_in_order(self):
        machine = unittest.mock.Mock()
        machine.training = ["train"]
        asked = []
        line = '{"program":"training","step_ns":[10,12,11],"kernels":[]}'
        machine.run.side_effect = lambda name, command: asked.append(command[-1]) or line
        machine.record.side_effect = lambda name, command: (asked.append("record") or line, None)
        quadruples = gpu_check.measure(machine, 1)
        self.assertEqual(asked, ["train", "record", "record", "train",
                                 "train", "--profiler", "--profiler", "train"])
        self.assertEqual(quadruples["tutti"], [[11, 11, 11, 11]])
        in_no_time = gpu_check.measure(machine, 5, deadline=1e-9)
        self.assertEqual(len(in_no_time["tutti"]), 1, "one, so that there is a figure")


if __name__ == "__main__":
    unittest.main()
