#!/usr/bin/env python3
"""nn.DataParallel, with faults: one process on all GPUs. Without GPUs it is the plain model.

    python samples/python/data_parallel.py --inject slow_loader:30ms
"""
import torch
from torch import nn

import job as shared


def main():
    options = shared.parse_options(__doc__, {"shape_churn"})
    with shared.Job(options) as job:
        if job.world_size != 1:
            raise SystemExit("nn.DataParallel is one process: start it without a launcher")
        device = torch.device("cuda" if torch.cuda.is_available() else "cpu")
        model = nn.DataParallel(nn.Sequential(*shared.layers(job)).to(device))
        optimizer = shared.optimizer_of(job, model.parameters())
        loss_function = nn.CrossEntropyLoss()
        for step, images, labels in job.batches():
            optimizer.zero_grad()
            loss = loss_function(model(images.to(device)), labels.to(device))
            job.faults.in_forward(step)
            loss.backward()
            optimizer.step()
            job.end_step(step, loss)


if __name__ == "__main__":
    main()
