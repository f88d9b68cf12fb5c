#!/usr/bin/env python3
"""Fully sharded data parallelism (torch.distributed.fsdp.fully_shard), with faults: each layer's
parameters are all-gathered before they are used, its gradients reduce-scattered.

    torchrun --nproc-per-node 2 samples/python/fsdp2.py --inject extra_compute:20ms@1
"""
from torch import nn
from torch.distributed.fsdp import fully_shard

import job as shared
from faults import OF_BATCHES, OF_COLLECTIVES


def main():
    options = shared.parse_options(__doc__, OF_BATCHES | OF_COLLECTIVES)
    with shared.Job(options) as job:
        model = nn.Sequential(*shared.layers(job))
        for layer in model:
            fully_shard(layer)
        fully_shard(model)
        optimizer = shared.optimizer_of(job, model.parameters())
        loss_function = nn.CrossEntropyLoss()
        for step, images, labels in job.batches():
            optimizer.zero_grad()
            loss = loss_function(model(images), labels)
            job.faults.in_forward(step)
            job.faults.change_collective(step)
            loss.backward()
            optimizer.step()
            job.end_step(step, loss)


if __name__ == "__main__":
    main()
