"""cmake --install: what is installed works from where it is put, on its own."""
import os
import pathlib
import subprocess
import tempfile
import unittest

BUILD = pathlib.Path(os.environ["TUTTI_BUILD_DIR"])
EMITTER = BUILD / "tests/e2e/emitter"


class InstallTest(unittest.TestCase):
    def test_the_installed_command_records_and_reports(self):
        with tempfile.TemporaryDirectory() as folder:
            prefix, run = pathlib.Path(folder, "prefix"), pathlib.Path(folder, "run")
            subprocess.run(["cmake", "--install", BUILD, "--prefix", prefix], check=True,
                           capture_output=True)
            for file in ("bin/tutti", "lib/tutti/libtutti_tracer.so", "include/tutti/annotate.h",
                         "share/man/man1/tutti-record.1"):
                self.assertTrue((prefix / file).is_file(), file)
            environment = {k: v for k, v in os.environ.items() if not k.startswith("TUTTI_")}
            tutti = [prefix / "bin/tutti"]
            subprocess.run([*tutti, "record", "-o", run, "--", EMITTER, "train", "--steps", "5"],
                           check=True, capture_output=True, env=environment)
            report = subprocess.run([*tutti, "report", run], check=True, capture_output=True,
                                    text=True, env=environment).stdout
            self.assertIn("1 rank", report)


if __name__ == "__main__":
    unittest.main()
