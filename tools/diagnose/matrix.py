"""What the scoreboard runs: which faults, of which size, in which workload; and what Tutti ought
to call each. Everything here is a declaration; nothing is measured.

A fault's ranks and amount are not written down here a second time: the workload tells them to the
run's manifest, where score.py reads them.
"""
import dataclasses


@dataclasses.dataclass(frozen=True)
class Answer:
    """What Tutti ought to say of a kind of fault."""

    finding: str  # its id in docs/findings.md
    # Which step time the fault is measured by: the median step where it is in every step, the
    # mean where it is in few of them; None where it costs memory or stops the job.
    statistic: str | None = "median"
    # `tutti whatif` scenario that takes the fault away, {rank} being its only rank.
    scenario: str | None = None


ANSWERS = {
    "slow_loader": Answer("input_wait", scenario="no-input-wait"),
    "few_workers": Answer("input_wait", scenario="no-input-wait"),
    "epoch_stall": Answer("input_wait", "mean", "no-input-wait"),
    "extra_compute": Answer("straggler", scenario="rank-at-median={rank}"),
    # Without it the others would have more to do: nobody's work goes away.
    "data_imbalance": Answer("data_imbalance", scenario="balanced"),
    "hiccups": Answer("pauses", "mean"),
    "log_pause": Answer("pauses", "mean"),
    "checkpoint_pause": Answer("checkpoints", "mean"),
    "needless_barrier": Answer("barrier"),
    "single_bucket": Answer("single_bucket"),
    "tiny_buckets": Answer("small_buckets"),
    "late_allreduce": Answer("comm_after_backward"),
    "shape_churn": Answer("shape_churn", "mean"),
    "tiny_operators": Answer("tiny_operators"),
    "allocation_churn": Answer("host_alloc_churn"),
    "cpu_contention": Answer("cpu_contention"),
    "recompute": Answer("recompute"),
    "per_parameter_optimizer": Answer("tiny_operators"),
    "pipeline_imbalance": Answer("pipeline_imbalance"),
    "skewed_experts": Answer("skewed_experts"),
    "memory_leak": Answer("memory_leak", None),
    "skip_collective": Answer("hang", None),
    "mismatched_size": Answer("collective_mismatch", None),
}


COST_NO_TIME = {"memory_leak"}

# True of the machine that a test runs on, which others may use: the short version looks past it.
OF_THE_MACHINE = {"cpu_contention"}


@dataclasses.dataclass(frozen=True)
class Case:
    """One fault, or several at once, or none, in one workload."""

    faults: tuple[str, ...]  # as --inject takes them; none: it is run clean only
    workload: str = "mnist_mlp"
    options: tuple[str, ...] = ("--steps", "120")
    ranks: int = 2
    kill_after_s: float | None = None  # the run hangs: it is killed when training has stood so long
    is_short: bool = False  # in the version for CI: large against any noise

    @property
    def name(self):
        ranks = () if self.ranks == 2 else (f"x{self.ranks}",)
        return " ".join((self.workload, *self.options, *ranks, *self.faults))

    @property
    def baseline(self):
        """What is compared with it: cases of one baseline share their clean runs' noise."""
        return " ".join((self.workload, *self.options, f"x{self.ranks}"))


# So long that a run scatters little from the next: half of a second of training and more.
MNIST = ("mnist_mlp", ("--steps", "120"))
# 13 MB of gradients, nearly all of them of one layer.
WIDE = ("mnist_mlp", ("--steps", "40", "--hidden", "4096", "--bucket-mb", "0.01"))
# Some hundred parameters, so that how they are cut into buckets matters.
GPT = ("gpt", ("--steps", "60"))
# Batches that take long enough for their size to matter.
GPT_LARGE = ("gpt", ("--steps", "40", "--batch", "32"))
PIPELINE = ("pipeline", ("--steps", "40"))
# Rows so wide that their all-to-alls take long.
DLRM_WIDE = ("dlrm", ("--steps", "40", "--width", "256"))
DLRM = ("dlrm", ("--steps", "60"))
RESNET = ("resnet", ("--steps", "30"))
ZERO = ("zero", ("--steps", "60"))
TENSOR = ("tensor_parallel", ("--steps", "40"))


def _cases(workload, faults, **more):
    name, options = workload
    return [Case((fault,), name, options, **more) for fault in faults]


