"""The scoreboard's arithmetic, on made-up runs whose scores one can work out by hand."""
import math
import pathlib
import sqlite3
import tempfile
import types
import unittest

import declared
import diagnose
import measure
import score
import statistics_of
import table
from matrix import ANSWERS, CASES

MS = 1_000_000


def finding(kind, ranks, cost_ms=0, replayed_ms=None):
    replayed = None if replayed_ms is None else replayed_ms * MS
    return {"id": kind, "ranks": ranks, "cost_ns": cost_ms * MS, "replayed_ns": replayed,
            "title": ""}


def run(seed, median_ms, *findings, truth=(), case="mnist_mlp extra_compute:5ms@1", **whatif):
    return {
        "case": case, "baseline": "mnist_mlp x2", "ranks": 2, "cores": 2,
        "seed": seed, "with_faults": bool(truth),
        "median_ns": median_ms * MS, "mean_ns": (median_ms + 1) * MS, "findings": list(findings),
        "truth": list(truth),
        "whatif": {name.replace("_", "-") + "=1": ms * MS for name, ms in whatif.items()},
    }


EXTRA = {"kind": "extra_compute", "amount_ns": 5 * MS, "ranks": [1], "steps": [0, 60]}
LOADER = {"kind": "slow_loader", "amount_ns": 9 * MS, "ranks": [0], "steps": [0, 60]}
LEAK = {"kind": "memory_leak", "amount_bytes": 1, "ranks": [1], "steps": [0, 60]}


class Named(unittest.TestCase):
    def test_the_first_finding_that_is_not_declared_counts(self):
        told = run(1, 9, finding("exposed_comm", [0, 1], 6), finding("straggler", [1], 5),
                   truth=[EXTRA])
        self.assertTrue(score.named(told, {"exposed_comm"}).ranks)
        self.assertFalse(score.named(told, set()).kind)
        self.assertEqual(score.named(told, set()).said, "exposed_comm [0, 1]")

    def test_a_right_kind_on_a_wrong_rank_is_half_an_answer(self):
        told = score.named(run(1, 9, finding("straggler", [0], 5), truth=[EXTRA]), set())
        self.assertTrue(told.kind)
        self.assertFalse(told.ranks)

    def test_two_faults_are_the_first_two_findings_in_any_order(self):
        both = [finding("input_wait", [0], 3), finding("straggler", [1], 5)]
        self.assertTrue(score.named(run(1, 9, *both, truth=[EXTRA, LOADER]), set()).ranks)
        between = [both[0], finding("pauses", [0], 4), both[1]]
        self.assertFalse(score.named(run(1, 9, *between, truth=[EXTRA, LOADER]), set()).kind)

    def test_what_costs_no_time_may_come_behind_what_does(self):
        told = run(1, 9, finding("straggler", [0], 1), finding("memory_leak", [1]), truth=[LEAK])
        self.assertTrue(score.named(told, set()).ranks)
        self.assertFalse(score.named(run(1, 9, truth=[LEAK]), set()).kind)


