"""`tutti record --metrics`, `--metrics-port`: what a running job does, in a file that is whole at
any moment and over HTTP."""
import http.client
import json
import os
import pathlib
import re
import signal
import socket
import subprocess
import tempfile
import time
import unittest

TUTTI = os.environ["TUTTI"]
WORKLOAD = os.environ["TUTTI_WORKLOAD"]
DASHBOARD = pathlib.Path(__file__).parents[2] / "samples/grafana/live.json"
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

    def port_of(self, job):
        line = job.stderr.readline()
        match = re.fullmatch(r"tutti: metrics: http://127\.0\.0\.1:(\d+)/metrics\n", line)
        self.assertTrue(match, line)
        return int(match[1])

    def scrape(self, port):
        """(status, content type, text) as Prometheus asks for it."""
        connection = http.client.HTTPConnection("127.0.0.1", port, timeout=60)
        connection.request("GET", "/metrics", headers={
            "Accept": "application/openmetrics-text;version=1.0.0,text/plain;version=0.0.4;q=0.5"})
        answer = connection.getresponse()
        text = answer.read().decode()
        connection.close()
        return answer.status, answer.headers["Content-Type"], text

    def until_steps(self, port, more_than):
        """Of the first text that tells more steps."""
        deadline = time.monotonic() + 90
        while time.monotonic() < deadline:
            status, kind, text = self.scrape(port)
            if status == 200:
                self.assertIn("application/openmetrics-text; version=1.0.0", kind)
                self.assertTrue(text.endswith("# EOF\n"), text)
                steps = [value for (name, _), value in samples(text).items()
                         if name == "tutti_live_steps"]
                if steps and steps[0] > more_than:
                    return steps[0]
            time.sleep(0.02)
        self.fail("no steps were served")

    def test_serves_a_running_job_whatever_others_send(self):
        with tempfile.TemporaryDirectory() as scratch:
            folder = pathlib.Path(scratch)
            with self.record(folder, "--metrics-port", "0", "--metrics-every", "100ms",
                             "--flush", "100ms") as job:
                port = self.port_of(job)
                first = self.until_steps(port, 0)
                held = [socket.create_connection(("127.0.0.1", port)) for _ in range(8)]
                for at, connection in enumerate(held):
                    connection.sendall([b"GET /metr", b"\0" * 5000, b"", b"\x16\x03\x01"][at % 4])
                for flood in (b"GET /metrics HTTP/1.1\r\nX: ", b"POST /metrics HTTP/1.1\r\n"
                              b"Host: h\r\nContent-Length: 99999999999\r\n\r\n", b"GET /"):
                    with socket.create_connection(("127.0.0.1", port)) as connection:
                        try:
                            connection.sendall(flood + b"x" * (8 << 20))
                        except OSError:
                            pass  # refused on the way
                second = self.until_steps(port, first)
                # The recorder's drainer dies; the next one serves at the same port.
                (drainer,) = [
                    int(task) for task in pathlib.Path(
                        f"/proc/{job.pid}/task/{job.pid}/children").read_text().split()
                    if pathlib.Path(f"/proc/{task}/comm").read_text() == "tutti-drainer\n"]
                os.kill(drainer, signal.SIGKILL)
                self.until_steps(port, second)
                job.send_signal(signal.SIGTERM)
                _, errors = job.communicate()
            self.assertEqual(job.returncode, 128 + signal.SIGTERM, errors)
            self.assertTrue((folder / "run/rank-00000.sqlite").exists(), errors)
            for connection in held:
                connection.close()

    def test_the_dashboard_shows_all_that_is_told_and_nothing_else(self):
        expressions = [target["expr"] for panel in json.loads(DASHBOARD.read_text())["panels"]
                       for target in panel["targets"]]
        shown = set(re.findall(r"\btutti_\w+", " ".join(expressions)))
        with tempfile.TemporaryDirectory() as scratch:
            with self.record(pathlib.Path(scratch), "--live", "--metrics-port", "0",
                             "--metrics-every", "100ms") as job:
                port = self.port_of(job)
                self.until_steps(port, 0)
                _, _, text = self.scrape(port)
                job.send_signal(signal.SIGTERM)
                job.communicate()
        self.assertEqual(shown, {name for name, _ in samples(text)})

    def test_a_port_that_is_taken_is_said_and_harms_nothing(self):
        with tempfile.TemporaryDirectory() as scratch, socket.socket() as other:
            other.bind(("127.0.0.1", 0))
            other.listen()
            folder = pathlib.Path(scratch)
            with self.record(folder, "--metrics-port", str(other.getsockname()[1]),
                             steps=200) as job:
                _, errors = job.communicate()
            self.assertEqual(job.returncode, 0, errors)
            self.assertEqual(errors.count("no metrics at a port:"), 1, errors)
            self.assertTrue((folder / "run/rank-00000.sqlite").exists())

    def test_usage(self):
        for options in (["--metrics-every", "1ms"], ["--metrics-every", "often"],
                        ["--metrics-port", "65536"], ["--metrics-port", "0.0.0.0:80"]):
            done = subprocess.run([TUTTI, "record", *options, "--", "true"], capture_output=True,
                                  text=True)
            self.assertEqual(done.returncode, 125, done.stderr)


if __name__ == "__main__":
    unittest.main()
