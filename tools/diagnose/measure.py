"""Runs one workload under `tutti record` and takes down what Tutti says of it."""
import contextlib
import dataclasses
import json
import os
import pathlib
import shutil
import signal
import sqlite3
import statistics
import subprocess
import time

from matrix import ANSWERS

RUN_LIMIT_S = 120
FACTS = "facts.json"  # of a recorded run, beside it


@dataclasses.dataclass(frozen=True)
class Programs:
    tutti: pathlib.Path
    workloads: pathlib.Path


class RunFailed(Exception):
    """A run that should have ended well, or a report that could not be had."""


def measure(programs, case, seed, with_faults, folder):
    """One run, recorded into the folder, which stays, and judged."""
    record(programs, case, seed, with_faults, folder)
    return judge(programs, folder)


def record(programs, case, seed, with_faults, folder):
    """Records one run. What an earlier one left in the folder goes."""
    if folder.exists():
        shutil.rmtree(folder)
    folder.mkdir(parents=True)
    began = time.monotonic()
    status = _record(programs, case, seed, with_faults, folder / "run")
    facts = {
        "case": case.name,
        "baseline": case.baseline,
        "ranks": case.ranks,
        "cores": len(os.sched_getaffinity(0)),
        "seed": seed,
        "with_faults": with_faults,
        "exit_status": status,
        "took_s": round(time.monotonic() - began, 2),
    }
    # Last, so that what has it is whole.
    (folder / FACTS).write_text(json.dumps(facts), encoding="utf-8")


def is_recorded(folder):
    return (folder / FACTS).exists()


def judge(programs, folder):
    """A recorded run as a dictionary that JSON can hold: what was injected, by the manifest; the
    step times; the findings in their order; the predictions of `tutti whatif`."""
    facts = json.loads((folder / FACTS).read_text(encoding="utf-8"))
    run = folder / "run"
    report = _json(programs, "report", run)
    truth = _truth(run)
    judged = {
        **facts,
        "truth": truth,
        "events_lost": report["data_quality"]["events_lost"],
        **_step_times(run),
        "findings": [
            {key: finding[key] for key in ("id", "ranks", "cost_ns", "replayed_ns", "title")}
            for finding in report["findings"]
        ],
        "whatif": _predictions(programs, run, truth) if facts["exit_status"] == 0 else {},
    }
    # What was derived is derived again when it is judged again; kept are the rank files.
    for path in run.glob("run.sqlite*"):
        path.unlink()
    return judged


def _record(programs, case, seed, with_faults, run):
    """Exit status of `tutti record`. A case that hangs is killed."""
    command = [programs.tutti, "record", "-o", run, "--nproc", str(case.ranks), "--"]
    command += [programs.workloads / case.workload, *case.options, "--seed", str(seed)]
    kills = with_faults and case.kill_after_s is not None
    for fault in case.faults if with_faults else ():
        command += ["--inject", fault]
    log = run.with_suffix(".log")
    with open(log, "w", encoding="utf-8") as out:
        process = subprocess.Popen(command, stdout=out, stderr=subprocess.STDOUT)
        try:
            if kills:
                _wait_until_it_stands(log, case.kill_after_s)
                process.send_signal(signal.SIGTERM)
            status = process.wait(timeout=RUN_LIMIT_S)
        except BaseException:
            process.send_signal(signal.SIGTERM)
            process.wait()
            raise
    stops_the_job = kills or any("mismatched" in fault for fault in case.faults if with_faults)
    if status != 0 and not stops_the_job:
        raise RunFailed(f"{case.name}: exit status {status}: {log.read_text()[-500:]}")
    return status


def _wait_until_it_stands(log, seconds):
    """Until training has begun and its log has not grown for so long."""
    deadline = time.monotonic() + RUN_LIMIT_S
    size, since = -1, time.monotonic()
    while time.monotonic() < deadline:
        time.sleep(0.1)
        now = log.stat().st_size
        if now != size or b"step " not in log.read_bytes():
            size, since = now, time.monotonic()
        elif time.monotonic() - since >= seconds:
            return
    raise RunFailed("the run did not come to stand")


def _predictions(programs, run, truth):
    """{scenario: ns}: what would be saved, of those that are usually asked and those that take a
    fault of this run away."""
    answers = _json(programs, "whatif", run)["scenarios"]
    usual = {row["scenario"] for row in answers}
    for fact in truth:
        scenario = ANSWERS[fact["kind"]].scenario
        if scenario is not None and "{rank}" not in scenario and scenario not in usual:
            answers += _json(programs, "whatif", run, "--scenario", scenario)["scenarios"]
    return {row["scenario"]: row["saved_ns"] for row in answers}


def _json(programs, verb, run, *options):
    done = subprocess.run(
        [programs.tutti, verb, "--json", run, *options],
        capture_output=True, text=True, timeout=RUN_LIMIT_S
    )
    if not done.stdout.startswith("{"):
        raise RunFailed(f"tutti {verb}: {done.stderr.strip()}")
    return json.loads(done.stdout)


def _truth(run):
    """What was injected, from the manifest: the only place that knows."""
    facts = []
    for path in sorted(run.glob("manifest.d/*.json")):
        facts += [entry["fact"] for entry in json.loads(path.read_text()).get("truth", [])]
    return facts


def open_read_only(path):
    """A database that is there. Its name goes in quoted: a "#" as in "…@1#10" would end it, and
    what is behind it, read-only among it, would be lost."""
    return sqlite3.connect(path.resolve().as_uri() + "?mode=ro", uri=True)


def _step_times(run):
    """Median period of the steps that count, and the mean over all but the first tenth: what is in
    few steps, checkpoints and warm-up among them, does not show in the median."""
    with contextlib.closing(open_read_only(run / "run.sqlite")) as database:
        rows = database.execute(
            "SELECT step_period_ns, is_steady FROM run_step"
            " WHERE step_period_ns IS NOT NULL ORDER BY step"
        ).fetchall()
    steady = [period for period, is_steady in rows if is_steady] or [row[0] for row in rows]
    late = [row[0] for row in rows][len(rows) // 10 :]
    return {
        "median_ns": statistics.median(steady) if steady else None,
        "mean_ns": statistics.fmean(late) if late else None,
    }
