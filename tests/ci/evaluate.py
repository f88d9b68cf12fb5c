#!/usr/bin/env python3
"""evaluate.py OUT [--budget SECONDS] [--write PAGE]: verdicts on a real job on this machine.

First a pilot: a bundled workload set up in four ways, each against itself, to find the one whose
launches differ least here. With that one an A/A campaign (`tutti ci calibrate`), then campaigns
against copies of it that are really slower (`tutti ci run`): a busy loop on all ranks, one delayed
rank, and all-reduces that nothing hides. Amounts are shares of the step time that the A/A campaign
measured. The rule (alpha, min effect, pairs) is fixed below, before anything is measured, and the
pilot has seen no slower copy.

An interrupted evaluation goes on where it stopped; with --budget no campaign is begun that the time
left is too short for. --write puts the tables between the markers of the page.
TUTTI and TUTTI_WORKLOAD name the programs if they are not where ./dev builds them, EVALUATION_SCALE
makes everything smaller (0.05: to try the script).
"""
import argparse
import json
import os
import pathlib
import platform
import statistics
import subprocess
import sys
import time

ROOT = pathlib.Path(__file__).resolve().parents[2]
TUTTI = os.environ.get("TUTTI", str(ROOT / "build/release/cli/tutti"))
WORKLOAD = os.environ.get("TUTTI_WORKLOAD", str(ROOT / "build/release/workloads/mnist_mlp"))
BEGIN, END = "<!-- measured -->", "<!-- end of what is measured -->"

SCALE = float(os.environ.get("EVALUATION_SCALE", "1"))
RANKS = 2
LAUNCH_SECONDS = 4 * SCALE  # of training: what slows a machine for a moment is averaged over
PILOT_PAIRS = 4
NULL_PAIRS = max(4, round(20 * SCALE))
PAIRS = max(2, round(8 * SCALE))
MIN_EFFECT = "1%"
SEED = ["--seed", "1"]

# (name, words, before the program, its options)
SETUPS = (
    ("small", "steps of 128 samples", "", ["--batch", "128"]),
    ("large", "steps of 1024 samples", "", ["--batch", "1024"]),
    ("pinned", "steps of 1024 samples, a core for each rank", "taskset -c $LOCAL_RANK ",
     ["--batch", "1024"]),
    ("alone", "steps of 1024 samples, a core for each rank, no threads for loading",
     "taskset -c $LOCAL_RANK ", ["--batch", "1024", "--workers", "0"]),
)

# (name, what is done, --inject for a step of so many ns, share that it should cost or None)
KINDS = (
    ("late_allreduce", "no all-reduce overlaps with backward", lambda ns: "late_allreduce", None),
    *(
        (f"{kind}_{percent}", f"{words}, {percent} % of a step",
         lambda ns, share=percent / 100, ranks=ranks: f"extra_compute:{round(ns * share)}ns{ranks}",
         percent / 100)
        for percent in (10, 5, 2)
        for kind, words, ranks in (("busy_loop", "a busy loop on every rank", ""),
                                   ("delayed_rank", "a busy loop on rank 1", "@1"))
    ),
)


def machine():
    model = platform.processor() or platform.machine()
    for line in pathlib.Path("/proc/cpuinfo").read_text().splitlines():
        if line.startswith("model name"):
            model = line.split(":", 1)[1].strip()
            break
    return f"{model}, {os.cpu_count()} cores, Linux {platform.release()}"


def tutti(*words, expected=(0,)):
    done = subprocess.run([TUTTI, *map(str, words)], stdout=subprocess.PIPE, text=True)
    if done.returncode not in expected:
        sys.exit(f"evaluate: tutti {words[0]} {words[1]} returned {done.returncode}")
    return done.stdout


