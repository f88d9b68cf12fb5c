"""Faults of known kind, size, ranks and steps that the samples inject into themselves, so that a
diagnosis can be checked against what really was wrong. They are written, and mean, as those of
the C++ workloads do (workloads/README.md): KIND[:AMOUNT][@RANKS][#STEPS]."""
import dataclasses
import hashlib
import random
import re
import threading
import time

import torch
import torch.distributed as dist

# What the amount of a kind is; None: it has none.
KINDS = {
    "slow_loader": "duration", "few_workers": "duration", "epoch_stall": "duration",
    "extra_compute": "duration", "hiccups": "duration", "log_pause": "duration",
    "checkpoint_pause": "duration", "skip_collective": "duration",
    "needless_barrier": "count", "tiny_operators": "count", "cpu_contention": "count",
    "allocation_churn": "size", "memory_leak": "size", "tiny_buckets": "size",
    "data_imbalance": "share", "shape_churn": "share", "pipeline_imbalance": "share",
    "mismatched_size": "share",
    "single_bucket": None, "late_allreduce": None, "per_parameter_optimizer": None,
    "recompute": None, "fp32": None,
}
# What any training loop can carry; each program says what else it carries.
OF_ANY = {"slow_loader", "few_workers", "epoch_stall", "extra_compute", "hiccups", "log_pause",
          "checkpoint_pause", "tiny_operators", "cpu_contention", "allocation_churn",
          "memory_leak", "recompute", "per_parameter_optimizer"}
OF_COLLECTIVES = {"skip_collective", "mismatched_size", "needless_barrier"}
OF_BATCHES = {"data_imbalance", "shape_churn"}
OF_BUCKETS = {"single_bucket", "tiny_buckets", "late_allreduce"}
# They would be none if all ranks had them.
OF_ONE_RANK = {"data_imbalance", "pipeline_imbalance", "skip_collective", "mismatched_size"}
STOP_THE_JOB = {"skip_collective", "mismatched_size"}
UNITS = {
    "duration": {"us": 1e-6, "ms": 1e-3, "s": 1.0},
    "count": {"": 1},
    "size": {"B": 1, "KiB": 1 << 10, "MiB": 1 << 20, "GiB": 1 << 30},
    "share": {"%": 0.01},
}
# KIND, number and unit of the amount, ranks, first step, colon, last step.
FAULT = re.compile(
    r"(\w+)(?::(\d+(?:\.\d+)?)([A-Za-z%]*))?(?:@(\d+(?:-\d+)?(?:,\d+(?:-\d+)?)*))?"
    r"(?:#(?=\d|:)(\d*)(:?)(\d*))?")
HICCUP_EVERY, CHECKPOINT_EVERY, LOG_EVERY = 10, 10, 5


@dataclasses.dataclass(frozen=True)
class Fault:
    kind: str
    amount: float  # seconds, a count, bytes or a share of 1; 0 for kinds without
    ranks: frozenset | None  # None: all
    steps: range

    def acts(self, rank, step):
        return (self.ranks is None or rank in self.ranks) and step in self.steps


def parse(text, carried):
    """A fault of the kinds that are carried; ValueError with a line for the user."""
    match = FAULT.fullmatch(text)
    if not match:
        raise ValueError(f"--inject {text}: not KIND[:AMOUNT][@RANKS][#STEPS]")
    if match[1] not in carried:
        raise ValueError(f"--inject {match[1]}: this program does not carry it, but "
                         + ", ".join(sorted(carried)))
    kind, number, unit, ranks, first, colon, last = match.groups()
    unit_of = UNITS.get(KINDS[kind])
    if (number is None) != (unit_of is None) or (unit_of and unit not in unit_of):
        units = f"a {KINDS[kind]}" if unit_of else "no amount"
        raise ValueError(f"--inject {text}: {kind} takes {units}")
    amount = float(number) * unit_of[unit] if unit_of else 0.0
    return Fault(kind, amount, _ranks(kind, ranks), _steps(kind, first, colon, last))


def _ranks(kind, text):
    if not text:
        return frozenset([1]) if kind in OF_ONE_RANK else None
    ranks = set()
    for part in text.split(","):
        low, _, high = part.partition("-")
        ranks.update(range(int(low), int(high or low) + 1))
    return frozenset(ranks)


def _steps(kind, first, colon, last):
    if first is None:
        return range(10, 11) if kind in STOP_THE_JOB else range(1 << 40)
    begin = int(first or 0)
    if not colon:
        return range(begin, begin + 1)
    return range(begin, int(last) if last else 1 << 40)


class Faults:
    """What is wrong with this rank. The programs ask at the places where a fault acts."""

    def __init__(self, faults, rank):
        self.faults, self.rank = faults, rank
        self.kept = []  # memory that leaks
        self.spinners = []

    def amount(self, kind, step=0):
        """Sum of the amounts of this kind here and now; None if there is none."""
        amounts = [fault.amount for fault in self.faults
                   if fault.kind == kind and fault.acts(self.rank, step)]
        return sum(amounts) if amounts else None

    def has(self, kind, step=0):
        return self.amount(kind, step) is not None

    def in_forward(self, step):
        if extra_s := self.amount("extra_compute", step):
            compute_for(extra_s)
        if away_s := self.amount("hiccups", step):
            if random.Random(step * 1_000_003 + self.rank).randrange(HICCUP_EVERY) == 0:
                time.sleep(away_s)
        with torch.no_grad():
            numbers = torch.zeros(16)
            for _ in range(int(self.amount("tiny_operators", step) or 0)):
                numbers = numbers + 1
            if taken := self.amount("allocation_churn", step):
                torch.ones(int(taken), dtype=torch.uint8)
        if threads := self.amount("cpu_contention", step):
            self.spin(int(threads))

    def at_end_of_step(self, step):
        if kept := self.amount("memory_leak", step):
            self.kept.append(torch.ones(int(kept), dtype=torch.uint8))
        for _ in range(int(self.amount("needless_barrier", step) or 0)):
            dist.barrier()
        if (pause_s := self.amount("log_pause", step)) and step % LOG_EVERY == LOG_EVERY - 1:
            time.sleep(pause_s)
        if (pause_s := self.amount("checkpoint_pause", step)) and (
                step % CHECKPOINT_EVERY == CHECKPOINT_EVERY - 1):
            time.sleep(pause_s)

    def change_collective(self, step):
        """Before the gradients of a step are reduced: what stops the job."""
        if away_s := self.amount("skip_collective", step):
            time.sleep(away_s)
            raise SystemExit("skip_collective: this rank leaves")
        if any(f.kind == "mismatched_size" and step in f.steps for f in self.faults):
            share = self.amount("mismatched_size", step) or 0
            dist.all_reduce(torch.ones(int(100_000 * (1 - share))))

    def spin(self, threads):
        """Threads that need a core each and hold no lock of Python while they use it."""
        content = bytes(1 << 24)

        def use_a_core():
            while True:
                hashlib.sha256(content)

        while len(self.spinners) < threads:
            self.spinners.append(threading.Thread(target=use_a_core, daemon=True))
            self.spinners[-1].start()


def compute_for(seconds):
    matrix = torch.ones(192, 192)
    end = time.perf_counter() + seconds
    with torch.no_grad():
        while time.perf_counter() < end:
            torch.mm(matrix, matrix)
