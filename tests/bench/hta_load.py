"""hta_load.py FOLDER: loads a folder of traces with HTA and runs its analyses, as its users do.

Prints one line of JSON: seconds from the start of the process, and peak memory.
"""
import json
import logging
import os
import resource
import sys

ANALYSES = (
    ("get_temporal_breakdown", {"visualize": False}),
    ("get_idle_time_breakdown", {"visualize": False}),
    ("get_comm_comp_overlap", {"visualize": False}),
    ("get_gpu_kernel_breakdown", {"visualize": False}),
    ("get_cuda_kernel_launch_stats", {"visualize": False}),
    ("get_memory_bw_summary", {}),
    ("get_queue_length_summary", {}),
)


def process_age_s():
    """Since this process was started: importing HTA is part of using it."""
    ticks = int(open("/proc/self/stat").read().rsplit(")", 1)[1].split()[19])
    uptime_s = float(open("/proc/uptime").read().split()[0])
    return uptime_s - ticks / os.sysconf("SC_CLK_TCK")


def main():
    from hta.trace_analysis import TraceAnalysis

    logging.disable(logging.CRITICAL)
    analysis = TraceAnalysis(trace_dir=sys.argv[1])
    skipped = []
    for name, options in ANALYSES:
        try:
            getattr(analysis, name)(**options)
        except Exception as error:  # some analyses fail on some traces; what it did counts
            skipped.append(f"{name}: {type(error).__name__}")
    # HTA parses ranks in processes of its own.
    peak_kb = max(resource.getrusage(who).ru_maxrss
                  for who in (resource.RUSAGE_SELF, resource.RUSAGE_CHILDREN))
    print(json.dumps({"seconds": process_age_s(), "peak_bytes": peak_kb * 1024,
                      "skipped": skipped}))


if __name__ == "__main__":
    main()
