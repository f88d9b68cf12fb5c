"""Benchmarks of whole training jobs of two ranks on this machine."""
import json
import pathlib
import re
import resource
import sqlite3
import statistics
import subprocess
import sys
import time

from measure import ROOT, BenchError, Figure, in_mirrored_turns, output_of, ratios

sys.path.insert(0, str(ROOT / "tools"))
import ranks  # noqa: E402

RANKS = 2
TARGET = 1.01  # up to so many callbacks a second on one thread:
TARGET_CALLBACKS_PER_S = 25_000


def untraced(command):
    """Standard output of rank 0."""
    results = ranks.run_ranks(command, RANKS, timeout_s=600)
    for status, _, err in results:
        if status != 0:
            last = (err.strip().splitlines() or ["no message"])[-1]
            raise BenchError(f"{pathlib.Path(command[0]).name} ended with {status}: {last}")
    return results[0][1]


def traced(build, command, *options):
    record = [build.tutti(), "record", "-o", build.new_run(), "--nproc", str(RANKS), *options]
    return output_of([*record, "--", *command])


def last_recording(build):
    """(callbacks of the busiest thread of rank 0, steps) of what traced() wrote last."""
    report = json.loads(
        output_of([build.tutti(), "report", str(build.scratch / "run"), "--format", "json"])
    )
    if report["data_quality"]["events_lost"]:
        raise BenchError(f"{report['data_quality']['events_lost']} events were lost")
    if report["run"]["ranks"] != RANKS:
        raise BenchError(f"{report['run']['ranks']} ranks were recorded")
    rank = sqlite3.connect(f"file:{build.scratch}/run/rank-00000.sqlite?mode=ro", uri=True)
    busiest = rank.execute(
        "SELECT max(events) FROM (SELECT sum(n) AS events FROM"
        " (SELECT tid, count(*) AS n FROM cpu_op GROUP BY tid"
        "  UNION ALL SELECT tid, count(*) FROM memory_event GROUP BY tid) GROUP BY tid)"
    ).fetchone()[0]
    steps = rank.execute("SELECT count(*) FROM step").fetchone()[0]
    rank.close()
    return busiest, steps, report["data_quality"]["events"]


def step_figures(name, turns, per_step):
    """The figures of a job's step times in ms, by arm."""
    median = {arm: statistics.median(times) for arm, times in turns.items()}
    per_s = per_step / median["untraced"] * 1000
    figure = Figure(
        f"{name}: traced / untraced",
        ratios(turns["traced"], turns["untraced"]),
        at_most=TARGET if per_s <= TARGET_CALLBACKS_PER_S else None,
        format="{:.3f}",
    )
    added_ns = (figure.median() - 1) * median["untraced"] * 1e6
    figure.notes.append(
        f"step {median['untraced']:.2f} ms untraced; {per_step:.0f} events a step, {per_s:,.0f} a "
        f"second on the busiest thread; {added_ns / per_step:.0f} ns each"
    )
    figures = [figure]
    if "profiler" in turns:
        beside = Figure(f"{name}: torch.profiler / untraced",
                        ratios(turns["profiler"], turns["untraced"]), format="{:.3f}")
        beside.notes.append(f"step {median['profiler']:.2f} ms")
        figures.append(beside)
    return figures


def step_ms(text):
    return float(re.search(r"step time median ([\d.]+) ms", text)[1])


def mnist_mlp(build, rounds):
    """At its default size, and so large that the target's rate is kept."""
    figures = []
    program = build.program("workloads/mnist_mlp")
    for name, flags in [("mnist_mlp", ["--steps", "400"]),
                        ("large mnist_mlp",
                         ["--steps", "60", "--hidden", "2048", "--batch", "256"])]:
        command = [program, *flags]
        turns = in_mirrored_turns(
            {"untraced": lambda: step_ms(untraced(command)),
             "traced": lambda: step_ms(traced(build, command))},
            rounds or 10,
        )
        busiest, steps, _ = last_recording(build)
        figures += step_figures(name, turns, busiest / steps)
    return figures


def live(build, rounds):
    """So many steps that the window rolls: what goes is more than what stays."""
    command = [build.program("workloads/mnist_mlp"), "--steps", "3000"]
    dumps = []

    def live_step_ms():
        found = step_ms(traced(build, command, "--live", "--metrics-port", "0"))
        run = build.scratch / "run"
        dumps.append(len(list(run.glob("dumps/*"))))
        rank = sqlite3.connect(f"file:{run}/rank-00000.sqlite?mode=ro", uri=True)
        kept, first = rank.execute("SELECT count(*), min(number) FROM step").fetchone()
        rank.close()
        if first <= kept:
            raise BenchError(f"the window did not roll: {kept} steps from {first} on are kept")
        return found

    turns = in_mirrored_turns(
        {"untraced": lambda: step_ms(untraced(command)),
         "traced": lambda: step_ms(traced(build, command)),
         "live": live_step_ms},
        rounds or 6,
    )
    median = {arm: statistics.median(times) for arm, times in turns.items()}
    beside = Figure("record --live / record", ratios(turns["live"], turns["traced"]),
                    format="{:.3f}")
    beside.notes.append(
        f"step {median['untraced']:.2f} ms untraced, {median['traced']:.2f} recorded, "
        f"{median['live']:.2f} with --live; dumps {min(dumps)} to {max(dumps)} a run")
    whole = Figure("record --live / untraced", ratios(turns["live"], turns["untraced"]),
                   format="{:.3f}")
    return [beside, whole]


def python_sample(build, rounds):
    find = subprocess.run([str(ROOT / "tools/setup/find_job_python.sh")], stdout=subprocess.PIPE,
                          text=True)
    if find.returncode != 0:
        raise BenchError("there is no python with torch (./dev setup python)")
    runner = str(pathlib.Path(__file__).with_name("sample_runner.py"))
    command = [find.stdout.strip(), runner, "--steps", "300"]
    turns = in_mirrored_turns(
        {"untraced": lambda: step_ms(untraced(command)),
         "traced": lambda: step_ms(traced(build, command)),
         "profiler": lambda: step_ms(untraced([*command, "--profiler"]))},
        rounds or 6,
    )
    busiest, _, _ = last_recording(build)
    return step_figures("ddp_mnist.py", turns, busiest / 300)


def analyze(build, rounds):
    """Of a fresh recording; the figures are for orientation."""
    traced(build, [build.program("workloads/mnist_mlp"), "--steps", "1000"])
    _, _, events = last_recording(build)
    run = build.scratch / "run"
    seconds = []
    cpu_seconds = []
    for _ in range(rounds or 5):
        before = resource.getrusage(resource.RUSAGE_CHILDREN)
        begin = time.monotonic()
        output_of([build.tutti(), "analyze", str(run)])
        seconds.append(time.monotonic() - begin)
        after = resource.getrusage(resource.RUSAGE_CHILDREN)
        cpu_seconds.append(after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime)
    rate = Figure("thousand events analyzed a second of CPU time",
                  [events / s / 1000 for s in cpu_seconds], format="{:.0f}")
    rate.notes.append(f"{events:,} events of two ranks in {statistics.median(seconds):.2f} s")
    size = sum(file.stat().st_size for file in run.glob("rank-*.sqlite"))
    disk = Figure("bytes per event on disk", [size / events], format="{:.1f}")
    disk.notes.append(f"{size / 1e6:.1f} MB in the rank files of that recording")
    return [rate, disk]
