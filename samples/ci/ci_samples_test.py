#!/usr/bin/env python3
"""Makes the sample's runs and compares what `tutti compare` says with what is right.

TUTTI names the command.
"""
import json
import os
import pathlib
import subprocess
import sys
import tempfile
import unittest

HERE = pathlib.Path(__file__).resolve().parent
TUTTI = os.environ.get("TUTTI", "tutti")


SCHEMA = json.loads((HERE.parents[1] / "docs/compare.schema.json").read_text())
TYPES = {"object": dict, "array": list, "string": str, "boolean": bool, "null": type(None)}


def is_of(value, name):
    if name in TYPES:
        return isinstance(value, TYPES[name])
    kinds = int if name == "integer" else (int, float)
    return isinstance(value, kinds) and not isinstance(value, bool)


def objections(value, schema, place="$"):
    """What of `value` is not as the schema wants it; knows the words that ours uses."""
    if "$ref" in schema:
        schema = SCHEMA["$defs"][schema["$ref"].rsplit("/", 1)[1]]
    if "anyOf" in schema:
        ways = [[*objections(value, way, place)] for way in schema["anyOf"]]
        yield from [] if [] in ways else ways[0]
    names = schema.get("type", [])
    names = [names] if isinstance(names, str) else names
    if names and not any(is_of(value, name) for name in names):
        yield f"{place}: {value!r} is no {' or '.join(names)}"
    if value not in schema.get("enum", [value]) or value != schema.get("const", value):
        yield f"{place}: {value!r} is not allowed"
    if isinstance(value, dict):
        for name in schema.get("required", []):
            if name not in value:
                yield f"{place}.{name} is missing"
        for name, member in value.items():
            if "properties" in schema and name not in schema["properties"]:
                yield f"{place}.{name} is not documented"
            yield from objections(member, schema.get("properties", {}).get(name, {}),
                                  f"{place}.{name}")
    if isinstance(value, list):
        for index, member in enumerate(value):
            yield from objections(member, schema.get("items", {}), f"{place}[{index}]")


class CiSamplesTest(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.folder = tempfile.TemporaryDirectory()
        cls.runs = pathlib.Path(cls.folder.name) / "runs"
        subprocess.run([sys.executable, HERE / "make_runs.py", cls.runs], check=True,
                       stdout=subprocess.DEVNULL)

    @classmethod
    def tearDownClass(cls):
        cls.folder.cleanup()

    def compare(self, scenario, *options):
        base = sorted((self.runs / scenario).glob("base-*"))
        new = sorted((self.runs / scenario).glob("new-*"))
        return subprocess.run([TUTTI, "compare", *base, "--", *new, *options],
                              capture_output=True, text=True)

    def judged(self, scenario):
        result = self.compare(scenario, "--json")
        self.assertIn(result.returncode, (0, 1), result.stderr)
        comparison = json.loads(result.stdout)
        self.assertEqual([*objections(comparison, SCHEMA)], [])
        metrics = {metric["name"]: metric for metric in comparison["metrics"]}
        return result.returncode, comparison, metrics

    def test_regression(self):
        code, comparison, metrics = self.judged("regression")
        self.assertEqual(code, 1)
        self.assertEqual(comparison["verdict"], "regression")
        self.assertEqual(comparison["design"], "paired")
        for gate in ("step_time", "exposed_comm", "exposed_comm_transfer"):
            self.assertEqual(metrics[gate]["verdict"], "regression", gate)
        self.assertNotIn("exposed_comm_wait", metrics)  # rank 1's lateness is hidden
        changed = comparison["what_changed"]
        self.assertEqual(sum(part["change_ns"] for part in changed["parts"]),
                         changed["change_ns"])
        largest = max(changed["parts"], key=lambda part: abs(part["change_ns"]))
        self.assertEqual(largest["part"], "exposed_comm_transfer")
        self.assertAlmostEqual(largest["change_ns"], 2.4e6, delta=0.1e6)

    def test_the_schema_is_checked(self):
        _, comparison, _ = self.judged("null")
        comparison["verdict"] = "neutral"
        comparison["metrics"][0]["base"] = "39 ms"
        del comparison["rule"]
        self.assertEqual(len([*objections(comparison, SCHEMA)]), 3)

    def test_null(self):
        code, comparison, metrics = self.judged("null")
        self.assertEqual(code, 0)
        self.assertEqual(comparison["verdict"], "no_regression")
        self.assertLess(metrics["step_time"]["minimum_detectable_effect"], 0.02)

    def test_noisy(self):
        code, comparison, metrics = self.judged("noisy")
        self.assertEqual(code, 0)
        self.assertEqual(comparison["verdict"], "inconclusive")
        self.assertGreater(metrics["step_time"]["minimum_detectable_effect"], 0.05)
        self.assertGreater(metrics["step_time"]["launches_for_min_effect"], 6)
        self.assertEqual(self.compare("noisy", "--fail-on", "inconclusive").returncode, 4)

    def test_files_for_ci(self):
        junit, summary, metrics = (self.runs / name for name in ("j.xml", "s.md", "m.prom"))
        result = self.compare("regression", "--junit", junit, "--summary", summary, "--metrics",
                              metrics)
        self.assertEqual(result.returncode, 1, result.stderr)
        self.assertTrue(result.stdout.startswith("REGRESSION: step_time +"), result.stdout)
        self.assertIn('failures="2"', junit.read_text())
        self.assertTrue(summary.read_text().startswith("<!-- tutti-compare -->"))
        self.assertIn('tutti_compare_verdict{verdict="regression"} 1', metrics.read_text())

    def test_usage(self):
        run = self.runs / "null" / "base-1"
        for words in ([run, run, "--", run], [run], ["--", run], [run, "--"],
                      [run, "--", self.runs / "null" / "new-1", "--min-effect", "0"]):
            result = subprocess.run([TUTTI, "compare", *words], capture_output=True, text=True)
            self.assertEqual(result.returncode, 2, (words, result.stdout, result.stderr))
        missing = subprocess.run([TUTTI, "compare", run, "--", self.runs / "none"],
                                 capture_output=True, text=True)
        self.assertEqual(missing.returncode, 3, missing.stderr)


if __name__ == "__main__":
    unittest.main()
