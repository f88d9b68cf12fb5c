"""What commands print with --json is what docs/commands.schema.json says, and nothing else."""
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

# A rank of four steps with an operator each.
TRACE = {"distributedInfo": {"rank": 0, "world_size": 1}, "traceEvents": [
    {"ph": "X", "cat": category, "name": name, "ts": 1000 * step + 1, "dur": length, "pid": 7,
     "tid": 7}
    for step in range(4)
    for category, name, length in (("user_annotation", f"ProfilerStep#{step}", 900),
                                   ("cpu_op", "aten::mm", 800))]}
COMMANDS = {
    "import": ("import", "trace.json", "-o", "run"),
    "config": ("config", "show"),
    "doctor": ("doctor",),
    "env": ("env",),
    "export": ("export", "run", "--to", "csv", "-o", "csv"),
    "migrate": ("migrate", "run", "-o", "copy"),
    "query": ("query", "run", "SELECT number, 0.5 AS half, NULL AS missing FROM step"),
    "schema": ("schema",),
    "whatif": ("whatif", "run"),
}


class JsonTest(unittest.TestCase):
    def test_each_command_prints_what_is_published(self):
        schema = json.loads((ROOT / "docs/commands.schema.json").read_text())
        jsonschema.Draft202012Validator.check_schema(schema)
        self.assertEqual(set(COMMANDS), set(schema["$defs"]))
        validator = jsonschema.Draft202012Validator(closed(schema))
        environment = os.environ | {"TUTTI_SESSION": "/s:00"}
        with tempfile.TemporaryDirectory() as folder:
            pathlib.Path(folder, "trace.json").write_text(json.dumps(TRACE))
            for name, words in COMMANDS.items():
                with self.subTest(command=name):
                    done = subprocess.run([TUTTI, *words, "--json"], cwd=folder, env=environment,
                                          capture_output=True, text=True, timeout=100)
                    # A machine with a problem is one that doctor exits 1 for.
                    self.assertIn(done.returncode, (0, 1) if name == "doctor" else (0,),
                                  done.stderr)
                    printed = json.loads(done.stdout)
                    self.assertEqual(printed["schema"], f"tutti.{name}/1")
                    for error in validator.iter_errors(printed):
                        self.fail(f"{error.json_path}: {error.message}")
                    self.assertFalse(validator.is_valid(printed | {"more": 1}))


if __name__ == "__main__":
    unittest.main()
