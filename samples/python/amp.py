#!/usr/bin/env python3
"""Mixed precision under DistributedDataParallel, with faults: forward in bfloat16, parameters and
gradients in 32 bits, the loss scaled as for float16. The fault fp32 leaves autocast out.

    torchrun --nproc-per-node 2 samples/python/amp.py --inject fp32
"""
import torch
from torch import nn

import job as shared
from faults import OF_BATCHES, OF_BUCKETS, OF_COLLECTIVES


def main():
    options = shared.parse_options(__doc__, OF_BATCHES | OF_BUCKETS | OF_COLLECTIVES | {"fp32"})
    with shared.Job(options) as job:
        parallel = shared.DataParallel(job)
        model = parallel.model
        optimizer = shared.optimizer_of(job, model.parameters())
        loss_function = nn.CrossEntropyLoss()
        scaler = torch.amp.GradScaler("cpu", init_scale=256.0)
        is_mixed = not job.faults.has("fp32")
        for step, images, labels in job.batches():
            optimizer.zero_grad()
            with torch.autocast("cpu", torch.bfloat16, enabled=is_mixed):
                loss = loss_function(model(images), labels)
                job.faults.in_forward(step)
            job.faults.change_collective(step)
            scaler.scale(loss).backward()
            parallel.reduce_late()
            scaler.step(optimizer)
            scaler.update()
            job.end_step(step, loss)


if __name__ == "__main__":
    main()
