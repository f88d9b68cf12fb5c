#!/usr/bin/env python3
"""Trains on GPU 0 and tells what it did as one line of JSON, for tools/gpu_check.

    training.py [--steps N] [--profiler] [--size WIDTH]

One rank of DistributedDataParallel with NCCL; warm-up steps, then N steps inside the NVTX range
"measured". --profiler: those run under torch.profiler, and the line lists the kernels that it saw:
name, how many, their times' sum.
"""
import argparse
import collections
import json
import os
import time

import torch
import torch.distributed as dist
from torch import nn
from torch.nn.parallel import DistributedDataParallel

WARM_UP_STEPS = 10


def parse_arguments():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--steps", type=int, default=100)
    parser.add_argument("--profiler", action="store_true")
    parser.add_argument("--size", type=int, default=2048, help="width of the layers")
    return parser.parse_args()


def make_step(size):
    """A function that trains one step and waits for its end."""
    torch.manual_seed(1)
    layers = []
    for _ in range(6):
        layers += [nn.Linear(size, size), nn.ReLU()]
    model = DistributedDataParallel(nn.Sequential(*layers).cuda(), device_ids=[0])
    optimizer = torch.optim.SGD(model.parameters(), lr=1e-3)
    inputs = torch.randn(512, size, device="cuda")
    host = torch.randn(512, size).pin_memory()

    def step():
        inputs.copy_(host, non_blocking=True)
        optimizer.zero_grad(set_to_none=True)
        model(inputs).square().mean().backward()
        optimizer.step()
        torch.cuda.synchronize()

    return step


def run_measured(step, steps):
    times = []
    torch.cuda.nvtx.range_push("measured")
    for _ in range(steps):
        begin_ns = time.monotonic_ns()
        step()
        times.append(time.monotonic_ns() - begin_ns)
    torch.cuda.nvtx.range_pop()
    return times


def run_profiled(step, steps):
    """The steps' times, and the kernels that torch.profiler saw."""
    activities = [torch.profiler.ProfilerActivity.CPU, torch.profiler.ProfilerActivity.CUDA]
    with torch.profiler.profile(activities=activities) as profile:
        times = run_measured(step, steps)
    kernels = collections.defaultdict(lambda: [0, 0])
    for event in profile.profiler.kineto_results.events():
        is_kernel = event.device_type() == torch.autograd.DeviceType.CUDA and not (
            event.name().startswith(("Memcpy", "Memset")) or event.is_user_annotation())
        if is_kernel:
            kernels[event.name()][0] += 1
            kernels[event.name()][1] += event.duration_ns()
    return times, [[name, count, ns] for name, (count, ns) in kernels.items()]


def main():
    options = parse_arguments()
    for name, value in [("RANK", "0"), ("WORLD_SIZE", "1"), ("LOCAL_RANK", "0"),
                        ("MASTER_ADDR", "127.0.0.1"), ("MASTER_PORT", "29517")]:
        os.environ.setdefault(name, value)
    torch.cuda.set_device(0)
    dist.init_process_group("nccl")
    step = make_step(options.size)
    for _ in range(WARM_UP_STEPS):
        step()
    kernels = []
    if options.profiler:
        times, kernels = run_profiled(step, options.steps)
    else:
        times = run_measured(step, options.steps)
    print(json.dumps({"program": "training", "step_ns": times, "kernels": kernels}), flush=True)
    dist.destroy_process_group()


if __name__ == "__main__":
    main()
