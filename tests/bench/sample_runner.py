"""Runs samples/python/ddp_mnist.py as it is, and has rank 0 print its median step time.

    sample_runner.py [OPTIONS of the sample] [--profiler]

--profiler: with torch.profiler recording all the while.
"""
import os
import pathlib
import runpy
import statistics
import sys
import time

import torch
from torch.optim.optimizer import register_optimizer_step_post_hook

SAMPLE = pathlib.Path(__file__).resolve().parents[2] / "samples/python/ddp_mnist.py"
WARM_UP_STEPS = 20


def main():
    with_profiler = "--profiler" in sys.argv
    sys.argv = [str(SAMPLE)] + [word for word in sys.argv[1:] if word != "--profiler"]
    ends_ns = []
    register_optimizer_step_post_hook(lambda *_: ends_ns.append(time.perf_counter_ns()))
    profiler = torch.profiler.profile(activities=[torch.profiler.ProfilerActivity.CPU])
    if with_profiler:
        profiler.start()
    try:
        runpy.run_path(str(SAMPLE), run_name="__main__")
    except SystemExit as ended:
        steady = ends_ns[WARM_UP_STEPS:]
        times_ns = [after - before for before, after in zip(steady, steady[1:])]
        if os.environ.get("RANK", "0") == "0":
            print(f"step time median {statistics.median(times_ns) / 1e6:.3f} ms", flush=True)
        if with_profiler:
            profiler.stop()
            if not profiler.events():
                print("torch.profiler recorded nothing", file=sys.stderr, flush=True)
                os._exit(1)
        # Not by way of the interpreter's end: there PyTorch 2.11 now and then waits for ever, for
        # a thread of Gloo that waits for the interpreter. The exception keeps the objects alive.
        os._exit(ended.code or 0)


if __name__ == "__main__":
    main()
