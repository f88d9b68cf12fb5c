"""What the samples with faults share: options, the process group, data, the model's layers. An
ordinary PyTorch job that knows nothing of Tutti."""
import argparse
import itertools
import os
import random
import sys
import time

import torch
import torch.distributed as dist
from torch import nn
from torch.nn.parallel import DistributedDataParallel
from torch.utils.checkpoint import checkpoint
from torch.utils.data import DataLoader, Dataset

import faults

CLASSES, PIXELS = 10, 256
BATCHES_AN_EPOCH = 15
REPORT_EVERY = 10  # steps


def parse_options(description, carries, **defaults):
    """`carries`: kinds of faults that this program carries besides those of any."""
    parser = argparse.ArgumentParser(description=description.splitlines()[0])
    parser.add_argument("--steps", type=int, default=40)
    parser.add_argument("--batch", type=int, default=64, help="samples of a rank in a step")
    parser.add_argument("--width", type=int, default=512, help="of the hidden layers")
    parser.add_argument("--inject", action="append", default=[], metavar="KIND[:AMOUNT][@RANKS]",
                        help="a fault, as workloads/README.md says, as often as wanted; `list` "
                        "prints the kinds that this program carries")
    parser.set_defaults(**defaults)
    options = parser.parse_args()
    carried = faults.OF_ANY | carries
    if "list" in options.inject:
        print(*sorted(carried), sep="\n")
        raise SystemExit
    try:
        options.inject = [faults.parse(text, carried) for text in options.inject]
    except ValueError as error:
        parser.error(str(error))
    return options


class Job:
    """The ranks of a training run and the faults of this one. As a context it starts and ends
    the process group."""

    def __init__(self, options, is_data_shared=False):
        """`is_data_shared`: all ranks draw the same samples."""
        self.options = options
        self.rank = int(os.environ.setdefault("RANK", "0"))
        self.world_size = int(os.environ.setdefault("WORLD_SIZE", "1"))
        self.faults = faults.Faults(options.inject, self.rank)
        self.draws_as = 0 if is_data_shared else self.rank
        self.losses = []

    def __enter__(self):
        os.environ.setdefault("MASTER_ADDR", "127.0.0.1")
        os.environ.setdefault("MASTER_PORT", "29500")
        torch.set_num_threads(1)  # ranks share the cores
        dist.init_process_group("gloo")
        torch.manual_seed(1)
        return self

    def __exit__(self, kind, error, trace):
        if kind is not None:
            # Not the group's orderly end: the other ranks may hang in a collective.
            print(f"rank {self.rank}: {error}", file=sys.stderr, flush=True)
            os._exit(1)
        if self.losses and self.rank == self.world_size - 1:
            print(f"{len(self.losses)} steps, loss {self.losses[0]:.4f} -> {self.losses[-1]:.4f}")
        dist.barrier()
        dist.destroy_process_group()
        # Not the interpreter's way out: PyTorch 2.11 now and then aborts there.
        sys.stdout.flush()
        os._exit(0)

    def batches(self):
        """(step, images, labels) of every step, epoch by epoch."""
        loader, step = self.loader(), 0
        for epoch in itertools.count():
            loader.sampler.epoch = epoch
            for images, labels in loader:
                yield step, images, labels
                step += 1
                if step == self.options.steps:
                    return

    def loader(self):
        few = self.faults.amount("few_workers")
        stall = self.faults.amount("epoch_stall")
        return DataLoader(
            Patterns(self.faults.amount("slow_loader") or few or 0), batch_size=None,
            sampler=Batches(self), num_workers=1,
            persistent_workers=stall is None, worker_init_fn=stall and Delay(stall))

    def end_step(self, step, loss):
        if loss is not None:
            self.losses.append(loss.item())
            if (step + 1) % REPORT_EVERY == 0 and self.rank == self.world_size - 1:
                print(f"step {step + 1:4}  loss {self.losses[-1]:.4f}", flush=True)
        self.faults.at_end_of_step(step)


