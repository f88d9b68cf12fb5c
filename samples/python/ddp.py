#!/usr/bin/env python3
"""DistributedDataParallel, with faults.

    torchrun --nproc-per-node 2 samples/python/ddp.py --inject extra_compute:20ms@1
"""
from torch import nn

import job as shared
from faults import OF_BATCHES, OF_BUCKETS, OF_COLLECTIVES


def main():
    options = shared.parse_options(__doc__, OF_BATCHES | OF_BUCKETS | OF_COLLECTIVES)
    with shared.Job(options) as job:
        parallel = shared.DataParallel(job)
        model = parallel.model
        optimizer = shared.optimizer_of(job, model.parameters())
        loss_function = nn.CrossEntropyLoss()
        for step, images, labels in job.batches():
            optimizer.zero_grad()
            loss = loss_function(model(images), labels)
            job.faults.in_forward(step)
            job.faults.change_collective(step)
            loss.backward()
            parallel.reduce_late()
            optimizer.step()
            job.end_step(step, loss)


if __name__ == "__main__":
    main()
