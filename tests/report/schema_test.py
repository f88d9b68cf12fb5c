"""The JSON report has what docs/report.schema.json says, and nothing that it doesn't."""
import copy
import json
import os
import pathlib
import subprocess
import tempfile
import unittest

import jsonschema

import made_runs
from published_schema import closed

TUTTI = os.environ["TUTTI_PROGRAM"]
WORKLOAD = os.environ.get("TUTTI_MNIST_MLP")
ROOT = pathlib.Path(__file__).parents[2]
SHARED = pathlib.Path(os.environ.get("TUTTI_SHARED", ROOT / "../shared"))
SCHEMA = json.loads((ROOT / "docs/report.schema.json").read_text())


class SchemaTest(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.folder = pathlib.Path(folder.name)
        self.validator = jsonschema.Draft202012Validator(closed(SCHEMA))

    def report(self, run):
        done = subprocess.run([TUTTI, "report", run, "--json"], capture_output=True, text=True,
                              timeout=200)
        self.assertEqual(done.returncode, 0, done.stderr)
        return json.loads(done.stdout)

    def check(self, run):
        report = self.report(run)
        for error in self.validator.iter_errors(report):
            self.fail(f"{run}: {error.json_path}: {error.message}")
        return report

    def test_the_schema_is_one(self):
        jsonschema.Draft202012Validator.check_schema(SCHEMA)

    def test_a_made_run(self):
        report = self.check(made_runs.make_run(TUTTI, self.folder, 4, 8))
        self.assertTrue(report["collectives"] and report["launches"] and report["findings"])
        for path, value in ((("step", "median_ns"), 1.5), (("ranks", 0, "host"), None),
                            (("new",), 1), (("findings", 0, "confidence"), "sure")):
            wrong = copy.deepcopy(report)
            place = wrong
            for key in path[:-1]:
                place = place[key]
            place[path[-1]] = value
            self.assertFalse(self.validator.is_valid(wrong), path)

    def test_a_recorded_run(self):
        if not WORKLOAD:
            self.skipTest("the workloads are not built")
        run = self.folder / "run"
        subprocess.run([TUTTI, "record", "-o", run, "--nproc", "2", "--", WORKLOAD, "--steps", "9"],
                       check=True, capture_output=True)
        self.assertTrue(self.check(run)["loaders"])

    def test_files_of_other_tools(self):
        traces = SHARED / "traces"
        if not traces.exists():
            self.skipTest(f"no reference files at {traces}")
        names = ["hta/amd_trace/mi250_minitoy_train_ROCm6_2_kineto.json.gz",
                 "hta/timeline_analysis/sampled_rank-0.json.gz",
                 "hta/cpu_only/rank-34.Jul_15_10_52_41.1074.pt.trace.json.gz"]
        for kind in ("memsnap-magma27", "nsys-ai", "nvrx-flight-recorder"):
            names += [f.relative_to(traces) for f in sorted((traces / kind).rglob("*"))
                      if f.suffix in (".pickle", ".sqlite") or "dump" in f.name][:1]
        for name in names:
            with self.subTest(name=str(name)):
                run = self.folder / str(name).replace("/", "_")
                done = subprocess.run([TUTTI, "import", traces / name, "-o", run],
                                      capture_output=True, text=True)
                if done.returncode == 0:
                    self.check(run)


if __name__ == "__main__":
    unittest.main()
