"""`tutti record --live`: the newest steps of a job, written out while it runs."""
import fcntl
import json
import os
import pathlib
import re
import signal
import socket
import sqlite3
import subprocess
import sys
import tempfile
import time
import unittest

TUTTI = os.environ["TUTTI"]
WORKLOAD = os.environ["TUTTI_MNIST_MLP"]
ENDLESS = "1000000"


def wait_for(condition, seconds=60):
    deadline = time.monotonic() + seconds
    while time.monotonic() < deadline:
        found = condition()
        if found:
            return found
        time.sleep(0.02)
    return None


class WindowTest(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.folder = pathlib.Path(folder.name)
        self.run_path = self.folder / "run"
        self.errors = self.folder / "errors"
        self.environment = {name: value for name, value in os.environ.items()
                            if name == "TUTTI_CACHE" or not name.startswith("TUTTI")}

    def start(self, *options, ranks=2, workload=()):
        with self.errors.open("w") as errors:
            job = subprocess.Popen(
                [TUTTI, "record", "--live", "--window", "20", "--window-size", "64M", "--flush",
                 "200ms", "-o", self.run_path, "--nproc", str(ranks), *options, "--", WORKLOAD,
                 "--threads", "1", "--workers", "1", *workload],
                env=self.environment, stdout=subprocess.DEVNULL, stderr=errors,
                start_new_session=True)
        self.end_at_the_end(job)
        return job

    def end_at_the_end(self, job):
        """With its ranks, which a killed recorder leaves alone."""
        def end():
            try:
                os.killpg(job.pid, signal.SIGKILL)
            except ProcessLookupError:
                pass
            job.wait()

        self.addCleanup(end)

    def end(self, job):
        job.send_signal(signal.SIGTERM)
        job.wait(60)

    def query(self, run, sql):
        done = subprocess.run([TUTTI, "query", run, "--json", sql], capture_output=True, text=True)
        self.assertEqual(done.returncode, 0, done.stderr)
        return json.loads(done.stdout)["rows"]

    def dumps(self):
        return sorted((self.run_path / "dumps").glob("*"))

    def finished(self, dump):
        manifests = list((dump / "manifest.d").glob("*.json"))
        return manifests and all(json.loads(path.read_text())["state"] == "finished"
                                 for path in manifests)

    def wait_for_dump(self):
        dumps = wait_for(lambda: [dump for dump in self.dumps() if self.finished(dump)])
        self.assertTrue(dumps, self.errors.read_text())
        return dumps[0]

    def report(self, run):
        done = subprocess.run([TUTTI, "report", run, "--json"], capture_output=True, text=True)
        self.assertEqual(done.returncode, 0, done.stderr)
        return json.loads(done.stdout)

    def query_derived(self, run, sql):
        self.report(run)
        with sqlite3.connect(f"file:{run / 'run.sqlite'}?mode=ro", uri=True) as database:
            return database.execute(sql).fetchall()

    def spools(self):
        return list(self.run_path.glob(".spool/*/p*.spool.*"))

    def newest_step(self):
        """Of all ranks, as the metrics tell it."""
        text = (self.folder / "live.prom").read_text()
        return min(int(value) for value in
                   re.findall(r"^tutti_live_step_number\{.*\} (\d+)$", text, re.MULTILINE))

    def wait_for_steps(self):
        """Until the oldest file of each rank is gone."""
        self.assertTrue(wait_for(lambda: self.spools() and not any(
            path.name.endswith("000000") for path in self.spools())), self.errors.read_text())

    def test_a_slow_step_is_written_out_while_the_job_goes_on(self):
        job = self.start("--slow-step", "50", "--metrics", self.folder / "live.prom",
                         "--metrics-every", "200ms",
                         # Loading takes 30 ms a step: 400 are more than the five seconds that
                         # are kept whatever the window is.
                         workload=["--steps", ENDLESS, "--inject", "slow_loader:30ms", "--inject",
                                   "checkpoint_pause:3s@1#400:410"])
        dump = self.wait_for_dump()
        self.assertIsNone(job.poll(), "the job goes on")
        self.assertRegex(dump.name, r"^0001-slow-step-\d+$")
        slow = int(dump.name.rsplit("-", 1)[1])
        rows = self.query(dump, "SELECT rank, number, end_ns - begin_ns AS ns FROM step"
                                " WHERE end_ns IS NOT NULL")
        self.assertEqual({row["rank"] for row in rows}, {0, 1})
        lengths = {row["number"]: row["ns"] for row in rows if row["rank"] == 1}
        # The pause is in one rank's step, and in what the other waits for in this one or the next.
        self.assertGreater(max(row["ns"] for row in rows if row["number"] == slow), 2_000_000_000)
        self.assertGreater(max(lengths.values()), 2_000_000_000)
        self.assertGreater(len(lengths), 20)
        # Both ranks' steps are whole, and begin with the same one.
        first = {rank: min(row["number"] for row in rows if row["rank"] == rank)
                 for rank in (0, 1)}
        self.assertEqual(first[0], first[1])
        stats = self.query(dump, "SELECT severity, name, count FROM trace_stat"
                                 " WHERE name = 'rolled_out'")
        self.assertEqual([row["severity"] for row in stats], ["notice", "notice"])
        self.assertGreater(min(row["count"] for row in stats), 1000)
        issues = self.query_derived(dump, "SELECT severity, name FROM data_issue")
        self.assertFalse([issue for issue in issues if issue[0] in ("data_loss", "error")], issues)
        self.assertIn(("info", "ranks_running"), issues)
        self.assertIn("tutti_live_dumps 1\n", wait_for(
            lambda: (text := (self.folder / "live.prom").read_text()) if "dumps 1" in
            (self.folder / "live.prom").read_text() else None))
        # By then it is longer ago than what is kept whatever the window is.
        self.assertTrue(wait_for(lambda: self.newest_step() > slow + 250))
        self.end(job)
        # What is left of the run are its newest steps.
        (row,) = self.query(self.run_path, "SELECT min(number) AS first FROM step WHERE rank = 0")
        self.assertGreater(row["first"], slow)
        self.assertFalse((self.run_path / ".spool").exists())

    def test_a_hang_is_written_out_and_named(self):
        job = self.start("--hang-after", "2s", "--slow-step", "1000",
                         workload=["--steps", ENDLESS, "--inject", "skip_collective:60s@1#300"])
        dump = self.wait_for_dump()
        self.assertIsNone(job.poll(), "the job hangs on")
        self.assertRegex(dump.name, r"^0001-hang-rank-[01]$")
        report = self.report(dump)
        self.assertEqual(report["findings"][0]["id"], "hang", report["findings"])
        self.assertEqual(report["findings"][0]["ranks"], [1])
        self.end(job)

    def test_it_is_bounded_whatever_the_job_does(self):
        """Steps of which the window would hold more than its size: the size is the limit."""
        job = self.start("--window", "1000000", "--window-size", "2M", "--dumps", "0",
                         workload=["--steps", ENDLESS])
        self.wait_for_steps()
        deadline = time.monotonic() + 3
        while time.monotonic() < deadline:
            sizes = {}
            for path in self.spools():
                try:
                    process = path.name.split(".")[0]
                    sizes[process] = sizes.get(process, 0) + path.stat().st_size
                except FileNotFoundError:
                    pass  # dropped just now
            # A batch is written as a whole, and a file dropped at the next look.
            for size in sizes.values():
                self.assertLess(size, 8 << 20)
            time.sleep(0.05)
        self.end(job)
        self.assertEqual(self.dumps(), [])
        rows = self.query(self.run_path, "SELECT rank, count(*) AS steps FROM step GROUP BY rank")
        self.assertEqual([row["rank"] for row in rows], [0, 1])

    def test_asked_for_twice_at_once(self):
        job = self.start("--dumps", "0", workload=["--steps", ENDLESS])
        self.wait_for_steps()
        asked = [subprocess.Popen([TUTTI, "ctl", self.run_path, "dump"], stdout=subprocess.PIPE,
                                  stderr=subprocess.PIPE, text=True) for _ in range(2)]
        paths = []
        for process in asked:
            out, errors = process.communicate(timeout=60)
            self.assertEqual(process.returncode, 0, errors)
            paths.append(pathlib.Path(out.strip()))
        self.assertEqual(len(set(paths)), 2)
        for path in paths:
            self.assertTrue(wait_for(lambda path=path: self.finished(path)),
                            self.errors.read_text())
            self.assertEqual(len(self.query(path, "SELECT DISTINCT rank FROM step")), 2)
        self.end(job)

    def test_the_job_ends_while_its_steps_are_written(self):
        job = self.start(workload=["--steps", ENDLESS])
        self.wait_for_steps()
        done = subprocess.run([TUTTI, "ctl", self.run_path, "dump"], capture_output=True,
                              text=True, timeout=60)
        self.assertEqual(done.returncode, 0, done.stderr)
        self.end(job)  # at once: the dump has only begun
        path = pathlib.Path(done.stdout.strip())
        self.assertTrue(self.finished(path), self.errors.read_text())
        self.assertEqual(len(self.query(path, "SELECT DISTINCT rank FROM step")), 2)
        self.assertEqual(len(self.query(self.run_path, "SELECT DISTINCT rank FROM step")), 2)

    def drainer_of(self, recorder):
        for entry in pathlib.Path("/proc").glob("[0-9]*"):
            try:
                stat = (entry / "stat").read_text()
            except OSError:
                continue
            name, rest = stat.split("(", 1)[1].rsplit(")", 1)
            if name == "tutti-drainer" and int(rest.split()[1]) == recorder:
                return int(entry.name)
        return None

    def is_dead(self):
        """Whether no recorder holds its lock any more: its last thread may take a while to end."""
        (lock,) = self.run_path.glob(".spool/*/lock")
        with lock.open() as file:
            try:
                fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
            except BlockingIOError:
                return False
        return True

    def test_a_killed_drainer_loses_neither_window_nor_names(self):
        job = self.start(workload=["--steps", ENDLESS])
        self.wait_for_steps()
        drainer = wait_for(lambda: self.drainer_of(job.pid))
        self.assertGreater(drainer, 1)
        os.kill(drainer, signal.SIGKILL)
        self.assertTrue(wait_for(lambda: (self.drainer_of(job.pid) or drainer) != drainer))
        newest = max(path.name for path in self.spools())
        self.assertTrue(wait_for(lambda: max(path.name for path in self.spools()) > newest))
        self.end(job)
        rows = self.query(self.run_path, "SELECT rank, count(*) AS steps FROM step GROUP BY rank")
        self.assertEqual([row["rank"] for row in rows], [0, 1])
        names = self.query(self.run_path, "SELECT rank, name FROM thread WHERE role = 'main'")
        self.assertEqual([row["name"] for row in names], ["mnist_mlp"] * 2)
        self.assertEqual(self.query(self.run_path, "SELECT count(*) AS n FROM trace_stat"
                                                   " WHERE name = 'missing_cells'"), [{"n": 0}])

    def test_what_a_killed_recorder_left_is_a_window(self):
        job = self.start(workload=["--steps", "3000"])
        self.wait_for_steps()
        drainer = wait_for(lambda: self.drainer_of(job.pid))
        for process in (job.pid, drainer):
            os.kill(process, signal.SIGKILL)
        job.wait(60)
        self.assertTrue(wait_for(self.is_dead))
        report = subprocess.run([TUTTI, "report", self.run_path, "--json"], capture_output=True,
                                text=True)
        self.assertEqual(report.returncode, 0, report.stderr)
        self.assertEqual(len(json.loads(report.stdout)["ranks"]), 2)
        rows = self.query(self.run_path, "SELECT DISTINCT rank, name FROM trace_stat"
                                         " WHERE name = 'rolled_out'")
        self.assertEqual(len(rows), 2)

    def test_a_full_disk_costs_the_oldest_steps(self):
        if "TUTTI_TEST_IN_NAMESPACE" not in os.environ:
            # Once more where a mount is ours alone.
            namespace = ["unshare", "--mount", "--map-root-user"]
            if subprocess.run([*namespace, "true"], capture_output=True).returncode != 0:
                self.skipTest("no mount namespace can be made here (unshare --mount)")
            done = subprocess.run(
                [*namespace, sys.executable, "-B", __file__, self.id().split(".", 1)[1]],
                env=os.environ | {"TUTTI_TEST_IN_NAMESPACE": "1"}, capture_output=True, text=True)
            self.assertEqual(done.returncode, 0, done.stderr)
            return
        disk = self.folder / "disk"
        disk.mkdir()
        subprocess.run(["mount", "-t", "tmpfs", "-o", "size=80m", "none", disk], check=True)
        self.addCleanup(subprocess.run, ["umount", "-l", disk], check=True)
        self.run_path = disk / "run"
        # The window alone would be larger than the disk.
        job = self.start("--window", "1000000", "--window-size", "256M", "--dumps", "0",
                         workload=["--steps", ENDLESS])
        self.wait_for_steps()
        newest = max(path.name for path in self.spools())
        time.sleep(2)
        self.assertIsNone(job.poll(), self.errors.read_text())
        self.end(job)
        self.assertNotIn("events are dropped", self.errors.read_text())
        rows = self.query(self.run_path, "SELECT rank, count(*) AS steps FROM step GROUP BY rank")
        self.assertEqual([row["rank"] for row in rows], [0, 1], newest)
        self.assertEqual(self.query(self.run_path, "SELECT count(*) AS n FROM trace_stat WHERE"
                                                   " severity IN ('data_loss', 'error')"),
                         [{"n": 0}])

    def test_recorders_of_one_job_dump_together(self):
        """As on two nodes: a slow step of one rank, and one run with both."""
        with socket.socket() as free:
            free.bind(("127.0.0.1", 0))
            port = free.getsockname()[1]
        jobs = []
        for rank in (0, 1):
            environment = self.environment | {
                "SLURM_JOB_ID": "77", "SLURM_STEP_ID": "0", "RANK": str(rank),
                "LOCAL_RANK": str(rank), "WORLD_SIZE": "2", "LOCAL_WORLD_SIZE": "2",
                "MASTER_ADDR": "127.0.0.1",
                "MASTER_PORT": str(port)}
            with (self.folder / f"errors-{rank}").open("w") as errors:
                job = subprocess.Popen(
                    [TUTTI, "record", "--live", "--window", "20", "--flush", "200ms", "-o",
                     self.run_path, "--slow-step", "50", "--dumps", str(1 - rank), "--", WORKLOAD,
                     "--threads", "1", "--workers", "1", "--steps", ENDLESS, "--inject",
                     "checkpoint_pause:3s@1#400:410"],
                    env=environment, stdout=subprocess.DEVNULL, stderr=errors,
                    start_new_session=True)
            self.end_at_the_end(job)
            jobs.append(job)
        said = lambda: "".join(path.read_text() for path in self.folder.glob("errors-*"))
        whole = lambda: [dump for dump in self.dumps() if self.finished(dump) and
                         len(list((dump / "manifest.d").glob("*.json"))) == 2]
        dump = wait_for(whole)
        self.assertTrue(dump, said())
        for job in jobs:
            self.assertIsNone(job.poll(), said())
        self.assertEqual(self.query(dump[0], "SELECT DISTINCT rank FROM step ORDER BY rank"),
                         [{"rank": 0}, {"rank": 1}])
        for job in jobs:
            self.end(job)
        self.assertEqual(len(self.dumps()), 1)

    def test_only_a_window_can_be_asked_for(self):
        whole = subprocess.Popen(
            [TUTTI, "record", "-o", self.run_path, "--", WORKLOAD, "--steps", ENDLESS],
            env=self.environment, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL,
            start_new_session=True)
        self.end_at_the_end(whole)
        self.assertTrue(wait_for(lambda: list(self.run_path.glob(".spool/*/p*.spool"))))
        done = subprocess.run([TUTTI, "ctl", self.run_path, "dump"], capture_output=True, text=True)
        self.assertEqual(done.returncode, 3)
        self.assertIn("only tutti record --live has a window", done.stderr)
        self.end(whole)

    def test_usage(self):
        for options in (["--max-size", "1G"], ["--steps", "1:2"], ["--window", "0"],
                        ["--window-size", "1K"], ["--slow-step", "1"], ["--hang-after", "1ms"],
                        ["--dumps", "-1"]):
            done = subprocess.run([TUTTI, "record", "--live", *options, "--", "true"],
                                  capture_output=True, text=True)
            self.assertEqual(done.returncode, 125, (options, done.stderr))


if __name__ == "__main__":
    unittest.main()
