"""Small traces with a right answer: what the command says is what their fact blocks say.

Each case is a folder with traces and an expected.md, whose fact block gives times in microseconds.
Facts about single rows of a format are tested beside its importer.
"""
import json
import os
import pathlib
import re
import shutil
import subprocess
import sys
import tempfile
import unittest

PROGRAM = os.environ["TUTTI_PROGRAM"]
SHARED = pathlib.Path(
    os.environ.get("TUTTI_SHARED") or pathlib.Path(__file__).resolve().parents[3] / "shared"
)
CASES = SHARED / "cases"
NS_PER_US = 1000


class Case:
    """One case, imported into a run of its own."""

    def __init__(self, test, name):
        self.folder = CASES / name
        text = (self.folder / "expected.md").read_text()
        self.facts = json.loads(re.search(r"```json\n(.*?)```", text, re.DOTALL).group(1))
        self._scratch = tempfile.TemporaryDirectory(prefix="tutti-case-")
        test.addCleanup(self._scratch.cleanup)
        self.run = pathlib.Path(self._scratch.name, "run")

    def tutti(self, *arguments):
        environment = {k: v for k, v in os.environ.items() if k == "TUTTI_PROGRAM"
                       or not k.startswith("TUTTI_")}
        environment["XDG_CACHE_HOME"] = self._scratch.name
        return subprocess.run([PROGRAM, *map(str, arguments)], capture_output=True, text=True,
                              env=environment, timeout=60)

    def imported(self, inputs="."):
        """What `tutti import --json` says."""
        result = self.tutti("import", self.folder / inputs, "-o", self.run, "--json")
        assert result.returncode == 0, result.stderr
        return json.loads(result.stdout)

    def report(self):
        self.imported()
        result = self.tutti("report", self.run, "--json")
        assert result.returncode == 0, result.stderr
        return json.loads(result.stdout)

    def number(self, sql):
        result = self.tutti("query", self.run, sql, "--json")
        assert result.returncode == 0, result.stderr
        (row,) = json.loads(result.stdout)["rows"]
        (value,) = row.values()
        return value


def is_communication(operator):
    return operator["category"].startswith("comm_")


