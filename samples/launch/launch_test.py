"""Runs the samples with launchers that set what the real ones do, and checks which ranks were
recorded. TUTTI names the command, WORKLOADS the folder of mnist_mlp."""
import os
import pathlib
import re
import shutil
import sqlite3
import subprocess
import sys
import tempfile
import textwrap
import unittest

import ranks as local_ranks

HERE = pathlib.Path(__file__).resolve().parent
TUTTI = pathlib.Path(os.environ["TUTTI"])
TRAIN = str(pathlib.Path(os.environ["WORKLOADS"], "mnist_mlp"))
# What a launcher around this test, or the test of another, may have set.
LAUNCHER = re.compile(r"^(RANK|WORLD_SIZE|LOCAL_|MASTER_|SLURM_|OMPI_|PMI|TORCHELASTIC_|TUTTI_)")
REAL_MPIRUN = shutil.which("mpirun")
# It starts nothing for root, nor more ranks than it counts cores, unless told to.
OPEN_MPI = {"OMPI_ALLOW_RUN_AS_ROOT": "1", "OMPI_ALLOW_RUN_AS_ROOT_CONFIRM": "1",
            "OMPI_MCA_rmaps_base_oversubscribe": "1"}

# Starts its command once a task with what Slurm tells it, on two nodes.
SRUN = """
    import os, subprocess, sys
    command = sys.argv[1:]
    while command[0].startswith("-"):
        command.pop(0)
    tasks = int(os.environ["SLURM_NTASKS"])
    jobs = [subprocess.Popen(command, env={
        **os.environ, "SLURM_PROCID": str(task), "SLURM_LOCALID": str(task % (tasks // 2)),
        "SLURM_NODEID": str(task // (tasks // 2)), "SLURM_STEP_ID": "0",
        "SLURM_STEP_NUM_TASKS": str(tasks)}) for task in range(tasks)]
    sys.exit(max(job.wait() for job in jobs))
"""
MPIRUN = """
    import os, subprocess, sys
    assert sys.argv[1] == "-np"
    size, command = int(sys.argv[2]), sys.argv[3:]
    while command[0] == "-x":
        assert command[1] in os.environ
        command = command[2:]
    jobs = [subprocess.Popen(command, env={
        **os.environ, "OMPI_COMM_WORLD_RANK": str(rank), "OMPI_COMM_WORLD_LOCAL_RANK": str(rank),
        "OMPI_COMM_WORLD_SIZE": str(size)}) for rank in range(size)]
    sys.exit(max(job.wait() for job in jobs))
"""
SCONTROL = """
    import sys
    assert sys.argv[1:] == ["show", "hostnames", "node[1-2]"]
    print("127.0.0.1\\nnode2")
"""