# What the first round of a campaign covers, in this order.
CASES = [
    # These stop the job.
    Case(("skip_collective:60s@1#10",), kill_after_s=4, is_short=True),
    Case(("skip_collective:60s@0#20",), kill_after_s=4),
    Case(("mismatched_size:50%@1#10",), is_short=True),
    Case(("mismatched_size:25%@0#20",)),
    # One fault of each size in the cheapest workload.
    *_cases(MNIST, ["slow_loader:15ms@1", "slow_loader:15ms"]),
    *_cases(MNIST, ["slow_loader:40ms@0", "few_workers:40ms"], is_short=True),
    *_cases(MNIST, ["few_workers:15ms@1"]),
    *_cases(MNIST, ["epoch_stall:100ms", "epoch_stall:200ms@1"]),
    *_cases(MNIST, ["extra_compute:3ms@0", "extra_compute:10ms@1"]),
    *_cases(MNIST, ["extra_compute:40ms@1"], is_short=True),
    *_cases(MNIST, ["data_imbalance:60%@1", "data_imbalance:90%@0"]),
    *_cases(MNIST, ["hiccups:50ms@1", "hiccups:100ms@0"]),
    *_cases(MNIST, ["log_pause:20ms", "checkpoint_pause:50ms"]),
    *_cases(MNIST, ["log_pause:100ms"], is_short=True),
    *_cases(MNIST, ["checkpoint_pause:200ms"], is_short=True),
    *_cases(MNIST, ["needless_barrier:5", "needless_barrier:20"]),
    *_cases(MNIST, ["tiny_operators:2000", "tiny_operators:5000@1"]),
    *_cases(MNIST, ["allocation_churn:48MiB@1", "allocation_churn:64MiB"]),
    *_cases(MNIST, ["cpu_contention:2@1", "cpu_contention:4"]),
    *_cases(MNIST, ["shape_churn:200%", "shape_churn:400%"]),
    *_cases(MNIST, ["memory_leak:256KiB"]),
    *_cases(MNIST, ["memory_leak:1MiB@1"], is_short=True),
    *_cases(WIDE, ["single_bucket"]),
    *_cases(GPT, ["late_allreduce", "tiny_buckets:1B", "recompute", "slow_loader:60ms@1"]),
    *_cases(GPT, ["extra_compute:30ms@0", "needless_barrier:30", "per_parameter_optimizer"]),
    *_cases(GPT_LARGE, ["data_imbalance:60%@1", "data_imbalance:90%@0"]),
    # Two at once: both are to be named before anything else.
    # (Not a loader's wait and compute of another rank: the shorter hides behind the longer.)
    Case(("log_pause:100ms", "extra_compute:10ms@1")),
    Case(("needless_barrier:20", "checkpoint_pause:100ms")),
    Case(("epoch_stall:200ms", "memory_leak:1MiB")),
    # The other workloads, with what each of them carries.
    *_cases(PIPELINE, ["pipeline_imbalance:100%@1", "pipeline_imbalance:150%@0"]),
    *_cases(PIPELINE, ["log_pause:100ms"]),
    *_cases(DLRM_WIDE, ["skewed_experts:80%@1"]),
    *_cases(DLRM, ["extra_compute:30ms@0", "slow_loader:60ms@1"]),
    *_cases(RESNET, ["extra_compute:60ms@1", "slow_loader:300ms@0", "checkpoint_pause:500ms"]),
    *_cases(ZERO, ["extra_compute:30ms@1", "memory_leak:1MiB@0", "hiccups:100ms@1"]),
    *_cases(TENSOR, ["extra_compute:30ms@0", "needless_barrier:30"]),
    # Four ranks.
    *_cases(MNIST, ["extra_compute:40ms@2", "slow_loader:60ms@3", "hiccups:100ms@1"], ranks=4),
    *_cases(GPT, ["extra_compute:60ms@1", "slow_loader:100ms@0,2"], ranks=4),
    *_cases(PIPELINE, ["pipeline_imbalance:200%@2"], ranks=4),
    # Nothing at all: clean runs that no pair has. (One rank of data_parallel is all there is.)
    Case((), *MNIST),
    Case((), *GPT),
    Case((), "linear", ("--steps", "100")),
    Case((), "data_parallel", ("--steps", "100"), ranks=1),
]
