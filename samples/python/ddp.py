#!/usr/bin/env python3
"""DistributedDataParallel, with faults.

    torchrun --nproc-per-node 2 samples/python/ddp.py --inject extra_compute:20ms@1
"""
import torch.distributed as dist
from torch import nn
from torch.nn.parallel import DistributedDataParallel

import job as shared

CARRIES = {"single_bucket", "tiny_buckets", "late_allreduce", "per_parameter_optimizer",
           "recompute"}


def bucket_mb(faults):
    """What bucket_cap_mb is, in MiB; None is PyTorch's own."""
    if faults.has("single_bucket"):
        return 1024
    size = faults.amount("tiny_buckets")
    return None if size is None else size / (1 << 20)


def reduce_gradients(model, world_size):
    for parameter in model.parameters():
        dist.all_reduce(parameter.grad)
        parameter.grad /= world_size


def main():
    options = shared.parse_options(__doc__)
    with shared.Job(options, CARRIES) as job:
        plain = nn.Sequential(*shared.layers(job))
        model = DistributedDataParallel(plain, bucket_cap_mb=bucket_mb(job.faults))
        optimizer = shared.optimizer_of(job, model.parameters())
        loss_function = nn.CrossEntropyLoss()
        is_late = job.faults.has("late_allreduce")
        model.require_backward_grad_sync = not is_late
        for step, images, labels in job.batches():
            optimizer.zero_grad()
            loss = loss_function(model(images), labels)
            job.faults.in_forward(step)
            job.faults.change_collective(step)
            loss.backward()
            if is_late:
                reduce_gradients(model, job.world_size)
            optimizer.step()
            job.end_step(step, loss)


if __name__ == "__main__":
    main()