class LaunchTest(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.folder = pathlib.Path(folder.name)
        self.programs = self.folder / "bin"
        self.programs.mkdir()
        for name, text in (("srun", SRUN), ("mpirun", MPIRUN), ("scontrol", SCONTROL)):
            path = self.programs / name
            path.write_text(f"#!{sys.executable}\n" + textwrap.dedent(text), encoding="utf-8")
            path.chmod(0o755)
        (self.programs / "tutti").symlink_to(TUTTI)
        self.env = {key: value for key, value in os.environ.items() if not LAUNCHER.match(key)}
        self.env["PATH"] = f"{self.programs}:{self.env['PATH']}"

    def run_ok(self, command, **env):
        done = subprocess.run(command, env={**self.env, **env}, cwd=self.folder, text=True,
                              capture_output=True, timeout=120)
        self.assertEqual(done.returncode, 0, done.stdout + done.stderr)

    def check_ranks(self, run, count, variable):
        """One file a rank, which knows its number, the size of the world and who told it."""
        files = sorted(run.glob("rank-*.sqlite"))
        self.assertEqual([file.name for file in files],
                         [f"rank-{rank:05d}.sqlite" for rank in range(count)])
        for rank, file in enumerate(files):
            with sqlite3.connect(file) as trace:
                self.assertEqual(trace.execute("SELECT rank, world_size, rank_source"
                                               " FROM process").fetchall(),
                                 [(rank, count, variable)])
        report = subprocess.run([TUTTI, "report", "--json", run], capture_output=True, text=True,
                                timeout=60)
        self.assertEqual(report.returncode, 0, report.stderr)

    def test_scripts_are_shell(self):
        for script in (*HERE.glob("*.sh"), *HERE.glob("*.slurm"), *HERE.parent.glob("ci/*.slurm")):
            subprocess.run(["bash", "-n", script], check=True)

    def test_srun(self):
        self.run_ok(["bash", HERE / "train.slurm", TRAIN, "--steps", "12"], SLURM_JOB_ID="77",
                    SLURM_NTASKS="4", SLURM_JOB_NODELIST="node[1-2]",
                    SLURM_SUBMIT_DIR=str(self.folder), LAUNCH_SAMPLES=str(HERE))
        self.check_ranks(self.folder / "runs/77", 4, "RANK")

    def test_a_launcher_that_hands_nothing_on(self):
        """What `tutti env` prints makes up for it."""
        script = (f'variables=$(tutti env); env -i PATH="$PATH" sh -c '
                  f'"$variables; exec {TRAIN} --steps 12"')
        self.run_ok(["tutti", "record", "-o", "run", "--", "sh", "-c", script])
        self.assertEqual(len(list((self.folder / "run").glob("rank-*.sqlite"))), 1)

    def test_launchers_tell_ranks_that_ask_nobody(self):
        """Each task trains for itself; what numbers it is the launcher's variable alone."""
        for launcher, variable in ((["srun"], "SLURM_PROCID"),
                                   (["mpirun", "-np", "2"], "OMPI_COMM_WORLD_RANK")):
            run = self.folder / launcher[0]
            self.run_ok([*launcher, "tutti", "record", "-o", run, "--", TRAIN, "--steps", "12"],
                        SLURM_NTASKS="2", SLURM_JOB_ID="77")
            self.check_ranks(run, 2, variable)

    def test_mpirun(self):
        self.run_ok([HERE / "train_mpirun.sh", "2", "runs/m", TRAIN, "--steps", "12"],
                    MASTER_ADDR="127.0.0.1", MASTER_PORT=str(local_ranks.free_port()))
        self.check_ranks(self.folder / "runs/m", 2, "RANK")

    def test_mpirun_below_one_recorder(self):
        self.run_ok(["tutti", "record", "-o", "runs/one", "--", "mpirun", "-np", "2",
                     HERE / "rank_env.sh", TRAIN, "--steps", "12"],
                    MASTER_PORT=str(local_ranks.free_port()))
        self.check_ranks(self.folder / "runs/one", 2, "RANK")

    @unittest.skipUnless(REAL_MPIRUN, "Open MPI is not installed")
    def test_mpirun_of_open_mpi(self):
        """Not played: below one recorder, above a recorder each, and with ranks that ask nobody."""
        (self.programs / "mpirun").unlink()
        port = local_ranks.free_port
        for name, command, variable in (
                ("one", ["tutti", "record", "-o", "runs/one", "--", REAL_MPIRUN, "-np", "2",
                         HERE / "rank_env.sh", TRAIN], "RANK"),
                ("each", [HERE / "train_mpirun.sh", "2", "runs/each", TRAIN], "RANK"),
                ("alone", ["tutti", "record", "-o", "runs/alone", "--", REAL_MPIRUN, "-np", "2",
                           TRAIN], "OMPI_COMM_WORLD_RANK")):
            with self.subTest(name):
                self.run_ok([*command, "--steps", "12"], MASTER_ADDR="127.0.0.1",
                            MASTER_PORT=str(port()), **OPEN_MPI)
                self.check_ranks(self.folder / "runs" / name, 2, variable)

    def test_pods(self):
        """What the operator starts in each pod, with what it sets there."""
        text = (HERE / "pytorchjob.yaml").read_text(encoding="utf-8")
        script = re.search(r"args:\n +- \|\n +(.*)\n", text)[1]
        common = {"WORLD_SIZE": "2", "MASTER_ADDR": "127.0.0.1",
                  "MASTER_PORT": str(local_ranks.free_port()), "RUNS": str(self.folder),
                  "TRAIN": f"{TRAIN} --steps 12"}
        pods = [subprocess.Popen(["bash", "-c", script], stderr=subprocess.PIPE, text=True,
                                 env={**self.env, **common, "RANK": str(rank)})
                for rank in range(2)]
        for pod in pods:
            _, err = pod.communicate(timeout=120)
            self.assertEqual(pod.returncode, 0, err)
        # Without LOCAL_RANK the variables alone are not believed: the process group says so, too.
        self.check_ranks(self.folder / "train", 2, "communicator")

    def test_without_a_launcher_rank_env_says_so(self):
        done = subprocess.run([HERE / "rank_env.sh", "true"], env=self.env, capture_output=True,
                              text=True)
        self.assertEqual(done.returncode, 2)
        self.assertIn("no launcher says RANK", done.stderr)


if __name__ == "__main__":
    unittest.main()
