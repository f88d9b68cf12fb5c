"""Runs ddp_mnist.py on two ranks, both ways of starting it, and checks that it learns."""
import pathlib
import re
import subprocess
import sys
import unittest

import ranks

SAMPLE = pathlib.Path(__file__).with_name("ddp_mnist.py")


class DdpMnistTest(unittest.TestCase):
    def check(self, output, steps):
        self.assertIn("2 ranks, gloo; data: ", output)
        summary = re.search(r"^(\d+) steps, loss ([\d.]+) -> ([\d.]+)", output, re.M)
        done, first, last = summary.groups()
        self.assertEqual(int(done), steps)
        self.assertLess(float(last), 0.8 * float(first))
        self.assertIn("parameters equal on all ranks", output)

    def setUp(self):
        if pathlib.Path("/dev/nvidiactl").exists():
            self.skipTest("on a machine with a GPU the sample uses NCCL")

    def test_env(self):
        results = ranks.run_ranks([sys.executable, SAMPLE, "--steps", "40"], 2, timeout_s=150)
        for status, _, err in results:
            self.assertEqual(status, 0, err)
        self.check(results[0][1], steps=40)

    def test_torchrun(self):
        launcher = [sys.executable, "-m", "torch.distributed.run", "--nproc-per-node", "2"]
        command = launcher + ["--master-port", str(ranks.free_port()), SAMPLE, "--steps", "40"]
        run = subprocess.run(command, capture_output=True, text=True, timeout=150)
        self.assertEqual(run.returncode, 0, run.stderr)
        self.check(run.stdout, steps=40)


if __name__ == "__main__":
    unittest.main()
