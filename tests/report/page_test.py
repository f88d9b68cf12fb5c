"""`tutti report --format html` in a real browser: what it shows is what the JSON and SQL say, it
fetches nothing, and no name of a trace becomes markup. SCREENSHOTS names a folder for pictures."""
import json
import os
import pathlib
import re
import sqlite3
import subprocess
import tempfile
import unittest

import chromium
import made_runs

TUTTI = os.environ["TUTTI_PROGRAM"]
WORKLOAD = os.environ.get("TUTTI_MNIST_MLP")
KEEP = os.environ.get("SCREENSHOTS")
SHARED = pathlib.Path(os.environ.get("TUTTI_SHARED", pathlib.Path(__file__).parents[3] / "shared"))

FIGURES = """[...document.querySelectorAll("[data-sql][data-value]")].map(
  (node) => [node.dataset.sql, node.dataset.value, node.textContent])"""
ROWS = """[...document.querySelectorAll("{} tbody tr")].map(
  (row) => [...row.cells].map((cell) => cell.textContent))"""
COLOURS = """[getComputedStyle(document.body).color,
  getComputedStyle(document.querySelector("section")).backgroundColor]"""
RANKS = "#ranks tbody td:first-child"


def tutti(*arguments):
    done = subprocess.run([TUTTI, *map(str, arguments)], capture_output=True, text=True,
                          timeout=500)
    if done.returncode != 0:
        raise AssertionError(f"{arguments}: {done.stderr}")
    return done.stdout


def contrast(one, other):
    def luminance(colour):
        linear = [c / 12.92 if c <= .04045 else ((c + .055) / 1.055) ** 2.4
                  for c in (int(x) / 255 for x in re.findall(r"\d+", colour)[:3])]
        return .2126 * linear[0] + .7152 * linear[1] + .0722 * linear[2]
    low, high = sorted((luminance(one), luminance(other)))
    return (high + .05) / (low + .05)


