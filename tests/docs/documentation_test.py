"""What the documentation says, tried: its command blocks run, the files that it names exist."""
import os
import pathlib
import re
import subprocess
import tempfile
import unittest

ROOT = pathlib.Path(__file__).parents[2]
BUILD = pathlib.Path(os.environ["TUTTI_BUILD_DIR"])
PAGES = [page for pattern in ("README.md", "docs/*.md", "*/README.md", "*/*/README.md")
         for page in sorted(ROOT.glob(pattern)) if ROOT / "build" not in page.parents]
# Of these pages every command block is run.
RUN_PAGES = [ROOT / "README.md", *sorted(ROOT.glob("samples/**/README.md")),
             ROOT / "workloads/README.md"]
# Set-up and tests themselves: for these only the command's existence is checked.
NOT_RUN = re.compile(r"(\./dev|git clone) ")


def command_blocks(page):
    """The commands of the blocks without a language, each with its continuation lines."""
    for language, block in re.findall(r"^```(\w*)\n(.*?)^```", page.read_text(), re.M | re.S):
        if language:
            continue
        for line in block.replace("\\\n", " ").splitlines():
            yield line.split(" # ")[0].strip()


class DocumentationTest(unittest.TestCase):
    def make_checkout(self, folder):
        """A folder that looks like a built checkout, so that what commands make stays in it."""
        for name in ("samples", "workloads", "tools"):
            (folder / name).symlink_to(ROOT / name)
        (folder / "build").mkdir()
        (folder / "build/release").symlink_to(BUILD)

    def environment(self):
        environment = {k: v for k, v in os.environ.items() if not k.startswith("TUTTI_")}
        if "TUTTI_CACHE" in os.environ:
            environment["TUTTI_CACHE"] = os.environ["TUTTI_CACHE"]
        python = pathlib.Path(os.environ["TUTTI_JOB_PYTHON"]).parent
        environment["PATH"] = f"{BUILD}/cli:{python}:{environment['PATH']}"
        return environment

    def test_command_blocks_run(self):
        for page in RUN_PAGES:
            with tempfile.TemporaryDirectory() as folder:
                self.make_checkout(pathlib.Path(folder))
                for command in command_blocks(page):
                    if NOT_RUN.match(command):
                        continue
                    with self.subTest(page=page.name, command=command):
                        done = subprocess.run(
                            ["bash", "-c", command], cwd=folder, env=self.environment(),
                            capture_output=True, text=True, timeout=170,
                        )
                        self.assertEqual(done.returncode, 0, done.stdout + done.stderr)

    def test_commands_of_dev_exist(self):
        usage = subprocess.run([ROOT / "dev"], capture_output=True, text=True).stdout
        for page in PAGES:
            for command in re.findall(r"\./dev (\w+)", page.read_text()):
                with self.subTest(page=page.name, command=command):
                    self.assertRegex(usage, rf"(?m)^  {command}\b")

    def test_files_that_are_named_exist(self):
        named = re.compile(
            r"`((?:common|schema|tracer|collector|analyzer|cli|workloads|samples|tests|tools|docs)"
            r"/[\w./*-]*)`")
        for page in PAGES:
            for path in named.findall(page.read_text()):
                with self.subTest(page=page.name, path=path):
                    pattern = path.replace("/X", "/*").rstrip("/")  # X: each of them
                    self.assertTrue(list(ROOT.glob(pattern)), "is not in this tree")

    def test_links_lead_somewhere(self):
        for page in PAGES:
            for target in re.findall(r"\]\(([^)#:]+)(?:#[^)]*)?\)", page.read_text()):
                with self.subTest(page=page.name, target=target):
                    self.assertTrue((page.parent / target).exists())

    def test_pages_are_in_the_site(self):
        menu = re.findall(r": (\S+\.md)$", (ROOT / "tools/docs/mkdocs.yml").read_text(), re.M)
        self.assertCountEqual(menu, [str(page.relative_to(ROOT)) for page in PAGES])


if __name__ == "__main__":
    unittest.main()