class Evaluation:
    def __init__(self, out, budget):
        self.out = out
        self.deadline = time.monotonic() + budget
        self.out.mkdir(parents=True, exist_ok=True)
        self.walls = []  # of launches, with what lies between them

    def kept(self, name, make, launches):
        """What an earlier call has measured, else make()'s result; None if there is no time."""
        path = self.out / f"{name}.json"
        if path.exists():
            return json.loads(path.read_text())
        needed = launches * (statistics.median(self.walls) if self.walls else 0)
        if time.monotonic() + needed > self.deadline:
            print(f"evaluate: no time left for {name} (about {needed:.0f} s)", file=sys.stderr)
            return None
        print(f"evaluate: {name}", file=sys.stderr)
        load, begin = os.getloadavg()[0], time.monotonic()
        result = json.loads(make())
        self.walls += [(time.monotonic() - begin) / max(launches, 1)] * launches
        result["load_at_start"] = load
        result["date"] = time.strftime("%Y-%m-%d")
        part = path.with_suffix(".part")
        part.write_text(json.dumps(result))
        part.rename(path)
        return result

    def steps(self, setup):
        """So many that a launch takes LAUNCH_SECONDS."""
        name, _, before, options = setup
        path = self.out / f"steps-{name}"
        if not path.exists():
            run = self.out / f"sized-{name}"
            tutti("record", "-f", "-o", run, "--nproc", RANKS, "--", "sh", "-c",
                  f"exec {before}{WORKLOAD} {' '.join([*options, *SEED])} --steps 60")
            step_ns = json.loads(tutti("report", run, "--json"))["step"]["median_ns"]
            path.write_text(str(max(20, round(LAUNCH_SECONDS * 1e9 / step_ns))))
        return int(path.read_text())

    def job(self, setup):
        return ["--", *setup[3], *SEED, "--steps", self.steps(setup)]

    def calibrated(self, name, setup, pairs, comparison_pairs):
        return self.kept(name, lambda: tutti(
            "ci", "calibrate", "--of", f"sh:{setup[2]}{WORKLOAD}", "--pairs", pairs, "--nproc",
            RANKS, "--min-effect", MIN_EFFECT, "--comparison-pairs", comparison_pairs, "--warm-up",
            1, "-o", self.out / name, "--json", *self.job(setup)), 2 * pairs)

    def pilot(self):
        """[(set-up, spread of its pairs)] of those that there was time for."""
        found = []
        for setup in SETUPS:
            result = self.calibrated(f"pilot-{setup[0]}", setup, PILOT_PAIRS, PILOT_PAIRS)
            if result is not None:
                noise = {each["metric"]: each for each in result["noise"]}
                found.append((setup, noise["step_time"]["pair_sd"]))
        return found

    def null(self, setup):
        return self.calibrated("null", setup, NULL_PAIRS, PAIRS)

    def base_step_ns(self):
        """Of the A/A campaign: all its launches are of one version."""
        path = self.out / "null-gate.json"
        if not path.exists():
            path.write_text(tutti("ci", "gate", self.out / "null", "--json", "--min-effect",
                                  MIN_EFFECT, expected=(0, 1, 4)))
        metrics = json.loads(path.read_text())["metrics"]
        return next(metric["base"] for metric in metrics if metric["name"] == "step_time")

    def injected(self, name, setup, fault):
        def make():
            # An earlier call may have measured another step time: its campaign goes on as planned.
            plan = self.out / f"{name}.fault"
            if not plan.exists():
                plan.write_text(fault)
            side = f"sh:{setup[2]}{WORKLOAD}"
            return tutti("ci", "run", "--base", side, "--new",
                         f"{side} --inject {plan.read_text()}", "--pairs", PAIRS, "--warm-up", 0,
                         "--nproc", RANKS, "--min-effect", MIN_EFFECT, "-o", self.out / name,
                         "--json", *self.job(setup), expected=(0, 1, 4))
        return self.kept(name, make, 2 * PAIRS)


def percent(share, digits=2):
    return f"{share * 100:.{digits}f} %"


def row(*cells):
    return "| " + " | ".join(cells) + " |"


