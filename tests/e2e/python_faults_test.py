"""The Python samples with faults that are large against any noise, recorded, and what is said of
them: the fault first, with its ranks."""
import json
import os
import pathlib
import signal
import sqlite3
import subprocess
import sys
import tempfile
import time
import unittest

TUTTI = os.environ["TUTTI_PROGRAM"]
EMITTER = os.environ["TUTTI_EMITTER"]
SAMPLES = pathlib.Path(__file__).parents[2] / "samples/python"
sys.path.insert(0, str(SAMPLES))
import faults  # noqa: E402

SMALL = {"duration": ":1ms", "count": ":2", "size": ":64KiB", "share": ":20%", None: ""}
# True of the samples (samples/python/README.md) or of the machine that the tests run on.
TRUE_ANYWAY = {"cpu_contention", "exposed_comm", "host_bound", "small_buckets", "pipeline_bubble"}


class PythonFaultsTest(unittest.TestCase):
    def setUp(self):
        if pathlib.Path("/dev/nvidiactl").exists():
            self.skipTest("on a machine with a GPU the faults have other sizes")
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.run_folder = pathlib.Path(folder.name, "run")
        self.log = pathlib.Path(folder.name, "log")

    def command(self, program, ranks, *options):
        record = [TUTTI, "record", "-o", self.run_folder, "--nproc", str(ranks), "--"]
        return [*record, sys.executable, SAMPLES / f"{program}.py", *options]

    def record(self, program, *options, ranks=2, steps=20, status=0):
        done = subprocess.run(self.command(program, ranks, "--steps", str(steps), *options),
                              capture_output=True, text=True, timeout=170)
        self.assertEqual(done.returncode, status, done.stderr)
        return done

    def findings(self):
        """What is said beyond what is true anyway, in its order."""
        report = subprocess.run([TUTTI, "report", "--json", self.run_folder],
                                capture_output=True, text=True, check=True, timeout=60)
        report = json.loads(report.stdout)
        self.assertEqual(report["data_quality"]["events_lost"], 0)
        return [(finding["id"], finding["ranks"]) for finding in report["findings"]
                if finding["id"] not in TRUE_ANYWAY]

    def check(self, program, fault, finding, on_ranks, **more):
        done = self.record(program, "--inject", fault, **more)
        first, last = map(float, done.stdout.split(" steps, loss ")[1].split(" -> "))
        self.assertLess(last, first)  # it learns
        self.assertEqual(self.findings()[:1], [(finding, on_ranks)])

    def test_ddp_extra_compute(self):
        self.check("ddp", "extra_compute:200ms@1", "straggler", [1])

    def test_ddp_slow_loader(self):
        self.check("ddp", "slow_loader:250ms@0", "input_wait", [0])

    def test_ddp_log_pause(self):
        self.check("ddp", "log_pause:800ms", "pauses", [0, 1], steps=30)

    def test_ddp_memory_leak(self):
        self.record("ddp", "--inject", "memory_leak:8MiB@1", steps=30)
        self.assertIn(("memory_leak", [1]), self.findings())

    def test_accumulate_slow_loader(self):
        self.check("accumulate", "slow_loader:100ms@1", "input_wait", [1])

    def test_fsdp2_extra_compute(self):
        self.check("fsdp2", "extra_compute:200ms@0", "straggler", [0])

    def test_pipeline_imbalance(self):
        self.check("pipeline", "pipeline_imbalance:1000%@1", "pipeline_imbalance", [1])

    def test_data_parallel_slow_loader(self):
        self.check("data_parallel", "slow_loader:250ms", "input_wait", [0], ranks=1)

    def test_ddp_skipped_collective(self):
        """Rank 1 leaves out the all-reduces of step 10: the others hang in them."""
        with open(self.log, "w", encoding="utf-8") as out:
            job = subprocess.Popen(
                self.command("ddp", 2, "--steps", "20", "--inject", "skip_collective:100s@1"),
                stdout=out, stderr=subprocess.STDOUT)
            self.addCleanup(job.wait)
            self.addCleanup(job.kill)
            self.wait_for("step   10")
            time.sleep(6)  # rank 1 stays away, the other one enters step 10's all-reduces
            job.send_signal(signal.SIGTERM)
            job.wait(timeout=60)
        self.assertEqual(self.findings()[:1], [("hang", [1])])

    def wait_for(self, text):
        deadline = time.monotonic() + 120
        while text not in self.log.read_text(encoding="utf-8"):
            self.assertLess(time.monotonic(), deadline, "the job did not come so far")
            time.sleep(0.2)

    def test_elastic_restarts_keep_both_attempts(self):
        """All ranks fail in either attempt; torchrun starts them once more. They don't use PyTorch,
        whose ranks may look for those of the first attempt (samples/launch/README.md)."""
        done = subprocess.run(
            [TUTTI, "record", "-o", self.run_folder, "--", sys.executable, "-m",
             "torch.distributed.run", "--standalone", "--nproc-per-node", "2", "--max-restarts",
             "1", "--no-python", EMITTER, "train", "--steps", "8", "--exit", "3"],
            capture_output=True, text=True, timeout=170)
        self.assertNotEqual(done.returncode, 0)
        self.assertIn("2 ranks in 2 attempts", done.stderr)
        files = sorted(str(path.relative_to(self.run_folder))
                       for path in self.run_folder.glob("**/rank-*"))
        self.assertEqual(files, ["attempt-1/rank-00000.sqlite", "attempt-1/rank-00001.sqlite",
                                 "rank-00000.sqlite", "rank-00001.sqlite"])
        for path in files:
            with sqlite3.connect(self.run_folder / path) as trace:
                self.assertEqual(trace.execute("SELECT attempt FROM process").fetchall(),
                                 [(int(path.startswith("attempt-1")),)])

    def test_amp_casts_unless_the_fault_fp32_leaves_it_out(self):
        """On a CPU neither is faster; what differs is that nothing is cast."""
        casts = []
        for fault in ([], ["--inject", "fp32"]):
            self.run_folder = self.run_folder.with_name(f"run{len(casts)}")
            self.record("amp", *fault, ranks=1, steps=12)
            with sqlite3.connect(self.run_folder / "rank-00000.sqlite") as trace:
                casts.append(trace.execute("SELECT count(*) FROM v_cpu_op WHERE name ="
                                           " 'ToCopyBackward0'").fetchone()[0])
        self.assertGreaterEqual(casts[0], 12 * 4)
        self.assertEqual(casts[1], 0)

    def test_all_that_ddp_carries_at_once(self):
        self.check_all_at_once("ddp", 2)

    def test_all_that_accumulate_carries_at_once(self):
        self.check_all_at_once("accumulate", 2)

    def test_all_that_amp_carries_at_once(self):
        self.check_all_at_once("amp", 2)

    def test_all_that_fsdp2_carries_at_once(self):
        self.check_all_at_once("fsdp2", 2)

    def test_all_that_pipeline_carries_at_once(self):
        self.check_all_at_once("pipeline", 2)

    def test_all_that_data_parallel_carries_at_once(self):
        self.check_all_at_once("data_parallel", 1)

    def check_all_at_once(self, program, ranks):
        """Small ones of each kind it says it carries, but those that stop the job. What it does
        not say it refuses."""
        kinds = self.kinds_of(program)
        self.assertTrue(kinds)
        small = [option for kind in sorted(kinds - faults.STOP_THE_JOB)
                 for option in ("--inject", kind + SMALL[faults.KINDS[kind]])]
        self.record(program, *small, ranks=ranks, steps=12)
        refused = sorted(faults.KINDS.keys() - kinds)[0]
        done = self.plain(program, "--inject", refused)
        self.assertEqual(done.returncode, 2)
        self.assertIn(f"--inject {refused}: this program does not carry it",
                      done.stderr.splitlines()[-1])

    def kinds_of(self, program):
        return set(self.plain(program, "--inject", "list").stdout.split())

    def plain(self, program, *options):
        return subprocess.run([sys.executable, SAMPLES / f"{program}.py", *options],
                              capture_output=True, text=True, timeout=60)

    def test_clean_runs_learn_and_lose_nothing(self):
        for program, ranks in (("ddp", 2), ("accumulate", 2), ("amp", 2), ("fsdp2", 2),
                               ("pipeline", 2), ("data_parallel", 1)):
            with self.subTest(program):
                self.run_folder = self.run_folder.with_name(program)
                self.record(program, ranks=ranks, steps=10)
                self.assertEqual(len(list(self.run_folder.glob("rank-*.sqlite"))), ranks)
                said = [kind for kind, _ in self.findings()]
                self.assertNotIn("recompute", said)
                self.assertNotIn("hang", said)

    def test_a_fault_that_there_is_not_is_refused(self):
        for text, what in (("nonsense:3ms", "does not carry it, but allocation_churn, "),
                           ("extra_compute:3ms@1#", "not KIND"),
                           ("extra_compute:3ms@1-", "not KIND"),
                           ("extra_compute", "takes a duration"),
                           ("recompute:3ms", "takes no amount")):
            done = self.plain("ddp", "--inject", text)
            self.assertEqual(done.returncode, 2)
            self.assertIn(what, done.stderr)


if __name__ == "__main__":
    unittest.main()
