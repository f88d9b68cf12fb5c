"""The page of a comparison and that of a history in a real browser: they fetch nothing, complain
about nothing, show what the JSON says, and names stay text. SCREENSHOTS names a folder for
pictures."""
import json
import os
import pathlib
import subprocess
import sys
import tempfile
import unittest

ROOT = pathlib.Path(__file__).resolve().parents[2]
sys.path.insert(0, str(ROOT / "tests/report"))
import chromium  # noqa: E402  (a module of the report's tests)

TUTTI = os.environ["TUTTI"]
KEEP = os.environ.get("SCREENSHOTS")
EVIL = "<img src=x onerror=alert(1)>"
ROWS = """[...document.querySelectorAll("section")].filter(
  (section) => section.querySelector("h2").textContent === "{}").flatMap(
  (section) => [...section.querySelectorAll("tbody tr")].map(
  (row) => [...row.cells].map((cell) => cell.textContent)))"""
OVERFLOW = "document.documentElement.scrollWidth - document.documentElement.clientWidth"


@unittest.skipUnless(chromium.PROGRAM, "there is no chromium")
class PageTest(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        folder = tempfile.TemporaryDirectory()
        cls.addClassCleanup(folder.cleanup)
        cls.folder = pathlib.Path(folder.name)
        subprocess.run([sys.executable, ROOT / "samples/ci/make_runs.py", cls.folder / "runs"],
                       check=True, stdout=subprocess.DEVNULL)
        browser = chromium.Browser()
        cls.browser = browser.__enter__()
        cls.addClassCleanup(browser.__exit__)

    def tutti(self, *words, codes=(0,)):
        done = subprocess.run([TUTTI, *map(str, words)], capture_output=True, text=True,
                              cwd=self.folder, timeout=120)
        self.assertIn(done.returncode, codes, done.stderr)
        return done.stdout

    def page(self, name, **window):
        file = self.folder / name
        page = self.browser.open(file, **window)
        self.assertEqual(page.complaints(), [])
        self.assertEqual(page.requests(), [file.resolve().as_uri()])
        self.assertEqual(page.evaluate("document.scripts.length"), 0)
        self.assertEqual(page.evaluate("document.images.length"), 0)
        self.assertLessEqual(page.evaluate(OVERFLOW), 0)
        if KEEP:
            page.screenshot(pathlib.Path(KEEP) / f"{self.id().split('.')[-1]}-{name}.png")
        return page

    def test_a_comparison(self):
        runs = self.folder / "runs/regression"
        said = self.tutti("ci", "gate", runs, "--html", "page.html", "--json", codes=(1,))
        comparison = json.loads(said)
        page = self.page("page.html")
        self.assertEqual(page.evaluate("document.querySelector('h1').textContent"), "REGRESSION")
        self.assertEqual(page.evaluate("document.querySelectorAll('svg').length"), 3)
        parts = page.evaluate(ROWS.format("What changed"))
        changed = comparison["what_changed"]
        wanted = [[str(part[key]) for key in ("base_ns", "new_ns", "change_ns")]
                  for part in changed["parts"]]
        self.assertEqual([row[1:] for row in parts[:-1]], wanted)
        self.assertEqual(sum(int(row[3]) for row in parts[:-1]), int(parts[-1][3]))
        launches = page.evaluate(ROWS.format("Launches"))
        self.assertEqual(len(launches), 12)
        self.page("page.html", width=420, height=900, dark=True)

    def test_names_stay_text(self):
        evil = self.folder / "evil"
        evil.mkdir(exist_ok=True)
        for side in ("base", "new"):
            times = [100 + (step * 7 + (side == "new") * 3) % 5 for step in range(40)]
            (evil / f"{EVIL}.{side}.json".replace("/", "")).write_text(
                json.dumps({"unit": "ms", "steps": times}))
        files = sorted(evil.iterdir())
        (self.folder / "evil.html").write_text(
            self.tutti("compare", files[0], "--", files[1], "--format", "html"))
        page = self.page("evil.html")
        self.assertIn(EVIL, page.evaluate("document.body.textContent"))

    def test_a_history(self):
        runs = sorted((self.folder / "runs/null").glob("base-*"))
        self.tutti("ci", "history", "add", *runs, "--label", EVIL)
        shown = json.loads(self.tutti("ci", "history", "show", "--json"))
        (self.folder / "history.html").write_text(
            self.tutti("ci", "history", "show", "--format", "html"))
        page = self.page("history.html")
        dots = page.evaluate("document.querySelectorAll('svg circle').length")
        self.assertEqual(dots, sum(len(trend["launches"]) for trend in shown["trends"]))
        self.assertIn(EVIL, page.evaluate("document.body.textContent"))
        # Six launches are too few to judge another one by; their number is said.
        new = self.folder / "runs/null/new-1"
        text = self.tutti("ci", "history", "check", new)
        self.assertIn("10 are needed", text)
        self.tutti("ci", "history", "check", new, "--fail-on", "inconclusive", codes=(4,))
        self.tutti("ci", "history", "check", new, "--file", "none", codes=(3,))
        # With twelve, those of the regression are one.
        self.tutti("ci", "history", "add", *sorted((self.folder / "runs/null").glob("new-*")))
        slow = self.folder / "runs/regression/new-1"
        checks = json.loads(self.tutti("ci", "history", "check", slow, "--json", codes=(0, 1)))
        self.assertEqual({check["metric"] for check in checks["checks"]},
                         {"step_time", "exposed_comm"})


if __name__ == "__main__":
    unittest.main()
