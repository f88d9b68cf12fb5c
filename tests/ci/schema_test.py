"""What `tutti ci calibrate` and `tutti ci history` write as JSON is what the published schemas say,
and nothing that they don't."""
import copy
import json
import os
import pathlib
import subprocess
import sys
import tempfile
import unittest

import jsonschema

TUTTI = os.environ["TUTTI"]
ROOT = pathlib.Path(__file__).parents[2]
sys.path.insert(0, str(ROOT / "tests/report"))

from published_schema import closed  # noqa: E402  (a module of the report's tests)


class SchemaTest(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.folder = pathlib.Path(folder.name)
        subprocess.run([sys.executable, "-B", ROOT / "samples/ci/make_runs.py",
                        self.folder / "runs"], check=True, capture_output=True,
                       env=os.environ | {"PATH": f"{pathlib.Path(TUTTI).parent}:"
                                                 f"{os.environ['PATH']}"})

    def runs(self, pattern):
        return sorted((self.folder / "runs").glob(pattern))

    def tutti(self, *words, codes=(0,)):
        done = subprocess.run([TUTTI, *map(str, words)], cwd=self.folder, capture_output=True,
                              text=True, timeout=200)
        self.assertIn(done.returncode, codes, done.stderr)
        return json.loads(done.stdout)

    def check(self, name, json_value, *wrong):
        """That the value fits, and that a value with one of `wrong` (path, value) doesn't."""
        schema = json.loads((ROOT / f"docs/{name}.schema.json").read_text())
        jsonschema.Draft202012Validator.check_schema(schema)
        validator = jsonschema.Draft202012Validator(closed(schema))
        for error in validator.iter_errors(json_value):
            self.fail(f"{name}: {error.json_path}: {error.message}")
        for path, value in wrong:
            other = copy.deepcopy(json_value)
            place = other
            for key in path[:-1]:
                place = place[key]
            place[path[-1]] = value
            self.assertFalse(validator.is_valid(other), path)

    def test_a_calibration(self):
        found = self.tutti("ci", "calibrate", *self.runs("null/*"), "--json")
        self.assertTrue(found["noise"] and found["proposal"])
        self.check("calibration", found, (("schema",), "tutti.calibration/2"),
                   (("noise", 0, "metric"), 1), (("proposal", "pairs"), 1.5), (("more",), 1),
                   (("separate", "comparisons"), None))
        # A machine that is too restless for a proposal.
        restless = self.tutti("ci", "calibrate", *self.runs("noisy/*"), "--most-pairs", 6, "--json")
        self.check("calibration", restless)

    def test_a_history_with_a_change_and_a_check(self):
        base = self.runs("regression/base-*") + self.runs("null/base-*")
        subprocess.run([TUTTI, "ci", "history", "add", *base, "--label", "a"], cwd=self.folder,
                       check=True, capture_output=True)
        subprocess.run([TUTTI, "ci", "history", "add", *self.runs("regression/new-*"), "--label",
                        "b"], cwd=self.folder, check=True, capture_output=True)
        shown = self.tutti("ci", "history", "show", "--json")
        self.assertTrue(shown["trends"][0]["levels"])
        self.check("history", shown, (("trends", 0, "launches", 0, "value"), "fast"),
                   (("trends", 0, "levels", 0, "new_epoch"), None), (("new",), 1))
        checks = self.tutti("ci", "history", "check", self.runs("null/new-*")[0], "--json",
                            codes=(0, 1, 4))
        self.assertTrue(checks["checks"])
        self.check("history_check", checks, (("checks", 0, "verdict"), "bad"),
                   (("checks", 0, "launches"), "many"))


if __name__ == "__main__":
    unittest.main()
