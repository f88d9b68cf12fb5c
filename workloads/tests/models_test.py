"""Runs the larger workloads with real ranks: they learn, replicas stay equal, a model that is
divided learns as one that isn't, and the trace has as many collectives as README.md says."""
import pathlib
import re
import tempfile
import unittest

import ranks
from jobs import PROGRAMS, JobTest


def ddp(steps, buckets):
    """Calls of a data-parallel run: the parameters and, twice, the new buckets are broadcast, and
    checksums are gathered at the end."""
    return {"broadcast": 3, "all_reduce": buckets * steps, "all_gather": 1}


class ModelsTest(JobTest):
    def test_gpt_learns_and_has_the_collectives_of_ddp(self):
        report, calls, described = self.record("gpt", "--steps", 30)
        self.assertEqual(report.equal_ranks, 2)
        self.assertLess(report.last_loss, 0.85 * report.first_loss)
        self.assertEqual(report.samples, 30 * 8)
        self.assertEqual(calls, [ddp(30, buckets=2)] * 2)
        self.assertEqual(described["run"]["steps"], 30)

    def test_gpt_accumulates_without_collectives_of_its_own(self):
        report, calls, _ = self.record("gpt", "--steps", 6, "--accumulate", 3)
        self.assertEqual(calls, [ddp(6, buckets=2)] * 2)
        self.assertEqual(report.samples, 6 * 3 * 8)

    def test_gpt_in_lower_precision_learns_as_well(self):
        full = self.train("gpt", "--steps", 20)
        for options in (["--amp", "bf16"], ["--compress", "fp16"], ["--compress", "bf16"]):
            half = self.train("gpt", "--steps", 20, *options)
            self.assertEqual(half.equal_ranks, 2)
            self.assertNotEqual(half.checksum, full.checksum)
            self.assertAlmostEqual(half.losses[-1], full.losses[-1], delta=0.05)

    def test_gpt_in_fp16_scales_its_loss(self):
        # On the CPU fp16 is slow: the smallest model that has something to learn.
        small = ["--steps", 10, "--width", 16, "--heads", 2, "--layers", 1, "--context", 16]
        full = self.train("gpt", *small)
        half = self.train("gpt", *small, "--amp", "fp16")
        self.assertEqual(half.equal_ranks, 2)
        self.assertNotEqual(half.checksum, full.checksum)
        self.assertAlmostEqual(half.losses[-1], full.losses[-1], delta=0.05)

    def test_gpt_computes_the_same_with_checkpointing(self):
        plain = self.train("gpt", "--steps", 10)
        self.assertEqual(self.train("gpt", "--steps", 10, "--checkpointing").checksum,
                         plain.checksum)
        self.assertEqual(self.train("gpt", "--steps", 10, "--inject", "recompute").checksum,
                         plain.checksum)
        one_by_one = self.train("gpt", "--steps", 10, "--inject", "per_parameter_optimizer")
        self.assertAlmostEqual(one_by_one.losses[-1], plain.losses[-1], delta=0.001)
        bf16 = ["--steps", 10, "--amp", "bf16", "--inject", "fp32"]
        self.assertEqual(self.train("gpt", *bf16).checksum, plain.checksum)

    def test_gpt_evaluates_and_writes_checkpoints(self):
        with tempfile.TemporaryDirectory() as folder:
            report, calls, described = self.record(
                "gpt", "--steps", 20, "--context", 32, "--evaluate-every", 10,
                "--checkpoint-every", 8, "--checkpoint-dir", folder)
            self.assertEqual(sorted(file.name for file in pathlib.Path(folder).iterdir()),
                             ["gpt-step16-rank0.pt", "gpt-step8-rank0.pt"])
        self.assertEqual(len(report.held_out), 2)
        self.assertLess(report.held_out[1], report.held_out[0])
        self.assertEqual(calls[0]["all_reduce"], 2 * 20 + 2)

    def test_gpt_gives_a_slow_rank_smaller_batches(self):
        report, calls, _ = self.record("gpt", "--steps", 20, "--balance-every", 5,
                                       "--inject", "extra_compute:100ms@1")
        self.assertEqual(report.equal_ranks, 2)
        self.assertEqual(calls, [{**ddp(20, buckets=2), "all_gather": 1 + 4}] * 2)
        samples = [self.number(rank, "SELECT sum(samples) FROM batch") for rank in (0, 1)]
        self.assertEqual(sum(samples), 2 * 20 * 8)
        self.assertGreater(samples[0], 1.2 * samples[1])

    def test_evaluation_in_int8_and_pruned(self):
        for program in ("gpt", "mnist_mlp"):
            report = self.train(program, "--steps", 20, "--evaluate-every", 20, "--int8",
                                "--prune", 95)
            full, int8, pruned = (float(re.search(name + r" loss ([\d.]+)", report.text)[1])
                                  for name in ("held-out", "int8", "pruned"))
            self.assertNotEqual(int8, full)
            self.assertAlmostEqual(int8, full, delta=0.05)
            self.assertGreater(pruned, full + 0.05)

    def test_what_a_workload_has_not_is_refused(self):
        for program, options in [("pipeline", ["--accumulate", "2"]),
                                 ("zero", ["--compress", "fp16"])]:
            (status, _, err), = ranks.run_ranks([PROGRAMS / program, *options], 1)
            self.assertEqual(status, 1)
            self.assertIn(options[0], err)

    def test_pipeline_computes_what_one_rank_does(self):
        # Divided by 1, 2 and 4, by either schedule, and in two replicas with half of the batch.
        options = ["--steps", 10, "--micro-batches", 4, "--threads", 1]
        alone = self.train("pipeline", *options, world=1)
        for world, schedule in [(2, "1f1b"), (2, "gpipe"), (4, "1f1b")]:
            divided = self.train("pipeline", *options, "--schedule", schedule, world=world)
            self.assertEqual(divided.losses, alone.losses)
        replicated = self.train("pipeline", *options, "--replicas", 2, "--batch", 8, world=4)
        self.assertEqual(replicated.equal_ranks, 2)

    def test_pipeline_learns_by_sends_and_receives_alone(self):
        for schedule in ["1f1b", "gpipe"]:
            report, calls, described = self.record(
                "pipeline", "--steps", 20, "--micro-batches", 4, "--schedule", schedule, world=3)
            self.assertLess(report.last_loss, 0.95 * report.first_loss)
            per_neighbour = {"send": 4 * 20, "recv": 4 * 20}
            two_neighbours = {"send": 2 * 4 * 20, "recv": 2 * 4 * 20}
            self.assertEqual(calls, [per_neighbour, two_neighbours, per_neighbour])
            self.assertEqual(self.derived("SELECT DISTINCT rank, stage, stages, microbatches"
                                          " FROM pipeline_step ORDER BY rank"),
                             [(0, 0, 3, 4), (1, 1, 3, 4), (2, 2, 3, 4)])
            self.assertEqual(described["run"]["steps"], 20)

    def test_pipeline_replicas_all_reduce_once_a_step(self):
        report, calls, _ = self.record("pipeline", "--steps", 6, "--micro-batches", 2,
                                       "--replicas", 2, world=4)
        self.assertEqual(report.equal_ranks, 2)
        each = {"send": 2 * 6, "recv": 2 * 6, "all_reduce": 6, "all_gather": 1}
        self.assertEqual(calls, [each] * 4)
        self.assertEqual(
            self.derived("SELECT m.description, g.kind FROM parallel_group AS g JOIN"
                         " run_communicator AS m ON m.id = g.communicator_id ORDER BY 1"),
            [(None, "world"), ("pipeline_0", "pipeline"), ("pipeline_1", "pipeline"),
             ("stage_0", "data"), ("stage_1", "data")])

    def test_pipeline_imbalance_slows_one_stage_and_computes_the_same(self):
        options = ["--steps", 10, "--micro-batches", 4]
        clean, *_ = self.record("pipeline", *options)
        products = [self.products(rank) for rank in (0, 1)]
        faulty, *_ = self.record("pipeline", *options, "--inject", "pipeline_imbalance:300%@1")
        self.assertEqual(faulty.losses, clean.losses)
        self.assertEqual(self.products(0), products[0])
        # Some after each forward and each backward of a micro-batch.
        self.assertGreaterEqual(self.products(1), products[1] + 2 * 10 * 4)

    def products(self, rank):
        """How many matrices a rank of the last recording multiplies."""
        return self.number(rank, "SELECT count(*) FROM v_cpu_op WHERE name = 'aten::mm'")

    def test_zero_computes_what_ddp_does(self):
        # Sums of gradients differ by their order only.
        ddp_run = self.train("gpt", "--steps", 20, "--bucket-mb", 1)
        report, calls, _ = self.record("zero", "--steps", 20, "--bucket-mb", 1)
        self.assertEqual(report.equal_ranks, 2)
        for sharded, whole in zip(report.losses, ddp_run.losses):
            self.assertAlmostEqual(sharded, whole, delta=0.002)
        each = report.buckets * 20
        self.assertEqual(calls, [{"reduce_scatter": each, "all_gather": each + 1}] * 2)

    def test_zero_on_three_ranks_with_uneven_parts(self):
        report = self.train("zero", "--steps", 12, "--width", 36, "--heads", 3, "--bucket-mb", 0.05,
                            world=3)
        self.assertEqual(report.equal_ranks, 3)
        self.assertGreater(report.buckets, 1)
        self.assertLess(report.last_loss, report.first_loss)

    def test_dlrm_learns_by_all_to_all(self):
        report, calls, _ = self.record("dlrm", "--steps", 40, world=3)
        self.assertEqual(report.equal_ranks, 3)
        self.assertLess(report.last_loss, 0.97 * report.first_loss)
        self.assertEqual(calls, [{**ddp(40, report.buckets), "all_to_all": 4 * 40}] * 3)

    def test_dlrm_on_one_rank_learns_as_well(self):
        options = ["--steps", 20, "--threads", 1]
        alone = self.train("dlrm", *options, "--batch", 256, world=1)
        divided = self.train("dlrm", *options, world=2)
        self.assertAlmostEqual(alone.last_loss, divided.last_loss, delta=0.05)

    def test_dlrm_skewed_experts_get_more_of_the_lookups(self):
        bytes_of = {}
        for name, inject in [("clean", []), ("skewed", ["--inject", "skewed_experts:60%@1"])]:
            report, _, _ = self.record("dlrm", "--steps", 6, *inject)
            self.assertEqual(report.equal_ranks, 2)
            bytes_of[name] = [self.number(rank, "SELECT sum(bytes) FROM v_collective"
                                                " WHERE op = 'all_to_all'") for rank in (0, 1)]
        self.assertAlmostEqual(bytes_of["clean"][1] / bytes_of["clean"][0], 1, delta=0.05)
        self.assertNotAlmostEqual(bytes_of["skewed"][1] / bytes_of["skewed"][0], 1, delta=0.1)

    def test_resnet_learns_and_broadcasts_its_buffers(self):
        report, calls, _ = self.record("resnet", "--steps", 30, "--width", 8)
        self.assertEqual(report.equal_ranks, 2)
        self.assertLess(report.last_loss, 0.8 * report.first_loss)
        expected = ddp(30, report.buckets)
        expected["broadcast"] += 30
        self.assertEqual(calls, [expected] * 2)

    def test_resnet_sync_batch_norm_all_reduces_in_both_directions(self):
        report, calls, _ = self.record("resnet", "--steps", 3, "--width", 8, "--sync-batch-norm")
        norms = 7
        self.assertEqual(report.equal_ranks, 2)
        self.assertEqual(calls, [{"broadcast": 3, "all_gather": 1,
                                  "all_reduce": 3 * (2 * norms + report.buckets)}] * 2)

    def test_resnet_sync_batch_norm_of_one_rank_is_batch_norm(self):
        # Rounding grows with each step: a few of them.
        options = ["--steps", 4, "--width", 8, "--threads", 1, "--lr", 0.01]
        plain = self.train("resnet", *options, world=1)
        sync = self.train("resnet", *options, "--sync-batch-norm", world=1)
        self.assertAlmostEqual(sync.last_loss, plain.last_loss, delta=0.0005)

    def test_resnet_channels_last_computes_the_same(self):
        options = ["--steps", 10, "--width", 8]
        first = self.train("resnet", *options)
        last = self.train("resnet", *options, "--channels-last")
        self.assertAlmostEqual(first.losses[0], last.losses[0], delta=0.01)

    def test_resnet_evaluates_with_running_means(self):
        report = self.train("resnet", "--steps", 40, "--width", 8, "--evaluate-every", 20,
                            "--sync-batch-norm")
        self.assertEqual(len(report.held_out), 2)
        self.assertLess(report.held_out[1], report.held_out[0])

    def test_tensor_parallel_computes_what_one_rank_does(self):
        options = ["--steps", 10, "--threads", 1]
        alone = self.train("tensor_parallel", *options, world=1)
        for world in (2, 4):
            divided = self.train("tensor_parallel", *options, world=world)
            self.assertEqual(divided.equal_ranks, world)
            self.assertAlmostEqual(divided.losses[-1], alone.losses[-1], delta=0.002)

    def test_tensor_parallel_all_reduces_four_times_a_layer(self):
        report, calls, _ = self.record("tensor_parallel", "--steps", 20, "--layers", 3)
        self.assertLess(report.last_loss, 0.95 * report.first_loss)
        self.assertEqual(calls, [{"all_reduce": 4 * 3 * 20, "all_gather": 1}] * 2)
        self.assertEqual(self.derived("SELECT kind FROM parallel_group"), [("tensor",)])

    def test_tensor_parallel_with_replicas(self):
        report, calls, _ = self.record("tensor_parallel", "--steps", 6, "--replicas", 2,
                                       "--bucket-mb", 25, world=4)
        self.assertEqual(report.equal_ranks, 4)
        self.assertEqual(calls, [{**ddp(6, report.buckets),
                                  "all_reduce": 6 * (4 * 2 + report.buckets)}] * 4)

    def test_data_parallel_learns_on_the_cpu(self):
        report = self.train("data_parallel", "--steps", 60, world=1)
        self.assertLess(report.last_loss, 0.6 * report.first_loss)
        self.assertEqual(report.samples, 60 * 64)


if __name__ == "__main__":
    unittest.main()