class CasesTest(unittest.TestCase):
    def test_which_kernels_are_communication(self):
        case = Case(self, "26-comm-kernel-names")
        report = case.report()
        work = report["operators"]
        copies = [each for each in work if each["category"] == "copy"]
        compute = [each for each in work if not is_communication(each) and each not in copies]
        self.assertEqual(sum(each["count"] for each in work if is_communication(each)),
                         case.facts["comm"])
        self.assertEqual(sum(each["count"] for each in compute), case.facts["compute"])
        self.assertEqual(sum(each["count"] for each in copies), case.facts["peer_copy"])
        (device,) = report["device"]["devices"]
        self.assertEqual(device["comm_ns"], case.facts["comm_time"] * NS_PER_US)
        self.assertEqual(device["compute_ns"], case.facts["compute_time"] * NS_PER_US)

    def test_each_kernel_has_the_class_of_its_name(self):
        case = Case(self, "26-comm-kernel-names")
        category = {each["name"]: each["category"] for each in case.report()["operators"]}
        rows = (case.folder / "names.tsv").read_text().splitlines()
        wanted = dict(row.split("\t")[:2] for row in rows[1:])
        self.assertGreater(len(wanted), 20)
        for name, kind in wanted.items():
            got = category.get(name, "copy")
            if kind.startswith("comm"):
                self.assertTrue(got.startswith("comm_"), f"{name}: {got}")
            elif kind.startswith("compute"):
                self.assertFalse(got.startswith("comm_") or got == "copy", f"{name}: {got}")

    def test_overlap_is_of_unions(self):
        case = Case(self, "27-overlap-two-comm-streams")
        report = case.report()
        (device,) = report["device"]["devices"]
        us = {
            "comm_union": device["comm_ns"],
            "comm_sum": sum(each["total_ns"] for each in report["operators"]
                            if is_communication(each)),
            "compute_union": device["compute_ns"],
            "overlap": report["overlap"]["comm_ns"] - report["overlap"]["exposed_ns"],
            "exposed_comm": report["overlap"]["exposed_ns"],
            "busy": device["busy_ns"],
            "idle": device["span_ns"] - device["busy_ns"],
        }
        got = {name: ns / NS_PER_US for name, ns in us.items()}
        got["overlap_pct_of_comm"] = 100 * report["overlap"]["overlap_frac"]
        self.assertEqual(got, case.facts)

    def test_the_device_is_idle_when_all_its_streams_are(self):
        case = Case(self, "30-idle-per-stream")
        report = case.report()
        (device,) = report["device"]["devices"]
        self.assertEqual(device["span_ns"] - device["busy_ns"], case.facts["device_idle"])
        self.assertEqual(report["findings"], [])
        gap = case.number(
            "SELECT max(gap) AS gap FROM (SELECT begin_ns - lag(end_ns) OVER (ORDER BY begin_ns)"
            " AS gap FROM kernel WHERE stream_id = 7)"
        )
        self.assertEqual(gap, case.facts["stream7_gap"] * NS_PER_US)

    def test_the_straggler_is_who_the_others_wait_for(self):
        case = Case(self, "36-who-is-the-straggler")
        report = case.report()
        self.assertEqual(report["run"]["steps"], case.facts["steps"])
        ranks = {each["rank"]: each for each in report["ranks"]}
        compute = {rank: each["breakdown_ns"]["compute"] for rank, each in ranks.items()}
        slowest = max(compute, key=compute.get)
        self.assertEqual(slowest, case.facts["straggler"])
        others = [rank for rank in ranks if rank != slowest]
        for rank in others:
            parts = ranks[rank]["breakdown_ns"]
            self.assertEqual(compute[slowest] - compute[rank], case.facts["late_by"] * NS_PER_US)
            self.assertEqual(parts["exposed_comm_wait"],
                             case.facts["wait_other_ranks"] * NS_PER_US)
            self.assertEqual(parts["exposed_comm_transfer"], case.facts["transfer"] * NS_PER_US)
        self.assertEqual(ranks[slowest]["breakdown_ns"]["exposed_comm_wait"], 0)
        (finding,) = [each for each in report["findings"] if each["id"] == "straggler"]
        self.assertEqual(finding["ranks"], [slowest])
        self.assertEqual(finding["cost_ns"], case.facts["late_by"] * NS_PER_US)

    def test_a_gate_is_tripped_by_the_real_regression_alone(self):
        case = Case(self, "38-perf-gate-noise")
        file = case.folder / "pairs.json"
        result = case.tutti("compare", "--within-launch", file, "--json")
        self.assertEqual(result.returncode, 1, result.stderr)
        verdicts = {}
        for one in json.loads(result.stdout)["comparisons"]:
            verdicts[one["name"]] = "identical" if one["identical"] else one["verdict"]
        neutral = {"no_regression", "no_regression_shown", "inconclusive"}
        got = {name: "neutral" if verdict in neutral else verdict
               for name, verdict in verdicts.items()}
        self.assertEqual(got, case.facts)
        # Each alone: the exit code is the real one's only; effect, uncertainty and rule are said.
        pairs = json.loads(file.read_text())
        for name in case.facts:
            alone = case.run.parent / f"{name}.json"
            alone.write_text(json.dumps({"unit": pairs.get("unit", "ms"), name: pairs[name]}))
            result = case.tutti("compare", "--within-launch", alone)
            self.assertEqual(result.returncode, 1 if name == "real" else 0, name)
            self.assertRegex(result.stdout, r"step_time +.*%")
            self.assertIn("95 % interval", result.stdout)
            self.assertIn("rule: regression if p < 0.01", result.stdout)

    def test_a_step_is_what_the_timeline_shows(self):
        case = Case(self, "62-step-time-definition")
        report = case.report()
        self.assertEqual(report["run"]["steps"], case.facts["steps"])
        self.assertEqual(case.number("SELECT count(*) AS n FROM step"), case.facts["steps"])
        self.assertEqual(case.number("SELECT max(end_ns - begin_ns) AS ns FROM step"),
                         case.facts["step_time"] * NS_PER_US)
        self.assertEqual(case.number("SELECT min(end_ns - begin_ns) AS ns FROM step"),
                         case.facts["step_time"] * NS_PER_US)
        between = case.number("SELECT max(end_ns) - min(begin_ns) - sum(end_ns - begin_ns) AS ns "
                              "FROM step")
        self.assertEqual(between, case.facts["between"] * NS_PER_US)
        # A comparison counts the time between steps as such: periods, not lengths.
        twin = case.run.parent / "twin"
        shutil.copytree(case.run, twin)
        result = case.tutti("compare", case.run, "--", twin, "--json")
        self.assertEqual(result.returncode, 0, result.stderr)
        parts = {part["part"]: part["base_ns"]
                 for part in json.loads(result.stdout)["what_changed"]["parts"]}
        self.assertEqual(parts["between_steps"], case.facts["between"] * NS_PER_US // 4)

    def test_files_of_one_rank_are_kept_apart(self):
        case = Case(self, "46-rank-identity")
        traces = case.imported("dir")["traces"]
        got = {
            "files": len(traces),
            "distinct_ids": len({each["rank"] for each in traces}),
            "conflicts": sum(each["rank_conflict"] for each in traces),
            "assumed": sum(each["rank_assumed"] for each in traces),
        }
        self.assertEqual(got, case.facts)
        owner = {each["rank"]: pathlib.Path(each["sources"][0]).name for each in traces}
        self.assertEqual(owner[7], "rank7.json")

    def test_files_that_were_cut_off_give_what_is_whole(self):
        case = Case(self, "06-truncated-json")
        for name in "abce":
            with self.subTest(name):
                case.run = case.run.with_name(name)
                (trace,) = case.imported(f"{name}.json")["traces"]
                self.assertEqual(trace["events"], case.facts[name])
        result = case.tutti("import", case.folder / "d.json", "-o", case.run.with_name("d"))
        self.assertEqual(result.returncode, 3)
        self.assertRegex(result.stderr, r"^tutti: .*d\.json: the file is empty\n$")
        self.assertEqual(case.facts["d"], 0)


if __name__ == "__main__":
    if not CASES.is_dir():
        print("no traces: ../shared is missing and TUTTI_SHARED unset")
        sys.exit(77)
    unittest.main()