@unittest.skipUnless(chromium.PROGRAM, "there is no chromium")
class PageTest(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        folder = tempfile.TemporaryDirectory()
        cls.addClassCleanup(folder.cleanup)
        cls.folder = pathlib.Path(folder.name)
        browser = chromium.Browser()
        cls.browser = browser.__enter__()
        cls.addClassCleanup(browser.__exit__)
        cls.runs = {}

    def made(self, name, world, steps, word="gemm"):
        """A made run, once for all tests."""
        if name not in self.runs:
            self.runs[name] = made_runs.make_run(TUTTI, self.folder / name, world, steps, word)
        return self.runs[name]

    def page(self, run, **window):
        self.file = self.folder / "report.html"
        tutti("report", run, "--format", "html", "-f", "-o", self.file)
        page = self.browser.open(self.file, **window)
        # Whatever is tested, nothing is fetched and nothing goes wrong.
        self.assertEqual(page.complaints(), [])
        self.assertEqual(page.requests(), [self.file.resolve().as_uri()])
        if KEEP:
            page.screenshot(pathlib.Path(KEEP) / f"{self.id().split('.')[-1]}.png")
        return page

    def check_figures(self, page, run, expected_more_than):
        """Every number is what its SQL gives, and is printed as that."""
        database = sqlite3.connect(f"file:{run}/run.sqlite?mode=ro", uri=True)
        self.addCleanup(database.close)
        figures = page.evaluate(FIGURES)
        self.assertGreater(len(figures), expected_more_than)
        answers = {}
        for sql, value, text in figures:
            if sql not in answers:
                rows = database.execute(sql).fetchall()
                self.assertEqual((len(rows), len(rows[0])), (1, 1), sql)
                answers[sql] = rows[0][0]
            with self.subTest(sql=sql, text=text):
                self.assertIsNotNone(answers[sql])
                self.assertAlmostEqual(float(value), answers[sql], delta=1e-9 * abs(answers[sql]))
                if re.fullmatch(r"[\d,.]+ ms", text):
                    self.assertAlmostEqual(float(text[:-3].replace(",", "")), answers[sql] / 1e6,
                                           delta=.00051)
                if re.fullmatch(r"[\d.]+ %", text):
                    self.assertAlmostEqual(float(text[:-2]), answers[sql] * 100, delta=.051)
        return figures

    def check_against_json(self, page, run):
        report = json.loads(tutti("report", run, "--json"))
        shown = page.data()["report"]
        for name in ("run", "step", "overlap", "throughput", "ranks", "findings", "collectives"):
            self.assertEqual(json.loads(json.dumps(shown[name]), parse_int=float),
                             json.loads(json.dumps(report[name]), parse_int=float), name)
        parts = {row[0]: row[1:3] for row in page.evaluate(ROWS.format("#step"))}
        total = report["step"]["total_ns"]
        steps = sum(rank["steps"] for rank in report["ranks"])
        seen = {k: v for k, v in report["step"]["breakdown_total_ns"].items() if v > 0}
        self.assertEqual(len(parts), len(seen))
        self.assertEqual(sorted(f"{ns / steps / 1e6:.3f} ms" for ns in seen.values()),
                         sorted(mean for mean, _ in parts.values()))
        self.assertEqual(sorted(f"{ns / total * 100:.1f} %" for ns in seen.values()),
                         sorted(share for _, share in parts.values()))
        ranks = page.evaluate(ROWS.format("#ranks"))
        self.assertEqual([row[0] for row in ranks], [f"rank {r['rank']}" for r in report["ranks"]])
        for row, rank in zip(ranks, report["ranks"]):
            self.assertEqual(row[3], f"{rank['step_total_ns'] / rank['steps'] / 1e6:.3f}")
        findings = page.texts(".finding h3")
        self.assertEqual(len(findings), len(report["findings"]))
        for text, finding in zip(findings, report["findings"]):
            most = f"{finding['cost_ns'] / 1e6:,.3f} ms"
            if finding["replayed_ns"] is None:
                share = f"{finding['share'] * 100:.1f} %"
                self.assertIn(f"{finding['id']}up to {most} per step ({share})", text)
            else:
                saved = f"{finding['replayed_ns'] / 1e6:,.3f} ms"
                share = finding["share"] * finding["replayed_ns"] / finding["cost_ns"]
                self.assertIn(f"{finding['id']}saves {saved} per step ({share * 100:.1f} %), "
                              f"at most {most}", text)
        return report

    def test_a_recorded_run(self):
        if not WORKLOAD:
            self.skipTest("the workloads are not built")
        run = self.folder / "recorded"
        tutti("record", "-o", run, "--nproc", "2", "--", WORKLOAD, "--steps", "30", "--inject",
              "slow_loader:20ms@1")
        page = self.page(run)
        self.check_figures(page, run, 100)
        report = self.check_against_json(page, run)
        for section in ("step", "findings", "steps", "heat-map", "ranks", "collectives",
                        "timeline", "memory", "operators", "trust"):
            self.assertEqual(page.count(f"#{section}"), 1)
        told = tutti("query", run, "--format", "csv",
                     page.evaluate("document.querySelector('#step .figure').dataset.sql"))
        self.assertEqual(told.split()[-1], str(report["step"]["median_ns"]))

    def test_traces_of_gpus(self):
        traces = SHARED / "traces/hta"
        if not traces.exists():
            self.skipTest(f"no reference files at {traces}")
        both = self.folder / "two"
        both.mkdir()
        for rank, name in enumerate(("timeline_analysis/sampled_rank-0",
                                     "trace_filter/sampled_rank-1")):
            (both / f"rank-{rank}.json.gz").symlink_to(traces / f"{name}.json.gz")
        run = self.folder / "gpus"
        tutti("import", both, "-o", run)
        page = self.page(run)
        self.check_figures(page, run, 100)
        self.check_against_json(page, run)
        self.assertIn("no trace of ranks 2 to 127 of 128",
                      page.text("#data-loss"))
        hidden = page.count(".timeline-rank .figure")
        self.assertEqual(hidden, 2)

    def test_says_what_a_run_without_events_has(self):
        trace = self.folder / "empty-rank0.json"
        trace.write_text(json.dumps({"traceEvents": [
            {"ph": "M", "name": "process_name", "pid": 1, "args": {"name": "x"}}],
            "distributedInfo": {"rank": 0, "world_size": 1}}))
        run = self.folder / "empty"
        tutti("import", trace, "-o", run)
        page = self.page(run)
        self.assertIn("No step was found", page.evaluate("document.body.textContent"))
        self.assertEqual(page.count("#steps, #filters"), 0)
        self.assertIn("no_training_events",
                      page.text("#trust"))

    def test_names_are_never_markup(self):
        run = self.made("hostile", 4, 8, made_runs.HOSTILE)
        page = self.page(run)
        text = self.file.read_text()
        self.assertEqual(text.count("<script"), 2)
        self.assertEqual(text.count("</script>"), 2)
        self.assertNotIn("<img", text)
        self.assertNotRegex(page.evaluate("document.title"), "^pwned")
        self.assertEqual(page.count("img, iframe, object"), 0)
        self.assertEqual(page.evaluate("document.scripts.length"), 2)
        kernel = f"sm80_{made_runs.HOSTILE}"
        self.assertIn(kernel, page.texts("#operators .name-cell"))
        figures = self.check_figures(page, run, 100)
        self.assertTrue(any("''" in sql and "</script>" in sql for sql, _, _ in figures))
        page.evaluate("document.querySelector('#operators .figure[data-sql*=\"sm80\"]').click()")
        self.assertIn("</script>", page.text("dialog pre"))
        # Were a name to become markup after all, the policy would not let it run or load.
        page.evaluate("""document.body.insertAdjacentHTML("beforeend",
          "<img src='https://example.invalid/x.png' onerror='window.ran = 1'>")""")
        page.evaluate("new Promise((done) => setTimeout(done, 300))")
        self.assertIsNone(page.evaluate("window.ran ?? null"))
        self.assertRegex(" ".join(page.complaints()), "Content Security Policy")
        self.assertEqual(page.blocked(), ["csp"])

    def test_filters(self):
        run = self.made("filtered", 6, 12)
        page = self.page(run)

        def put(name, value):
            page.evaluate(f"""(() => {{
              const input = document.getElementById('filter-{name}');
              input.value = {json.dumps(value)};
              input.dispatchEvent(new Event('change'));
            }})()""")

        self.assertEqual(len(page.texts(RANKS)), 6)
        put("ranks", "1-2,4")
        self.assertEqual(page.texts(RANKS), ["rank 1", "rank 2", "rank 4"])
        put("first", "104")
        put("last", "106")
        self.assertEqual(page.text("#filter-told"),
                         "3 ranks, 3 steps")
        self.assertEqual(page.count("#steps .pick"), 3)
        self.check_figures(page, run, 50)
        self.assertIn("IN (1, 2, 4)", page.evaluate(
            "document.querySelector('#step-detail .figure').dataset.sql"))
        put("ranks", "0-x")
        self.assertEqual(page.text("#filter-error"),
                         '"0-x" is no rank and no range like 0-3')
        page.evaluate("document.getElementById('filter-reset').click()")
        self.assertEqual(len(page.texts(RANKS)), 6)
        page.evaluate("document.getElementById('filter-counting').click()")
        self.assertEqual(page.count("#steps .pick"), 12)
        self.check_figures(page, run, 50)
        page.evaluate("[...document.querySelectorAll('.finding button')].find("
                      "b => b.textContent.startsWith('Show only')).click()")
        self.assertEqual(page.texts(RANKS), [f"rank {made_runs.LATE}"])

    def test_a_step_that_is_chosen_tells_its_parts_exactly(self):
        run = self.made("filtered", 6, 12)
        page = self.page(run)
        page.evaluate("document.querySelectorAll('#steps .pick')[4]"
                      ".dispatchEvent(new Event('click'))")
        self.assertIn("step 105", page.text("#step-detail"))
        self.check_figures(page, run, 100)
        values = page.evaluate("[...document.querySelectorAll('#step-detail .figure')].map("
                               "n => Number(n.dataset.value))")
        self.assertAlmostEqual(values[0], sum(values[1:]), places=6)
        cells = page.data()["series"]["cells"]
        for rank in cells:
            for i, step_ns in enumerate(rank["step_ns"]):
                self.assertEqual(sum(part[i] for part in rank["parts"].values()), step_ns)

    def test_tables_are_ordered_by_their_columns(self):
        page = self.page(self.made("filtered", 6, 12))
        page.evaluate("[...document.querySelectorAll('#ranks th button')].find("
                      "b => b.textContent === 'Compute').click()")
        self.assertEqual(page.text(RANKS), f"rank {made_runs.LATE}")
        self.assertEqual(page.count("#ranks th[aria-sort=descending]"), 1)

    def test_many_ranks_stay_small(self):
        run = self.made("many", 512, 50)
        page = self.page(run)
        self.assertLess(self.file.stat().st_size, 6 << 20)
        self.assertIn("There are 50 steps: a bar is the mean of up to 2 steps",
                      page.text("#steps"))
        self.assertEqual(page.count("#ranks tbody tr"), 512)
        self.assertIn("left out", page.text("#trust"))
        top = page.text(".heat-labels span")
        self.assertEqual(top, f"rank {made_runs.LATE}")
        self.check_figures(page, run, 5000)

    def test_themes_and_sizes(self):
        run = self.made("filtered", 6, 12)
        seen = set()
        for dark in (False, True):
            for width in (360, 800, 1280):
                page = self.page(run, width=width, dark=dark)
                theme = page.evaluate("document.documentElement.dataset.theme")
                self.assertEqual(theme, "dark" if dark else "light")
                self.assertLessEqual(page.evaluate("document.documentElement.scrollWidth"), width)
                pair = page.evaluate(COLOURS)
                self.assertGreater(contrast(*pair), 7)
                seen.add(tuple(pair))
            page.evaluate("document.querySelector('.theme').click()")
            self.assertIn(tuple(page.evaluate(COLOURS)), {*seen, *[tuple(page.evaluate(COLOURS))]})
            self.assertNotEqual(page.evaluate("document.documentElement.dataset.theme"), theme)
        self.assertEqual(len(seen), 2)

    def test_writes_over_nothing_unless_told(self):
        run = self.made("filtered", 6, 12)
        path = self.folder / "mine.html"
        path.write_text("precious")
        with self.assertRaisesRegex(AssertionError, "exists"):
            tutti("report", run, "--format", "html", "-o", path)
        self.assertEqual(path.read_text(), "precious")
        self.assertEqual(tutti("report", run, "--format", "html", "-f", "-o", path), "")
        self.assertEqual(path.read_text(), tutti("report", run, "--format", "html"))
        self.assertEqual(path.stat().st_mode & 0o777, 0o600)


if __name__ == "__main__":
    unittest.main()
