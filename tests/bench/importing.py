"""Benchmarks of files of other tools: reading them, and all analyses, against other readers."""
import functools
import os
import pathlib
import shutil
import statistics
import subprocess
import sys
import tempfile
import time

import make_trace
from measure import ROOT, BenchError, Figure, in_mirrored_turns, json_of, ratios

MEGA = 1_000_000
GENERATED_BYTES = 120 * MEGA
LARGE_BYTES = 2_000 * MEGA
LARGE_LIMIT_BYTES = 512 << 20

PYTHON_JSON = """
import json, resource, sys, time
begin = time.process_time()
with open(sys.argv[1], "rb") as file:
    events = len(json.load(file)["traceEvents"])
print(json.dumps({"cpu_s": time.process_time() - begin, "events": events}))
"""


def shared_traces():
    """Real traces, where they lie beside the checkout; None where they don't."""
    folder = os.environ.get("TUTTI_SHARED") or ROOT.parent / "shared"
    traces = pathlib.Path(folder, "traces")
    return traces if traces.is_dir() else None


def free_space(build, byte_count):
    if shutil.disk_usage(build.scratch).free < byte_count:
        raise BenchError(f"needs {byte_count / 1e9:.0f} GB in {build.scratch}")


def generated(build, byte_count):
    path = build.scratch / f"generated-{byte_count}.json"
    if not path.exists():
        free_space(build, 3 * byte_count)
        make_trace.write_trace(path, byte_count)
    return path


def rates(byte_count, events, seconds):
    """Median MB and events a second."""
    median_s = statistics.median(seconds)
    return (f"{byte_count / median_s / 1e6:,.0f} MB/s, "
            f"{events / median_s / 1e6:.2f} million events/s")


def reading(build, rounds):
    """JSON to rows and to SQLite beside simdjson on-demand and Python's json."""
    path = generated(build, GENERATED_BYTES)
    program = build.program("tests/bench/json_benchmark")
    result = json_of([program, str(path), str(rounds or 6)])
    of = functools.partial(rates, result["bytes"], result["events"])
    rows = Figure("JSON to rows / simdjson on-demand (CPU)",
                  ratios(result["parse_cpu_s"], result["rows_cpu_s"]), at_least=0.70)
    rows.notes.append(f"on-demand {of(result['parse_cpu_s'])};")
    rows.notes.append(f"to rows {of(result['rows_cpu_s'])}, of one core")
    file = Figure("JSON to SQLite / simdjson on-demand (time)",
                  ratios(result["parse_wall_s"], result["file_wall_s"]), at_least=0.50)
    file.notes.append(f"to SQLite {of(result['file_wall_s'])}; "
                      f"{os.cpu_count()} cores, of which it uses two")
    both = Figure("JSON to SQLite / simdjson on-demand (CPU)",
                  ratios(result["parse_cpu_s"], result["file_cpu_s"]))
    python_s = json_of([sys.executable, "-c", PYTHON_JSON, str(path)])["cpu_s"]
    python = Figure("Python's json.load / JSON to SQLite (CPU)",
                    [python_s / seconds for seconds in result["file_cpu_s"]])
    python.notes.append(f"json.load {of([python_s])}, without making anything of the events")
    return [rows, file, both, python]


def large(build, _rounds):
    """Peak memory of importing 2 GB."""
    path = generated(build, LARGE_BYTES)
    begin = time.monotonic()
    child = subprocess.Popen([build.tutti(), "import", str(path), "-o", build.new_run()],
                             stdout=subprocess.DEVNULL)
    _, status, usage = os.wait4(child.pid, 0)
    child.returncode = os.waitstatus_to_exitcode(status)
    path.unlink()
    if child.returncode != 0:
        raise BenchError(f"the import ended with {child.returncode}")
    seconds = time.monotonic() - begin
    figure = Figure("MiB at the peak of importing 2 GB", [usage.ru_maxrss / 1024],
                    at_most=LARGE_LIMIT_BYTES / (1 << 20), format="{:.0f}")
    figure.notes.append(f"{LARGE_BYTES / seconds / 1e6:,.0f} MB/s, {seconds:.1f} s")
    return [figure]


