#!/usr/bin/env python3
"""Gradient accumulation under DistributedDataParallel, with faults: a step is several batches,
and gradients are all-reduced in the last of them only.

    torchrun --nproc-per-node 2 samples/python/accumulate.py --inject slow_loader:30ms@1
"""
import contextlib

from torch import nn

import job as shared
from faults import OF_BATCHES, OF_BUCKETS, OF_COLLECTIVES

BATCHES_A_STEP = 4


def main():
    options = shared.parse_options(__doc__, OF_BATCHES | OF_BUCKETS | OF_COLLECTIVES)
    steps, options.steps = options.steps, options.steps * BATCHES_A_STEP
    with shared.Job(options) as job:
        parallel = shared.DataParallel(job)
        model = parallel.model
        optimizer = shared.optimizer_of(job, model.parameters())
        loss_function = nn.CrossEntropyLoss()
        for batch, images, labels in job.batches():
            step, place = divmod(batch, BATCHES_A_STEP)
            is_last = place == BATCHES_A_STEP - 1
            is_reduced = is_last and not parallel.is_late
            with contextlib.nullcontext() if is_reduced else model.no_sync():
                loss = loss_function(model(images), labels)
                if is_last:
                    job.faults.in_forward(step)
                    job.faults.change_collective(step)
                (loss / BATCHES_A_STEP).backward()
            if is_last:
                parallel.reduce_late()
                optimizer.step()
                optimizer.zero_grad()
                job.end_step(step, loss)
        assert len(job.losses) == steps


if __name__ == "__main__":
    main()