class Cost(unittest.TestCase):
    def pairs(self, claimed_ms, replayed_ms=None):
        """Without the fault 10 ms, with it 15."""
        return [
            (run(seed, 10), run(seed, 15, finding("straggler", [1], claimed_ms, replayed_ms),
                                truth=[EXTRA], rank_at_median=4))
            for seed in (1, 2, 3, 4)
        ]

    def score(self, claimed_ms, replayed_ms=None, scatter_ns=0.0, clean_ms=10):
        baseline = score.Baseline(16, {"median": clean_ms * MS}, {"median": scatter_ns})
        return score.score_case(self.pairs(claimed_ms, replayed_ms), set(), baseline)

    def test_is_what_the_median_is_above_that_of_all_clean_runs(self):
        result = self.score(5)
        self.assertEqual(result.truth_ns, 5 * MS)
        self.assertEqual(result.share, 0.5)
        self.assertTrue(result.must_be_found)
        self.assertEqual((result.kinds, result.ranks), (4, 4))

    def test_is_right_within_a_fifth(self):
        self.assertTrue(self.score(6).is_within(6 * MS))
        self.assertFalse(self.score(6).is_within(6.1 * MS))
        self.assertIsNone(self.score(6).is_within(None))

    def test_what_was_replayed_goes_before_the_bound(self):
        self.assertEqual(self.score(9, 5).claimed_ns, 5 * MS)
        self.assertEqual(self.score(9).claimed_ns, 9 * MS)

    def test_the_prediction_is_of_the_scenario_that_takes_the_fault_away(self):
        self.assertEqual(self.score(5).predicted_ns, 4 * MS)

    def test_noise_forbids_a_verdict_when_it_is_more_than_half_the_tolerance(self):
        # 1.96 * 1.2533 * 0.2 ms / sqrt(4) = 0.246 ms, and half of it for 16 clean runs.
        quiet = self.score(9, scatter_ns=0.2 * MS)
        self.assertAlmostEqual(quiet.noise_ns / MS, 0.275, places=3)
        self.assertFalse(quiet.noise_forbids)
        self.assertFalse(quiet.is_within(quiet.claimed_ns))
        loud = self.score(9, scatter_ns=0.4 * MS)
        self.assertTrue(loud.noise_forbids)
        self.assertIsNone(loud.is_within(loud.claimed_ns))

    def test_runs_with_the_fault_may_scatter_more_than_clean_ones(self):
        pairs = self.pairs(5) + self.pairs(5)[:1]
        for (_, faulty), ms in zip(pairs, (13, 14, 15, 16, 17)):
            faulty["median_ns"] = ms * MS
        baseline = score.Baseline(16, {"median": 10 * MS}, {"median": 0.0})
        result = score.score_case(pairs, set(), baseline)
        expected_ms = 1.96 * 1.2533 * 1.4826 / math.sqrt(5)
        self.assertAlmostEqual(result.noise_ns / MS, expected_ms, places=3)

    def test_another_pair_is_for_what_is_not_judged(self):
        self.assertTrue(self.score(5).is_settled)
        self.assertFalse(self.score(5, scatter_ns=0.4 * MS).is_settled)
        one = score.score_case(self.pairs(5)[:1], set(), score.Baseline(
            16, {"median": 10 * MS}, {"median": 0.0}))
        self.assertFalse(one.is_settled)
        self.assertTrue(self.score(5, clean_ms=14.9, scatter_ns=0.4 * MS).is_settled)  # too little

    def test_a_fault_that_noise_may_have_made_need_not_be_found(self):
        self.assertFalse(self.score(5, scatter_ns=4 * MS).must_be_found)


class Baselines(unittest.TestCase):
    def test_of_few_runs_scatter_as_much_as_the_worst_that_is_known(self):
        runs = [{"baseline": name, "median_ns": ns, "mean_ns": ns}
                for name, ns in (*(("a", ns) for ns in (80, 90, 100, 110, 120)), ("b", 1000))]
        found = score.baselines(runs)
        self.assertTrue(found["a"].is_scatter_known)
        self.assertFalse(found["b"].is_scatter_known)
        self.assertAlmostEqual(found["a"].deviation_ns["mean"], 14.826)
        self.assertAlmostEqual(found["b"].deviation_ns["mean"], 148.26)

    def test_nothing_is_certain_where_no_scatter_is_known(self):
        runs = [{"baseline": "b", "median_ns": 1000, "mean_ns": 1000}]
        self.assertEqual(score.baselines(runs)["b"].deviation_ns["median"], math.inf)


class Statistics(unittest.TestCase):
    def test_wilson(self):
        # Newcombe 1998, table I: 81 of 263, and none of 20.
        low, high = statistics_of.wilson(81, 263)
        self.assertAlmostEqual(low, 0.2553, places=4)
        self.assertAlmostEqual(high, 0.3662, places=4)
        low, high = statistics_of.wilson(0, 20)
        self.assertAlmostEqual(low, 0.0, places=4)
        self.assertAlmostEqual(high, 0.1611, places=4)
        self.assertEqual(statistics_of.wilson(0, 0), (0.0, 1.0))

    def test_robust_deviation_does_not_see_one_outlier(self):
        self.assertAlmostEqual(statistics_of.robust_deviation([1, 2, 3, 4, 1000]), 1.4826)


