"""`tutti ci run` from the command line to the exit code: records, is interrupted, resumes, judges.

TUTTI names the command, TUTTI_WORKLOAD a training program. Step times of a few launches on a busy
machine prove nothing: the verdicts that are asserted are those of a change that multiplies them.
"""
import json
import os
import pathlib
import shutil
import signal
import subprocess
import tempfile
import time
import unittest

TUTTI = os.environ["TUTTI"]
WORKLOAD = os.environ["TUTTI_WORKLOAD"]


class CampaignTest(unittest.TestCase):
    def setUp(self):
        scratch = tempfile.TemporaryDirectory(prefix="tutti-ci-")
        self.addCleanup(scratch.cleanup)
        self.folder = pathlib.Path(scratch.name)
        self.environment = {name: value for name, value in os.environ.items()
                            if name == "TUTTI_CACHE" or not name.startswith("TUTTI")}

    def arguments(self, *words, base=WORKLOAD, new=WORKLOAD, command=("--steps", "30")):
        return [TUTTI, "ci", "run", "--base", base, "--new", new, "--warm-up", "0",
                *map(str, words), "--", *command]

    def run_ci(self, *words, **sides):
        return subprocess.run(self.arguments(*words, **sides), cwd=self.folder, text=True,
                              env=self.environment, capture_output=True, timeout=250)

    def log(self):
        return json.loads((self.folder / "tutti-ci/campaign.json").read_text())

    def test_a_slower_version_fails_the_pipeline(self):
        slow = f"sh:{WORKLOAD} --inject extra_compute:30ms"
        result = self.run_ci("--pairs", 4, "--json", "--min-effect", "50%", "--alpha", "0.2",
                             "--no-control", "--gate", "step_time", new=slow)
        self.assertEqual(result.returncode, 1, result.stdout + result.stderr)
        comparison = json.loads(result.stdout)
        self.assertEqual(comparison["verdict"], "regression")
        self.assertEqual(comparison["design"], "paired")
        self.assertEqual([launch["name"] for launch in comparison["base"]],
                         [f"tutti-ci/base-{pair}" for pair in (1, 2, 3, 4)])
        order = [(entry["side"], entry["pair"]) for entry in self.log()["launches"]]
        self.assertEqual(order, [("base", 1), ("new", 1), ("new", 2), ("base", 2), ("base", 3),
                                 ("new", 3), ("new", 4), ("base", 4)])
        self.assertIn("8 of 8", result.stderr)
        # The same call again records nothing and says the same.
        again = self.run_ci("--pairs", 4, "--json", "--min-effect", "50%", "--alpha", "0.2",
                            "--no-control", "--gate", "step_time", new=slow)
        self.assertEqual(again.stdout, result.stdout)
        self.assertIn("nothing is recorded", again.stderr)

    def confirmed(self, slow_launches):
        """The outcome where only the first launches of the new version are slow."""
        script = self.folder / f"slow-{slow_launches}"
        script.write_text(f"""#!/bin/sh
echo >> {script}.count
[ $(wc -l < {script}.count) -gt {slow_launches} ] || set -- --inject extra_compute:30ms "$@"
exec {WORKLOAD} "$@"
""")
        script.chmod(0o755)
        return self.run_ci("--pairs", 3, "--confirm", 3, "--json", "--min-effect", "50%", "--alpha",
                           "0.2", "--no-control", "--gate", "step_time", "-o", f"{script}.ci",
                           new=str(script))

    def test_a_regression_is_filed_only_if_it_shows_again(self):
        result = self.confirmed(slow_launches=6)
        self.assertEqual(result.returncode, 1, result.stderr)
        self.assertIn("12 of 12", result.stderr)
        comparison = json.loads(result.stdout)
        self.assertEqual(len(comparison["base"]), 3)
        self.assertTrue(comparison["confirmation"]["confirmed"])
        self.assertNotIn("pairs were added", " ".join(comparison["notes"]))
        result = self.confirmed(slow_launches=3)
        self.assertEqual(result.returncode, 0, result.stderr)
        comparison = json.loads(result.stdout)
        self.assertEqual(comparison["verdict"], "inconclusive")
        self.assertFalse(comparison["confirmation"]["confirmed"])
        self.assertIn("not confirmed by 3 further pairs", comparison["headline"])

    def test_an_interrupted_campaign_goes_on(self):
        command = ("--steps", "1000000")
        with subprocess.Popen(self.arguments("--pairs", 1, command=command), cwd=self.folder,
                              env=self.environment, stdout=subprocess.PIPE,
                              stderr=subprocess.PIPE, text=True) as campaign:
            log = self.folder / "tutti-ci/logs/base-1.log"
            deadline = time.monotonic() + 100
            while time.monotonic() < deadline and not (log.exists() and "step" in log.read_text()):
                time.sleep(0.1)
            campaign.send_signal(signal.SIGINT)
            _, errors = campaign.communicate(timeout=100)
        self.assertEqual(campaign.returncode, -signal.SIGINT, errors)
        self.assertIn("the same command goes on", errors)
        self.assertEqual([entry["state"] for entry in self.log()["launches"]], ["interrupted"])
        self.assertTrue((self.folder / "tutti-ci/set-aside/base-1.1").exists())
        # The plan's command would take too long here; the next launch is ended by its timeout.
        result = self.run_ci("--pairs", 1, "--timeout", "3s", command=command)
        self.assertEqual(result.returncode, 3, result.stderr)
        self.assertIn("launch base-1 failed: no end after", result.stderr)
        result = self.run_ci("--pairs", 1, command=command)
        self.assertEqual(result.returncode, 3)
        self.assertIn("nothing is tried again silently", result.stderr)

    def test_a_revision_is_built_and_run(self):
        repository = self.folder / "repository"
        repository.mkdir()

        def git(*words):
            subprocess.run(["git", "-c", "user.name=n", "-c", "user.email=a@b.c", *words],
                           cwd=repository, check=True, capture_output=True)

        git("init", "-q")
        (repository / "train.in").write_text(f"exec {WORKLOAD} --steps 20 \"$@\"\n")
        git("add", ".")
        git("commit", "-qm", "one")
        result = subprocess.run(
            [TUTTI, "ci", "run", "--base", "git:HEAD", "--new", ".", "--pairs", "2", "--warm-up",
             "0", "-o", self.folder / "out", "--build", "cp train.in train && chmod +x train",
             "--json", "--", "./train"],
            cwd=repository, env=self.environment, capture_output=True, text=True, timeout=200)
        self.assertIn(result.returncode, (0, 1, 4), result.stderr)
        self.assertEqual(json.loads(result.stdout)["design"], "paired")
        self.assertTrue((self.folder / "out/source/base/train").exists())
        self.assertTrue((repository / "train").exists())
        self.assertIsNotNone(json.loads(result.stdout)["control"])

    def test_calibrates_and_gates_what_is_recorded(self):
        """A calibration's runs, given again as runs and as a folder for the gate."""
        def tutti(*words, **more):
            return subprocess.run([TUTTI, *map(str, words)], cwd=self.folder, text=True,
                                  env=self.environment, capture_output=True, timeout=200, **more)

        result = tutti("ci", "calibrate", "--of", WORKLOAD, "--pairs", 4, "--warm-up", 0,
                       "--comparison-pairs", 2, "--json", "--", "--steps", 20)
        self.assertEqual(result.returncode, 0, result.stderr)
        calibration = json.loads(result.stdout)
        self.assertEqual(calibration["schema"], "tutti.calibration/1")
        self.assertEqual(calibration["separate"]["comparisons"], 2)
        self.assertGreater(calibration["noise"][0]["pair_sd"], 0)
        self.assertGreater(calibration["control_sd"], 0)
        runs = sorted((self.folder / "tutti-calibration").glob("[bn]*-[0-9]"))
        again = tutti("ci", "calibrate", *runs, "--comparison-pairs", 2, "--json")
        self.assertEqual(json.loads(again.stdout)["noise"], calibration["noise"])
        self.assertEqual(tutti("ci", "calibrate", *runs[1:]).returncode, 2)
        self.assertEqual(tutti("ci", "calibrate").returncode, 2)
        # The gate, with a policy of a file that no noise can trip.
        (self.folder / "policy.toml").write_text(
            '[ci.gate]\nmin-effect = "90%"\ngate = ["step_time", "memory_peak:80%"]\n')
        gate = tutti("ci", "gate", "tutti-calibration", "--config", "policy.toml", "--json")
        self.assertIn(gate.returncode, (0, 1), gate.stderr)
        comparison = json.loads(gate.stdout)
        self.assertEqual(comparison["rule"]["min_effect"], 0.9)
        self.assertEqual(len(comparison["base"]), 4)
        gates = {metric["name"] for metric in comparison["metrics"] if metric["gate"]}
        self.assertEqual(gates, {"step_time", "memory_peak"})
        shutil.rmtree(self.folder / "tutti-calibration/new-4")
        gate = tutti("ci", "gate", "tutti-calibration", "--json")
        self.assertEqual(len(json.loads(gate.stdout)["base"]), 3)
        self.assertIn("the other run of the pair is missing: 1 of 7", gate.stdout)
        self.assertEqual(tutti("ci", "gate", ".").returncode, 3)

    def test_usage(self):
        for words, code, said in (
            (["--new", "x"], 2, "--base is required"),
            (["--base", WORKLOAD, "--new", "no-such-thing"], 2, "no-such-thing"),
            (["--base", ".", "--new", "."], 2, "what is to be run"),
            (["--base", WORKLOAD, "--new", WORKLOAD, "--pairs", "0"], 2, "--pairs"),
            (["--base", "sh:exit 7", "--new", "sh:exit 7"], 3, "base failed"),
        ):
            result = subprocess.run([TUTTI, "ci", "run", *words], cwd=self.folder, text=True,
                                    env=self.environment, capture_output=True, timeout=60)
            self.assertEqual(result.returncode, code, (words, result.stderr))
            self.assertIn(said, result.stderr)
            self.assertEqual(result.stdout, "")
        # Runs may be called as verbs are.
        for words in (["compare", "record", "--", "ci"], ["report", "record"],
                      ["ci", "gate", "record", "--", "run"]):
            result = subprocess.run([TUTTI, *words], cwd=self.folder, env=self.environment,
                                    capture_output=True, timeout=60)
            self.assertEqual(result.returncode, 3, words)


if __name__ == "__main__":
    unittest.main()
