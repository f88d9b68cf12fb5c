#!/usr/bin/env python3
"""Pipeline parallelism (torch.distributed.pipelining, 1F1B), with faults: each rank has some of
the layers, and a step is several micro-batches.

    torchrun --nproc-per-node 2 samples/python/pipeline.py --inject pipeline_imbalance:100%@1
"""
import time

import torch
from torch import nn
from torch.distributed.pipelining import PipelineStage, Schedule1F1B

import faults
import job as shared

MICRO_BATCHES = 8


class Slower(nn.Module):
    """Layers that compute longer by a share of what they take."""

    def __init__(self, stage, share):
        super().__init__()
        self.stage, self.share = stage, share

    def forward(self, x):
        began = time.perf_counter()
        y = self.stage(x)
        faults.compute_for(self.share * (time.perf_counter() - began))
        return y


def stage_of(job):
    """This rank's part of the layers."""
    layers = shared.layers(job, count=2 * job.world_size)
    first = len(layers) * job.rank // job.world_size
    last = len(layers) * (job.rank + 1) // job.world_size
    stage = nn.Sequential(*layers[first:last])
    share = job.faults.amount("pipeline_imbalance")
    return stage if share is None else Slower(stage, share)


def main():
    carries = faults.OF_COLLECTIVES | {"pipeline_imbalance"}
    options = shared.parse_options(__doc__, carries, batch=256)
    with shared.Job(options, is_data_shared=True) as job:
        module = stage_of(job)
        stage = PipelineStage(module, job.rank, job.world_size, torch.device("cpu"))
        schedule = Schedule1F1B(stage, MICRO_BATCHES, loss_fn=nn.CrossEntropyLoss())
        optimizer = shared.optimizer_of(job, module.parameters())
        is_last = job.rank == job.world_size - 1
        for step, images, labels in job.batches():
            optimizer.zero_grad()
            losses = []
            job.faults.change_collective(step)
            inputs = (images,) if job.rank == 0 else ()
            schedule.step(*inputs, target=labels if is_last else None,
                          losses=losses if is_last else None)
            job.faults.in_forward(step)
            optimizer.step()
            job.end_step(step, torch.stack(losses).mean() if is_last else None)


if __name__ == "__main__":
    main()
