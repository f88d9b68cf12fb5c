"""The documentation as a site (tools/docs/site.sh), where ./dev site has set MkDocs up."""
import os
import pathlib
import re
import shutil
import subprocess
import sys
import tempfile
import unittest

ROOT = pathlib.Path(__file__).parents[2]
sys.path.insert(0, str(ROOT / "tests/report"))
import chromium  # noqa: E402  (a module of the report's tests)

CACHE = pathlib.Path(os.environ.get("XDG_CACHE_HOME") or pathlib.Path.home() / ".cache", "tutti")
PYTHON = pathlib.Path(os.environ.get("TUTTI_CACHE") or CACHE, "venv-site/bin/python")


@unittest.skipUnless(PYTHON.exists(), "MkDocs is not set up: ./dev site")
class SiteTest(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        folder = tempfile.TemporaryDirectory()
        cls.addClassCleanup(folder.cleanup)
        cls.tree = pathlib.Path(folder.name)
        for name in ("README.md", "LICENSE", "docs", "samples", "workloads/README.md",
                     "tools/docs"):
            (cls.tree / name).parent.mkdir(exist_ok=True)
            copy = shutil.copytree if (ROOT / name).is_dir() else shutil.copy
            copy(ROOT / name, cls.tree / name)

    def build(self):
        return subprocess.run([self.tree / "tools/docs/site.sh", PYTHON], capture_output=True,
                              text=True)

    def test_pages(self):
        done = self.build()
        self.assertEqual(0, done.returncode, done.stderr)
        site = self.tree / "build/site"
        for page in site.rglob("*.html"):
            with self.subTest(page=page.relative_to(site)):
                text = page.read_text()
                self.assertNotIn("|---", text, "a table that is not one")
                self.assertNotIn("```", text, "a block that is not one")
                self.assertFalse(re.findall(r'(?:<script[^>]*src|<link[^>]*href)="https?:', text))
        self.look_at(site)

    def look_at(self, site):
        if not chromium.PROGRAM:
            return
        with chromium.Browser() as browser:
            page = browser.open(site / "index.html")
            self.assertIn("Tutti", page.evaluate("document.title"))
            self.assertTrue(page.evaluate(
                "document.images.length > 0 && [...document.images].every(i => i.naturalWidth)"))

    def test_a_link_that_leads_nowhere_fails(self):
        page = self.tree / "docs/gpu.md"
        text = page.read_text()
        self.addCleanup(page.write_text, text)
        for target in ("nowhere.md", "metrics.md#nowhere", "../nowhere/README.md"):
            with self.subTest(target=target):
                page.write_text(f"{text}\n[x]({target})\n")
                done = self.build()
                self.assertNotEqual(0, done.returncode)
                self.assertIn(target, done.stderr)


if __name__ == "__main__":
    unittest.main()
