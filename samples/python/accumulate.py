#!/usr/bin/env python3
"""Gradient accumulation under DistributedDataParallel, with faults: a step is several batches,
and gradients are all-reduced in the last of them only.

    torchrun --nproc-per-node 2 samples/python/accumulate.py --inject slow_loader:30ms@1
"""
import contextlib

from torch import nn
from torch.nn.parallel import DistributedDataParallel

import job as shared

BATCHES_A_STEP = 4


def main():
    options = shared.parse_options(__doc__)
    steps, options.steps = options.steps, options.steps * BATCHES_A_STEP
    with shared.Job(options, {"recompute", "per_parameter_optimizer"}) as job:
        model = DistributedDataParallel(nn.Sequential(*shared.layers(job)))
        optimizer = shared.optimizer_of(job, model.parameters())
        loss_function = nn.CrossEntropyLoss()
        for batch, images, labels in job.batches():
            step, place = divmod(batch, BATCHES_A_STEP)
            is_last = place == BATCHES_A_STEP - 1
            with contextlib.nullcontext() if is_last else model.no_sync():
                loss = loss_function(model(images), labels)
                if is_last:
                    job.faults.in_forward(step)
                    job.faults.change_collective(step)
                (loss / BATCHES_A_STEP).backward()
            if is_last:
                optimizer.step()
                optimizer.zero_grad()
                job.end_step(step, loss)
        assert len(job.losses) == steps


if __name__ == "__main__":
    main()
