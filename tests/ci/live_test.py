"""`tutti record --metrics`: what a running job does, in a file that is whole at any moment."""
import json
import os
import pathlib
import re
import signal
import subprocess
import tempfile
import time
import unittest

TUTTI = os.environ["TUTTI"]
WORKLOAD = os.environ["TUTTI_WORKLOAD"]
STEPS = 1_000_000  # it is ended once it has been seen


def samples(text):
    """{(name, labels): value} of OpenMetrics text."""
    found = {}
    for line in text.splitlines():
        match = re.fullmatch(r"(\w+)(?:\{(.*)\})? (\S+)", line)
        if match and not line.startswith("#"):
            found[match[1], match[2] or ""] = float(match[3])
    return found


class LiveTest(unittest.TestCase):
    def record(self, folder, *options, steps=STEPS):
        environment = {name: value for name, value in os.environ.items()
                       if name == "TUTTI_CACHE" or not name.startswith("TUTTI")}
        return subprocess.Popen(
            [TUTTI, "record", "-o", "run", *options, "--", WORKLOAD, "--steps", str(steps)],
            cwd=folder, env=environment, stdout=subprocess.DEVNULL, stderr=subprocess.PIPE,
            text=True)

    def test_follows_a_running_job(self):
        with tempfile.TemporaryDirectory() as scratch:
            folder = pathlib.Path(scratch)
            file = folder / "live.prom"
            with self.record(folder, "--metrics", "live.prom", "--metrics-every", "100ms",
                             "--flush", "100ms") as job:
                counts = []
                deadline = time.monotonic() + 90
                while job.poll() is None and time.monotonic() < deadline and len(set(counts)) < 4:
                    if file.exists():
                        text = file.read_text()
                        self.assertTrue(text.endswith("# EOF\n"), text)
                        counts += [value for (name, _), value in samples(text).items()
                                   if name == "tutti_live_steps"]
                    time.sleep(0.02)
                job.send_signal(signal.SIGTERM)
                _, errors = job.communicate()
            self.assertEqual(job.returncode, 128 + signal.SIGTERM, errors)
            self.assertEqual(counts, sorted(counts))
            self.assertGreater(len(set(counts)), 2, "it was written while the job ran")
            last = samples(file.read_text())
            by_name = {name: value for (name, labels), value in last.items()
                       if "step=" not in labels}
            # On a busy machine some events are lost: what is told is what was recorded.
            (row,) = json.loads(subprocess.run(
                [TUTTI, "query", folder / "run", "--json",
                 "SELECT count(*) AS steps, max(number) AS newest FROM step "
                 "WHERE end_ns IS NOT NULL"],
                check=True, capture_output=True, text=True).stdout)["rows"]
            self.assertEqual(by_name["tutti_live_steps"], row["steps"])
            self.assertEqual(by_name["tutti_live_step_number"], row["newest"])
            self.assertEqual(by_name["tutti_live_running"], 0)
            self.assertGreater(by_name["tutti_live_recorded_bytes"], 10_000)
            lengths = {labels.rsplit("=", 1)[1].strip('"'): value
                       for (name, labels), value in last.items()
                       if name == "tutti_live_step_seconds"}
            self.assertLess(0, lengths["median"])
            self.assertLessEqual(lengths["median"], lengths["longest"])

    def test_a_place_that_can_not_be_written_is_said_and_harms_nothing(self):
        with tempfile.TemporaryDirectory() as scratch:
            folder = pathlib.Path(scratch)
            with self.record(folder, "--metrics", "none/live.prom", steps=200) as job:
                _, errors = job.communicate()
            self.assertEqual(job.returncode, 0, errors)
            self.assertEqual(errors.count("no metrics:"), 1, errors)
            self.assertTrue((folder / "run/rank-00000.sqlite").exists())

    def test_usage(self):
        for options in (["--metrics-every", "1ms"], ["--metrics-every", "often"]):
            done = subprocess.run([TUTTI, "record", *options, "--", "true"], capture_output=True,
                                  text=True)
            self.assertEqual(done.returncode, 125, done.stderr)


if __name__ == "__main__":
    unittest.main()