def hta_python():
    """The interpreter of HTA's own venv, which is made here."""
    cache = os.environ.get("TUTTI_CACHE") or pathlib.Path(
        os.environ.get("XDG_CACHE_HOME") or pathlib.Path.home() / ".cache", "tutti")
    venv = pathlib.Path(cache, "venv-hta")
    set_up = subprocess.run(
        [ROOT / "tools/setup/python.sh", "hta"], env={**os.environ, "TUTTI_VENV": str(venv)},
        stdout=sys.stderr)
    if set_up.returncode != 0:
        raise BenchError("HTA could not be installed")
    return str(venv / "bin/python")


def measured(command, **options):
    """(seconds, peak bytes) of a command that must succeed."""
    begin = time.monotonic()
    with tempfile.TemporaryFile() as errors:
        child = subprocess.Popen(command, stdout=subprocess.DEVNULL, stderr=errors, **options)
        _, status, usage = os.wait4(child.pid, 0)
        child.returncode = os.waitstatus_to_exitcode(status)
        if child.returncode != 0:
            errors.seek(0)
            last = (errors.read().decode().strip().splitlines() or ["no message"])[-1]
            raise BenchError(f"{pathlib.Path(command[0]).name}: {last}")
    return time.monotonic() - begin, usage.ru_maxrss * 1024


def jobs(build):
    """(what, folder of its ranks' traces, bytes) to compare with HTA on."""
    folder = build.scratch / "job"
    folder.mkdir(exist_ok=True)
    for rank in range(2):
        path = folder / f"rank{rank}.json"
        if not path.exists():
            make_trace.write_trace(path, GENERATED_BYTES / 2, rank, 2)
    yield "generated, 2 ranks", folder
    traces = shared_traces()
    if traces is None:
        print("    real traces: left out, ../shared is missing and TUTTI_SHARED unset")
        return
    for name in ("hta/critical_path/alexnet", "hta/ns_resolution_trace", "hta/trace_filter"):
        if (traces / name).is_dir():
            yield name.split("/", 1)[1], traces / name


def against_hta(build, rounds):
    """Load and all analyses of the same traces: time and memory, HTA's beside Tutti's."""
    python = hta_python()
    figures = []
    for what, folder in jobs(build):
        byte_count = sum(path.stat().st_size for path in folder.iterdir() if path.is_file())
        cache = build.scratch / "cache"

        def ours(folder=folder, cache=cache):
            shutil.rmtree(cache, ignore_errors=True)  # nothing is imported already
            return measured([build.tutti(), "report", str(folder)],
                            env={**os.environ, "XDG_CACHE_HOME": str(cache)})

        def theirs(folder=folder):
            copy = build.scratch / "hta-input"  # it wants a folder of traces alone, to write to
            shutil.rmtree(copy, ignore_errors=True)
            copy.mkdir()
            for path in folder.iterdir():
                if path.suffix in (".json", ".gz"):
                    (copy / path.name).symlink_to(path)
            result = json_of([python, str(pathlib.Path(__file__).with_name("hta_load.py")),
                              str(copy)])
            return result["seconds"], result["peak_bytes"], result["skipped"]

        turns = in_mirrored_turns({"tutti": ours, "hta": theirs}, rounds or 2)
        figures += hta_figures(what, byte_count, turns)
    return figures


def hta_figures(what, byte_count, turns):
    seconds = {name: [turn[0] for turn in turns[name]] for name in turns}
    peak = {name: [turn[1] for turn in turns[name]] for name in turns}
    is_large = byte_count >= 100 * MEGA
    time_ratio = Figure(f"{what}: HTA / Tutti, time", ratios(seconds["hta"], seconds["tutti"]),
                        at_least=50, format="{:.1f}")
    time_ratio.notes.append(
        f"{byte_count / 1e6:,.1f} MB: HTA {statistics.median(seconds['hta']):.2f} s, "
        f"Tutti {statistics.median(seconds['tutti']):.3f} s for import, analyses and report")
    skipped = turns["hta"][-1][2]
    if skipped:
        time_ratio.notes.append("HTA failed at " + ", ".join(skipped))
    memory = Figure(f"{what}: Tutti / HTA, peak memory", ratios(peak["tutti"], peak["hta"]),
                    at_most=0.10 if is_large else None)
    memory.notes.append(f"HTA {statistics.median(peak['hta']) / (1 << 20):,.0f} MiB, "
                        f"Tutti {statistics.median(peak['tutti']) / (1 << 20):,.0f} MiB")
    return [time_ratio, memory]
