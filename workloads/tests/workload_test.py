"""Runs the workloads with real ranks and checks what they say they did.

Expected numbers of collectives, with b buckets once the reducer has rebuilt them and b0 before
(DistributedDataParallel's rule): 1 broadcast of the parameters, b0 all-reduces in the first
step, 2 broadcasts to agree on the rebuilt buckets, b all-reduces in every further step, and the
all-gather that compares the parameters at the end. mnist_mlp: b0 = 3, b = 2; linear: 1 and 1.
"""
import os
import pathlib
import struct
import subprocess
import tempfile
import unittest

import ranks
from jobs import PROGRAMS, Report

GENERATED = {"TUTTI_CACHE": "/nonexistent"}  # no digits there: the generated set of 2048


def collectives(steps, first, later):
    return 1 + first + 2 + later * (steps - 1) + 1


class WorkloadTest(unittest.TestCase):
    def train(self, program, *options, world=2, env=None):
        results = ranks.run_ranks([PROGRAMS / program, *options], world, env)
        for rank, (status, _, err) in enumerate(results):
            self.assertEqual(status, 0, f"rank {rank}: {err}")
        for _, out, _ in results[1:]:
            self.assertEqual(out, "", "only rank 0 reports")
        report = Report(results[0][1])
        self.assertEqual(report.equal_ranks, world)
        return report

    def test_mnist_mlp_learns_and_ranks_stay_equal(self):
        report = self.train("mnist_mlp", "--steps", "60")
        self.assertRegex(report.text, "data: .*(UCI handwritten digits|generated)")
        self.assertLess(report.last_loss, 0.7 * report.first_loss)
        self.assertEqual(report.steps, 60)
        self.assertEqual(report.buckets, 2)
        self.assertEqual(report.collectives, collectives(60, first=3, later=2))

    def test_mnist_mlp_learns_from_generated_images(self):
        report = self.train("mnist_mlp", "--steps", "40", env=GENERATED)
        self.assertIn("data: 2048 generated images", report.text)
        self.assertLess(report.last_loss, 0.7 * report.first_loss)
        self.assertEqual(report.samples, 40 * 64)

    def test_mnist_mlp_reads_mnist_files(self):
        # 96 images: each of two ranks gets 48 an epoch, 32 + 16 with batches of 32.
        with tempfile.TemporaryDirectory() as folder:
            labels = bytes(i % 10 for i in range(96))
            pixels = b"".join(bytes([label * 25]) * 784 for label in labels)
            images = pathlib.Path(folder, "train-images-idx3-ubyte")
            images.write_bytes(struct.pack(">4I", 0x803, 96, 28, 28) + pixels)
            pathlib.Path(folder, "train-labels-idx1-ubyte").write_bytes(
                struct.pack(">2I", 0x801, 96) + labels
            )
            report = self.train("mnist_mlp", "--steps", "4", "--batch", "32", "--data", folder)
        self.assertIn(f"data: 96 MNIST images from {folder}", report.text)
        self.assertEqual(report.samples, 2 * 48)

    def test_linear_learns_and_ranks_stay_equal(self):
        report = self.train("linear", "--steps", "100")
        self.assertLess(report.last_loss, 0.02 * report.first_loss)
        self.assertEqual(report.samples, 100 * 64)
        self.assertEqual(report.collectives, collectives(100, first=1, later=1))

    def test_three_ranks_without_loader_threads(self):
        report = self.train("mnist_mlp", "--steps", "12", "--workers", "0", world=3)
        self.assertEqual(report.collectives, collectives(12, first=3, later=2))

    def test_bucket_size_sets_the_number_of_all_reduces(self):
        report = self.train("mnist_mlp", "--steps", "5", "--bucket-mb", "25")
        self.assertEqual(report.buckets, 1)
        self.assertEqual(report.collectives, collectives(5, first=2, later=1))

    def test_trains_alone_without_a_process_group(self):
        env = {k: v for k, v in os.environ.items() if k != "RANK"}
        run = subprocess.run(
            [PROGRAMS / "mnist_mlp", "--steps", "30"], env=env, capture_output=True, text=True
        )
        self.assertEqual(run.returncode, 0, run.stderr)
        report = Report(run.stdout)
        self.assertIn("no process group", report.text)
        self.assertLess(report.last_loss, report.first_loss)
        self.assertEqual(report.equal_ranks, 1)

    def test_faults_cost_time_but_do_not_change_the_result(self):
        clean = self.train("mnist_mlp", "--steps", "20")
        slow = self.train("mnist_mlp", "--steps", "20", "--inject", "slow_loader:30ms@1")
        extra = self.train("mnist_mlp", "--steps", "20", "--inject", "extra_compute:30ms@0")
        late = self.train("mnist_mlp", "--steps", "20", "--inject", "late_allreduce")
        self.assertEqual(slow.checksum, clean.checksum)
        self.assertEqual(extra.checksum, clean.checksum)
        self.assertEqual(late.checksum, clean.checksum)
        self.assertGreaterEqual(slow.step_ms, 25)
        self.assertGreaterEqual(extra.step_ms, 30)
        # Never through the reducer, so its buckets are never rebuilt.
        self.assertEqual(late.collectives, 1 + 20 * 3 + 2 + 1 - 2)
        self.assertIn(
            'fault: {"kind":"slow_loader","amount_ns":30000000,"ranks":[1],"steps":[0,20]}',
            slow.text,
        )

    def test_faults_of_the_loop_do_not_change_the_result(self):
        clean = self.train("mnist_mlp", "--steps", "20")
        for fault, at_least_ms in [
            ("few_workers:30ms", 25),
            ("epoch_stall:20ms", 0),
            ("hiccups:20ms@1", 0),
            ("needless_barrier:5", 0),
            ("tiny_operators:2000", 1),
            ("allocation_churn:64MiB", 5),
            ("memory_leak:1MiB", 0),
            ("cpu_contention:2@0", 0),
            ("checkpoint_pause:50ms", 0),
            ("log_pause:50ms", 0),
        ]:
            report = self.train("mnist_mlp", "--steps", "20", "--inject", fault)
            self.assertEqual(report.checksum, clean.checksum, fault)
            self.assertGreaterEqual(report.step_ms, at_least_ms, fault)

    def test_faults_of_batches_change_their_sizes(self):
        # 1797 digits: 899 a rank, in batches of 64, the last of which is smaller.
        more = self.train("mnist_mlp", "--steps", "4", "--inject", "data_imbalance:100%@0")
        self.assertEqual(more.samples, 4 * 128)
        less = self.train("mnist_mlp", "--steps", "4", "--inject", "data_imbalance:50%@1")
        self.assertEqual(less.samples, 4 * 32)
        churn = self.train("mnist_mlp", "--steps", "6", "--inject", "shape_churn:100%")
        self.assertTrue(6 * 64 < churn.samples <= 6 * 128)

    def test_faults_of_buckets_change_their_number(self):
        # The reducer closes a bucket when it is full: the two weights and what is left.
        tiny = self.train("mnist_mlp", "--steps", "4", "--inject", "tiny_buckets:1B")
        self.assertEqual(tiny.buckets, 4)
        single = self.train("mnist_mlp", "--steps", "4", "--inject", "single_bucket")
        self.assertEqual(single.buckets, 1)
        self.assertEqual(single.collectives, collectives(4, first=1, later=1))

    def test_mismatched_size_stops_the_job(self):
        (status0, _, err0), (status1, _, err1) = ranks.run_ranks(
            [PROGRAMS / "mnist_mlp", "--steps", "20", "--timeout", "20"]
            + ["--inject", "mismatched_size:50%@1#5"], 2
        )
        self.assertNotEqual((status0, status1), (0, 0))
        self.assertIn("doesn't match expected size", err0 + err1)

    def test_a_fault_that_it_cannot_carry_is_refused_in_one_line(self):
        for fault, status, message in [
            ("skewed_experts:50%", 2, "linear cannot carry this fault: 'skewed_experts:50%'"),
            ("sync_every_step", 1, "--inject sync_every_step: only on GPUs"),
        ]:
            run = subprocess.run(
                [PROGRAMS / "linear", "--steps", "2", "--inject", fault],
                capture_output=True, text=True,
            )
            self.assertEqual(run.returncode, status)
            self.assertIn(message, run.stderr)
        listed = subprocess.run(
            [PROGRAMS / "linear", "--inject", "list"], capture_output=True, text=True
        )
        self.assertEqual(listed.returncode, 0)
        self.assertIn("slow_loader:TIME[@RANKS][#STEPS]", listed.stdout)
        self.assertNotIn("skewed_experts", listed.stdout)

    def test_skipped_collective_hangs_the_others_until_their_timeout(self):
        options = ["--steps", "20", "--timeout", "2", "--inject", "skip_collective:6s@1#10"]
        (status0, out0, err0), (status1, _, err1) = ranks.run_ranks(
            [PROGRAMS / "mnist_mlp", *options], 2
        )
        self.assertEqual((status0, status1), (1, 1))
        self.assertIn("step   10", out0)
        self.assertNotIn("step   20", out0)
        # By the thread that waits, or by the one that found the pair of sockets closed for it.
        self.assertRegex(err0, "Timed out|Application timeout")
        self.assertIn("left out the all-reduce of step 10, as injected", err1)

    def test_mistakes_are_told_before_training(self):
        for options, message in [
            (["--inject", "slow_loader"], "needs an amount"),
            (["--steps", "0"], "--steps"),
            (["--backend", "mpi"], "--backend"),
            (["--data", "/nonexistent"], "--data"),
        ]:
            run = subprocess.run(
                [PROGRAMS / "mnist_mlp", *options], capture_output=True, text=True
            )
            self.assertEqual(run.returncode, 2, options)
            self.assertIn(message, run.stderr)

    def test_nccl_without_a_gpu_is_refused_in_one_line(self):
        if pathlib.Path("/dev/nvidiactl").exists():
            self.skipTest("this machine has a GPU")
        run = subprocess.run(
            [PROGRAMS / "mnist_mlp", "--backend", "nccl"], capture_output=True, text=True
        )
        self.assertEqual(run.returncode, 1)
        self.assertRegex(run.stderr, r"\Amnist_mlp: rank 0: --backend nccl: [^\n]+\n\Z")


if __name__ == "__main__":
    unittest.main()
