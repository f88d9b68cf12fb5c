#!/usr/bin/env python3
"""The analysis by several MPI processes: how its time and memory go with their number.

processes.py PEAKS LIMIT PROGRAM...: one of the processes. Runs PROGRAM with at most LIMIT bytes of
address space (0: any), and leaves its peak resident memory as a file of the folder PEAKS.
"""
import os
import pathlib
import resource
import shutil
import statistics
import subprocess
import sys
import time

from measure import BenchError, Figure, json_of

RANKS = 1024
EVENTS = 6_000_000
PROCESSES = (1, 2, 4)


class Peaks:
    """What each process of one job needed."""

    def __init__(self, folder):
        self.folder = folder
        shutil.rmtree(folder, ignore_errors=True)
        folder.mkdir()

    def bytes(self):
        return [int(file.read_text()) for file in sorted(self.folder.iterdir())]


def job(build, run, processes, limit=0):
    """(seconds, [peak resident bytes of each process]) of one analysis."""
    mpirun = shutil.which("mpirun")
    if mpirun is None:
        raise BenchError("no mpirun (Debian: openmpi-bin)")
    peaks = Peaks(build.scratch / "peaks")
    command = [mpirun, "--allow-run-as-root", "--oversubscribe", "--bind-to", "none", "-np",
               str(processes), sys.executable, __file__, str(peaks.folder), str(limit),
               build.program("cli/tutti-analyze-mpi"), "--memory", "8", run]
    begin = time.perf_counter()
    done = subprocess.run(command, stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, text=True)
    seconds = time.perf_counter() - begin
    if done.returncode != 0:
        raise BenchError(f"{processes} processes: " + done.stderr.strip()[-300:])
    return seconds, peaks.bytes()


def curve(build, rounds):
    run = pathlib.Path(build.new_run())
    run.mkdir()
    made = json_of([build.program("tests/bench/analyze_bench"), str(EVENTS), str(RANKS), str(run)])
    figure = Figure(f"time of one MPI process / {PROCESSES[-1]}", [])
    results = {p: [job(build, str(run), p) for _ in range(rounds or 3)] for p in PROCESSES}
    seconds = {p: statistics.median(s for s, _ in of) for p, of in results.items()}
    figure.values = [seconds[1] / s for s, _ in results[PROCESSES[-1]]]
    figure.notes.append(f"{RANKS:,} ranks, {made['events']:,} events, "
                        f"{made['trace_bytes'] / 1e6:,.0f} MB")
    for processes, of in results.items():
        peaks = [max(peaks) / 1e6 for _, peaks in of]
        others = [min(peaks) / 1e6 for _, peaks in of]
        bar = "#" * max(round(seconds[processes] / max(seconds.values()) * 40), 1)
        figure.notes.append(f"{processes:2} processes {seconds[processes]:6.1f} s, leader "
                            f"{max(peaks):4,.0f} MB, others {max(others):4,.0f} MB  {bar}")
    return [figure]


def main():
    peaks, limit, *command = sys.argv[1:]
    if int(limit) > 0:
        resource.setrlimit(resource.RLIMIT_AS, (int(limit), int(limit)))
    code = subprocess.run(command).returncode
    peak = resource.getrusage(resource.RUSAGE_CHILDREN).ru_maxrss * 1024
    pathlib.Path(peaks, os.environ["OMPI_COMM_WORLD_RANK"]).write_text(str(peak))
    return code


if __name__ == "__main__":
    sys.exit(main())
