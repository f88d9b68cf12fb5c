"""What is installed or unpacked works from where it is put, on its own: cmake --install, the Debian
packages and the archive that cpack makes, and the library for programs that read runs."""
import contextlib
import os
import pathlib
import re
import shutil
import sqlite3
import subprocess
import tempfile
import unittest

ROOT = pathlib.Path(__file__).parents[2]
BUILD = pathlib.Path(os.environ["TUTTI_BUILD_DIR"])
EMITTER = BUILD / "tests/e2e/emitter"

READER_CMAKE = """
cmake_minimum_required(VERSION 3.25)
project(reader LANGUAGES C CXX)
find_package(tutti 0.1 REQUIRED)
add_executable(reader reader.cc)
target_link_libraries(reader PRIVATE tutti::schema)
"""
READER_SOURCE = """
#include <cstdio>

#include "schema/run_view.h"

int main(int, char** argv) {
  auto run = tutti::schema::RunView::Open(argv[1]);
  if (!run.ok()) return 1;
  const auto steps = run->database().QueryOne<int64_t>("SELECT count(*) FROM v_step");
  if (!steps.ok()) return 1;
  std::printf("%d steps\\n", static_cast<int>(*steps));
}
"""


def output_of(*words, **options):
    done = subprocess.run(words, capture_output=True, text=True, **options)
    if done.returncode != 0:
        raise AssertionError(f"{words}: {done.returncode}\n{done.stdout}{done.stderr}")
    return done.stdout


def clean_environment():
    """As a user has it who knows nothing of the build."""
    return {"PATH": "/usr/bin:/bin", "HOME": os.environ.get("HOME", "/")}


class InstalledTest(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.folder = tempfile.TemporaryDirectory()
        cls.addClassCleanup(cls.folder.cleanup)
        cls.packages = pathlib.Path(cls.folder.name, "packages")
        output_of("cpack", "--config", BUILD / "CPackConfig.cmake", "-B", cls.packages)
        shutil.rmtree(cls.packages / "_CPack_Packages")

    def setUp(self):
        self.place = pathlib.Path(tempfile.mkdtemp(dir=self.folder.name))

    def check_recording(self, prefix):
        """Records five steps with the command below `prefix`, and returns the run."""
        run = self.place / "run"
        tutti = prefix / "bin/tutti"
        output_of(tutti, "record", "-o", run, "--", EMITTER, "train", "--steps", "5",
                  env=clean_environment())
        self.assertIn("1 rank", output_of(tutti, "report", run, env=clean_environment()))
        return run

    def test_cmake_install(self):
        prefix = self.place / "prefix"
        output_of("cmake", "--install", BUILD, "--prefix", prefix)
        for file in ("bin/tutti", "lib/tutti/libtutti_tracer.so", "include/tutti/annotate.h",
                     "share/man/man1/tutti-record.1", "share/man/man5/tutti-schema.5"):
            self.assertTrue((prefix / file).is_file(), file)
        self.check_recording(prefix)

    def test_debian_packages(self):
        packages = {output_of("dpkg-deb", "-f", path, "Package").strip(): path
                    for path in self.packages.glob("*.deb")}
        self.assertLessEqual({"tutti", "tutti-tracer", "tutti-dev"}, packages.keys())
        for name, path in packages.items():
            output_of("dpkg-deb", "-x", path, self.place)
            terms = (self.place / f"usr/share/doc/{name}/copyright").read_text()
            self.assertIn("Apache License", terms)
        needs = output_of("dpkg-deb", "-f", packages["tutti"], "Depends")
        self.assertIn("tutti-tracer (= ", needs)
        self.assertIn("libsqlite3-0", needs)
        run = self.check_recording(self.place / "usr")
        if "tutti-mpi" in packages:
            self.check_analysis_over_mpi(run)

    def check_analysis_over_mpi(self, run):
        self.assertTrue((self.place / "usr/share/man/man1/tutti-analyze-mpi.1").is_file())
        program = self.place / "usr/bin/tutti-analyze-mpi"
        tables = self.place / "tables.sqlite"
        output_of("mpirun", "-np", "2", program, "-o", tables, run, env={
            **clean_environment(), "OMPI_ALLOW_RUN_AS_ROOT": "1",
            "OMPI_ALLOW_RUN_AS_ROOT_CONFIRM": "1", "OMPI_MCA_rmaps_base_oversubscribe": "1"})
        with contextlib.closing(sqlite3.connect(tables)) as rows:
            self.assertEqual((5,), rows.execute("SELECT count(*) FROM step_breakdown").fetchone())

    def test_container_installs_packages_that_are_made(self):
        text = (ROOT / "samples/container/Dockerfile").read_text().replace("\\\n", " ")
        lines = [line.split() for line in text.splitlines() if line and not line.startswith("#")]
        stages = [line[3] for line in lines if line[0] == "FROM" and len(line) == 4]
        self.assertIn(["RUN", "./dev", "package"], lines)
        [[_, made_in, made, unpacked]] = [line for line in lines if "--from" in "".join(line[1:2])]
        self.assertIn(made_in.removeprefix("--from="), stages)
        self.assertEqual("/tutti/build/release/packages/*.deb", made)
        installed = re.findall(re.escape(unpacked) + r"(\S+\.deb)", text)
        found = [list(self.packages.glob(name)) for name in installed]
        self.assertEqual([1] * len(installed), [len(paths) for paths in found], installed)
        names = {output_of("dpkg-deb", "-f", path, "Package").strip() for [path] in found}
        for [path] in found:  # those of Tutti that it needs come along
            needs = re.findall(r"tutti[\w-]*", output_of("dpkg-deb", "-f", path, "Depends"))
            self.assertLessEqual(set(needs), names)
        ignored = (ROOT / "samples/container/Dockerfile.dockerignore").read_text().split()
        self.assertIn("build", ignored)  # its CMakeCache.txt names other folders

    def test_archive_brings_its_libraries_and_the_reader(self):
        [archive] = self.packages.glob("*.tar.gz")
        output_of("tar", "-xzf", archive, "-C", self.place)
        [prefix] = self.place.glob("tutti-*")
        for line in output_of("ldd", prefix / "bin/tutti").splitlines():
            if "sqlite3" in line or "simdjson" in line:
                self.assertIn(str(prefix / "lib/tutti"), os.path.realpath(line.split()[2]))
        run = self.check_recording(prefix)
        source = self.place / "reader"
        source.mkdir()
        (source / "CMakeLists.txt").write_text(READER_CMAKE)
        (source / "reader.cc").write_text(READER_SOURCE)
        output_of("cmake", "-S", source, "-B", source / "build", f"-DCMAKE_PREFIX_PATH={prefix}")
        output_of("cmake", "--build", source / "build")
        self.assertEqual("5 steps\n", output_of(source / "build/reader", run))


if __name__ == "__main__":
    unittest.main()