class Delay:
    """Sets a worker of the loader up, slowly."""

    def __init__(self, seconds):
        self.seconds = seconds

    def __call__(self, worker):
        time.sleep(self.seconds)


class Patterns(Dataset):
    """Images of ten patterns with noise: enough to see that training learns. A key is the seed
    and the number of the samples of a batch."""

    def __init__(self, load_s):
        self.load_s = load_s
        self.patterns = torch.rand(CLASSES, PIXELS, generator=torch.Generator().manual_seed(1))

    def __getitem__(self, key):
        seed, count = key
        generator = torch.Generator().manual_seed(seed)
        time.sleep(self.load_s)
        labels = torch.randint(CLASSES, (count,), generator=generator)
        noise = torch.randn(count, PIXELS, generator=generator)
        return self.patterns[labels] + 0.3 * noise, labels

    def __len__(self):
        return BATCHES_AN_EPOCH


class Batches:
    """Sampler of the keys of an epoch's batches; their sizes carry data_imbalance and
    shape_churn."""

    def __init__(self, job):
        self.job, self.epoch = job, 0

    def __len__(self):
        return BATCHES_AN_EPOCH

    def __iter__(self):
        for i in range(BATCHES_AN_EPOCH):
            step = self.epoch * BATCHES_AN_EPOCH + i
            yield step * self.job.world_size + self.job.draws_as, self.size(step)

    def size(self, step):
        size = self.job.options.batch
        churn = self.job.faults.amount("shape_churn", step)
        draw = random.Random(step)
        if churn and draw.randrange(3) == 0:
            size = round(size * (1 + churn * draw.random()))
        for fault in self.job.faults.faults:  # what one rank has more the others have less
            if fault.kind == "data_imbalance" and step in fault.steps:
                sign = 1 if fault.acts(self.job.rank, step) else -1
                size = max(round(size * (1 + sign * fault.amount)), 1)
        return size


class Layer(nn.Module):
    """One hidden layer; with `recomputes` its activations are computed again in backward."""

    def __init__(self, inputs, outputs, recomputes=False):
        super().__init__()
        self.linear, self.recomputes = nn.Linear(inputs, outputs), recomputes

    def forward(self, x):
        if self.recomputes:
            return checkpoint(self.activate, x, use_reentrant=False)
        return self.activate(x)

    def activate(self, x):
        return nn.functional.gelu(self.linear(x))


def layers(job, count=4):
    """The layers of a perceptron, in order."""
    width, recomputes = job.options.width, job.faults.has("recompute")
    hidden = [Layer(width, width, recomputes) for _ in range(count - 1)]
    return [Layer(PIXELS, width, recomputes), *hidden, nn.Linear(width, CLASSES)]


class DataParallel:
    """Layers under DistributedDataParallel, whose buckets carry faults."""

    def __init__(self, job):
        self.job, self.is_late = job, job.faults.has("late_allreduce")
        self.model = DistributedDataParallel(nn.Sequential(*layers(job)),
                                             bucket_cap_mb=bucket_mb(job.faults))
        self.model.require_backward_grad_sync = not self.is_late

    def reduce_late(self):
        """After backward: what backward has left out."""
        for parameter in self.model.parameters() if self.is_late else ():
            dist.all_reduce(parameter.grad)
            parameter.grad /= self.job.world_size


def bucket_mb(faults_of_rank):
    """What bucket_cap_mb is, in MiB; None is PyTorch's own."""
    if faults_of_rank.has("single_bucket"):
        return 1024
    size = faults_of_rank.amount("tiny_buckets")
    return None if size is None else size / (1 << 20)


def optimizer_of(job, parameters):
    foreach = not job.faults.has("per_parameter_optimizer")
    return torch.optim.AdamW(parameters, lr=3e-4, foreach=foreach)