def null_tables(null):
    yield f"A/A: {null['pairs']} pairs of launches of one version."
    yield ""
    yield row("gate", "launch sd", "pair sd", "95 % bounds")
    yield row("---", "---:", "---:", "---")
    for noise in null["noise"]:
        low, high = noise["pair_sd_bounds"]
        yield row(noise["metric"], percent(noise["launch_sd"]), percent(noise["pair_sd"]),
                  f"{percent(low)} to {percent(high)}")
    if null["control_sd"] is not None:
        yield row("control", "", percent(null["control_sd"]), "")
    yield ""
    proposal = null["proposal"]
    yield ("Proposal: `--min-effect " + f"{proposal['min_effect'] * 100:g}% --pairs "
           + f"{proposal['careful_pairs']}`." if proposal
           else "No proposal: the machine is too restless for any effect up to 20 % in 12 pairs.")
    yield ""
    yield row("false alarms", "comparisons", "regression", "improvement", "no regression",
              "95 % bounds of regressions")
    yield row("---", "---:", "---:", "---:", "---:", "---")
    for words, key in (("that share no launch", "separate"),
                       ("drawn from the same pairs, not independent", "resampled"),
                       ("the same, as proposed", "resampled_proposal")):
        count = null[key]
        if count is None or count["comparisons"] == 0:
            continue
        bounds = count.get("regression_rate_bounds")
        yield row(f"{words}: {count['pairs']} pairs, τ {percent(count['min_effect'])}",
                  str(count["comparisons"]), str(count["regressions"]),
                  str(count["improvements"]), str(count["no_regression"]),
                  f"{percent(bounds[0])} to {percent(bounds[1])}" if bounds else "")


def injected_table(results):
    yield row("injected", "costs", "step time", "95 % interval", "p", "MDE", "verdict",
              "what changed most", "control")
    yield row("---", "---:", "---:", "---", "---:", "---:", "---", "---", "---:")
    for words, share, result in results:
        metric = next(each for each in result["metrics"] if each["name"] == "step_time")
        effect = metric["effect"]
        parts = result["what_changed"]["parts"] if result["what_changed"] else []
        most = max(parts, key=lambda part: abs(part["change_ns"]), default=None)
        control = result["control"]
        yield row(words, percent(share, 0) if share else "?", f"{effect['value'] * 100:+.2f} %",
                  f"{effect['low'] * 100:+.2f} to {effect['high'] * 100:+.2f} %",
                  f"{min(effect['p_up'], effect['p_down']):.4f}",
                  percent(metric["minimum_detectable_effect"]),
                  f"{result['verdict']} (step_time: {metric['verdict']})",
                  f"{most['part']} {most['change_ns'] / 1e6:+.2f} ms" if most else "",
                  f"{control['effect'] * 100:+.2f} %" if control else "")


def pilot_table(pilot, chosen):
    yield f"Pilot: {PILOT_PAIRS} pairs of each set-up against itself; the calmest goes on."
    yield ""
    yield row("set-up", "pair sd of step_time")
    yield row("---", "---:")
    for setup, pair_sd in pilot:
        yield row(setup[1] + (" (chosen)" if setup is chosen else ""), percent(pair_sd))


def tables(pilot, chosen, steps, null, base_ns, results, missing):
    yield (f"On {machine()}, {null['date']}, load {null['load_at_start']:.1f} at the start; "
           f"`mnist_mlp`, {RANKS} ranks, {chosen[1]}, {steps} steps of {base_ns / 1e6:.2f} ms a "
           "launch.")
    yield ""
    yield from pilot_table(pilot, chosen)
    yield ""
    yield from null_tables(null)
    yield ""
    yield f"Injected slowdowns, {PAIRS} pairs each, τ {MIN_EFFECT}, α 0.01 over both gates:"
    yield ""
    yield from injected_table(results)
    if missing:
        yield ""
        yield "Not measured, for want of time: " + ", ".join(missing) + "."


def write_between_markers(page, text):
    before, rest = page.read_text().split(BEGIN)
    after = rest.split(END)[1]
    page.write_text(f"{before}{BEGIN}\n{text}\n{END}{after}")


def main():
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("out", type=pathlib.Path)
    parser.add_argument("--budget", type=float, default=3600)
    parser.add_argument("--write", type=pathlib.Path)
    arguments = parser.parse_args()
    evaluation = Evaluation(arguments.out, arguments.budget)
    pilot = evaluation.pilot()
    if not pilot:
        return 1
    chosen = min(pilot, key=lambda found: found[1])[0]
    null = evaluation.null(chosen)
    if null is None:
        return 1
    base_ns = evaluation.base_step_ns()
    results, missing = [], []
    for name, words, fault_of, share in KINDS:
        result = evaluation.injected(name, chosen, fault_of(base_ns))
        if result is None:
            missing.append(words)
        else:
            results.append((words, share, result))
    text = "\n".join(tables(pilot, chosen, evaluation.steps(chosen), null, base_ns, results,
                            missing))
    print(text)
    if arguments.write:
        write_between_markers(arguments.write, text)
    return 0


if __name__ == "__main__":
    sys.exit(main())