class Table(unittest.TestCase):
    def test_counts_pairs_that_are_whole_and_clean_runs_that_are_not_clean(self):
        runs = [run(1, 10), run(1, 15, finding("straggler", [1], 5), truth=[EXTRA]),
                run(2, 10, finding("pauses", [0], 2)), run(3, 10), run(4, 10), run(5, 10),
                run(3, 15, finding("input_wait", [0], 5), truth=[EXTRA])]
        text = table.markdown(runs, {"mnist_mlp": set()})
        share = "1 of 2 | 50.0 % (9.5 % to 90.5 %) |"
        self.assertIn("| runs whose fault is named first | " + share, text)
        self.assertIn("beyond the declared | 1 of 5 |", text)
        self.assertIn("| `mnist_mlp extra_compute:5ms@1` | 2 | 1 | 1 | 5.00 ± 0.00 | 50 % |", text)
        self.assertIn("- `mnist_mlp extra_compute:5ms@1`: input_wait [0] (1), not straggler", text)
        self.assertIn("- `mnist_mlp`: pauses, 1", text)


class Declarations(unittest.TestCase):
    def test_of_the_readme_are_read(self):
        text = ("# W\n" + declared.HEADING + "\n\n| program | findings | why |\n|---|---|---|\n"
                "| `a` | `exposed_comm`, `host_bound` | so |\n| `b` | none | |\n"
                "| `a --small` | `small_buckets` | |\n"
                "| any, with more ranks than cores | `cpu_contention` | |\n\n## Faults\n"
                "| `c` | `hang` | no |\n")
        found = declared.declared_findings(text)
        self.assertEqual(found, {"a": {"exposed_comm", "host_bound"}, "b": set(),
                                 "a --small": {"small_buckets"},
                                 declared.MORE_RANKS_THAN_CORES: {"cpu_contention"}})
        for case, ranks, more in (("a --steps 9", 2, set()), ("b", 2, None),
                                  ("a --small 3 leak:1MiB", 2, {"small_buckets"}),
                                  ("a", 4, {"cpu_contention"})):
            expected = set() if more is None else found["a"] | more
            of_run = declared.of_run({"case": case, "ranks": ranks, "cores": 2}, found)
            self.assertEqual(of_run, expected)
        with self.assertRaises(ValueError):
            declared.declared_findings("# W\n")

    def test_every_workload_of_the_matrix_is_in_the_readme(self):
        names = declared.declared_findings(declared.README.read_text(encoding="utf-8"))
        self.assertEqual({case.workload for case in CASES} - set(names), set())
        self.assertIn(declared.MORE_RANKS_THAN_CORES, names)

    def test_every_finding_that_is_expected_or_declared_exists(self):
        text = (diagnose.ROOT / "docs" / "findings.md").read_text(encoding="utf-8")
        kinds = {line[3:] for line in text.splitlines() if line.startswith("## ")}
        expected = {answer.finding for answer in ANSWERS.values()}
        truths = declared.declared_findings(declared.README.read_text(encoding="utf-8"))
        self.assertEqual(expected.union(*truths.values()) - kinds, set())

    def test_names_of_cases_are_unique_and_their_faults_have_answers(self):
        self.assertEqual(len({case.name for case in CASES}), len(CASES))
        for case in CASES:
            for fault in case.faults:
                self.assertIn(fault.split(":")[0].split("@")[0], ANSWERS)
        self.assertTrue(any(case.is_short for case in CASES))

    def test_each_run_has_a_folder_of_its_own_whose_name_means_nothing_to_record(self):
        options = types.SimpleNamespace(recordings="r")
        folders = [str(diagnose.recording_of(options, case, seed, with_faults))
                   for case in CASES for seed in (1, 12) for with_faults in (False, True)]
        self.assertEqual(len(set(folders)), len(folders))
        self.assertFalse([folder for folder in folders if "%" in folder])

    def test_databases_in_these_folders_can_be_opened(self):
        with tempfile.TemporaryDirectory() as folder:
            path = pathlib.Path(folder, "mnist_mlp_skip_collective:60s@1#10.1.faulty?%41.sqlite")
            made = sqlite3.connect(path)
            made.execute("CREATE TABLE run_step (step)")
            made.close()
            opened = measure.open_read_only(path)
            self.addCleanup(opened.close)
            self.assertEqual(opened.execute("SELECT * FROM run_step").fetchall(), [])
            self.assertEqual([one.name for one in pathlib.Path(folder).iterdir()], [path.name])

    def test_what_stops_a_job_is_covered_first(self):
        stops = [bool(case.faults) and "_collective:" in case.faults[0]
                 or "mismatched" in " ".join(case.faults) for case in CASES]
        self.assertEqual(stops, sorted(stops, reverse=True))


if __name__ == "__main__":
    unittest.main()
