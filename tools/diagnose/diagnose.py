#!/usr/bin/env python3
"""The scoreboard of Tutti's diagnosis: runs workloads with and without faults of known kind and
size under `tutti record`, and compares what `tutti report` says with what was injected.

Each run is appended to the results file when it is done, so that a campaign can be interrupted,
continued and split; the table is made of whatever is in it. Recordings are kept: --rescore has
them judged again by the analysis of today."""
import argparse
import json
import pathlib
import re
import sys
import tempfile
import time

import declared
import measure
import score
import table
from matrix import CASES, OF_THE_MACHINE

ROOT = pathlib.Path(__file__).resolve().parents[2]
BEGIN, END = "<!-- table: begin -->", "<!-- table: end -->"


def main():
    options = parse_options()
    build = pathlib.Path(options.build)
    programs = measure.Programs(build / "cli" / "tutti", build / "workloads")
    cases = [case for case in CASES if re.search(options.only, case.name)]
    if options.short:
        return run_short(programs, [case for case in cases if case.is_short])
    if options.rescore:
        rescore(programs, cases, options)
    elif not options.table_only:
        run_campaign(programs, cases, options)
    write_table(options)
    return 0


def parse_options():
    parser = argparse.ArgumentParser(prog="./dev diagnose", description=__doc__)
    parser.add_argument("--build", default=ROOT / "build" / "release", help="build tree to use")
    parser.add_argument("--short", action="store_true",
                        help="a few large faults, kinds and ranks only; exit status 1 on a miss")
    parser.add_argument("--results", default=ROOT / "build" / "diagnosis.jsonl",
                        help="file with a line for each run (default: build/diagnosis.jsonl)")
    parser.add_argument("--recordings", default=ROOT / "build" / "diagnosis",
                        help="folder of what was recorded (default: build/diagnosis)")
    parser.add_argument("--rescore", action="store_true",
                        help="record nothing, judge all recordings again")
    parser.add_argument("--seeds", type=int, default=8, help="most pairs of runs a case (8)")
    parser.add_argument("--part", default="1/1", metavar="I/N",
                        help="only every N-th case, from the I-th, to split a campaign")
    parser.add_argument("--only", default="", metavar="REGEX", help="cases whose name matches")
    parser.add_argument("--minutes", type=float, default=1e9, help="start no pair after so long")
    parser.add_argument("--table-only", action="store_true", help="measure nothing")
    parser.add_argument("--write", action="store_true", help="put the table into docs/diagnosis.md")
    return parser.parse_args()


def run_short(programs, cases):
    """For CI: what is asserted does not depend on how fast or busy the machine is."""
    truths = declared.declared_findings(declared.README.read_text(encoding="utf-8"))
    misses = 0
    for case in cases:
        with tempfile.TemporaryDirectory(prefix="tutti-diagnose-") as folder:
            run = measure.measure(programs, case, 1, True, pathlib.Path(folder, "run"))
        answer = score.named(run, declared.of_run(run, truths) | OF_THE_MACHINE)
        is_right = answer.kind and answer.ranks
        misses += not is_right
        print(f"{'ok  ' if is_right else 'MISS'} {case.name}: {answer.said}", flush=True)
    print(f"{len(cases) - misses} of {len(cases)} faults named with their ranks")
    return 1 if misses or not cases else 0


def run_campaign(programs, cases, options):
    """Rounds over all cases, a seed each, so that whatever was done when it stops is about all of
    them. A case that another pair would say nothing new of is left out of later rounds: the time is
    for those that noise still forbids to judge. Of a pair the run with the fault comes first every
    other time. A run that fails is said and left out; it is tried again when the campaign is
    continued."""
    results = pathlib.Path(options.results)
    results.parent.mkdir(parents=True, exist_ok=True)
    runs = read_results(results)
    part, parts = map(int, options.part.split("/"))
    deadline = time.monotonic() + 60 * options.minutes
    for seed in range(1, options.seeds + 1):
        settled = settled_cases(runs)
        todo = [case for case in cases[part - 1 :: parts] if case.name not in settled]
        for number, case in enumerate(todo, 1):
            done = {(run["case"], run["seed"], run["with_faults"]) for run in runs}
            missing = [kind for kind in kinds_of_run(case, seed)
                       if (case.name, seed, kind) not in done]
            if missing and time.monotonic() > deadline:
                print(f"time is over in round {seed}: {len(todo) - number + 1} of its {len(todo)}"
                      " cases are left", flush=True)
                return
            for with_faults in missing:
                run = try_to_measure(programs, case, seed, with_faults, options)
                if run is not None:
                    append(results, run)
                    runs.append(run)
            if missing:
                print(f"round {seed}, {number}/{len(todo)}: {case.name}", flush=True)


def settled_cases(runs):
    truths = declared.declared_findings(declared.README.read_text(encoding="utf-8"))
    scores, _ = table.score_all(runs, truths)
    return {one.case for one in scores if one.is_settled}


def try_to_measure(programs, case, seed, with_faults, options):
    """None if the run failed, which it says."""
    folder = recording_of(options, case, seed, with_faults)
    try:
        return measure.measure(programs, case, seed, with_faults, folder)
    except measure.RunFailed as error:
        print(f"FAILED {error}", flush=True)
        return None


def kinds_of_run(case, seed):
    """Which runs a seed of a case has, in their order: with the fault (True) and without."""
    if not case.faults:
        return (False,)
    return (seed % 2 == 0, seed % 2 == 1)


def recording_of(options, case, seed, with_faults):
    # `tutti record -o` gives "%" a meaning.
    name = re.sub(r"[^\w.:@#-]+", "_", case.name)
    kind = "faulty" if with_faults else "clean"
    return pathlib.Path(options.recordings) / f"{name}.{seed}.{kind}"


def rescore(programs, cases, options):
    """Judges what was recorded of the cases again. Nothing else stays in the results: another
    analysis judged it."""
    results = pathlib.Path(options.results)
    new = results.with_suffix(".new")
    new.unlink(missing_ok=True)
    count = 0
    for case in cases:
        for seed in range(1, options.seeds + 1):
            for with_faults in kinds_of_run(case, seed):
                folder = recording_of(options, case, seed, with_faults)
                if measure.is_recorded(folder):
                    append(new, measure.judge(programs, folder))
                    count += 1
    if count == 0:
        raise SystemExit(f"{options.recordings}: nothing is recorded there")
    new.replace(results)
    print(f"{count} runs judged again", flush=True)


def append(results, run):
    with open(results, "a", encoding="utf-8") as out:
        out.write(json.dumps(run) + "\n")


def read_results(path):
    if not path.exists():
        return []
    return [json.loads(line) for line in path.read_text(encoding="utf-8").splitlines()]


def write_table(options):
    truths = declared.declared_findings(declared.README.read_text(encoding="utf-8"))
    text = table.markdown(read_results(pathlib.Path(options.results)), truths)
    if not options.write:
        print(text)
        return
    page = ROOT / "docs" / "diagnosis.md"
    before, rest = page.read_text(encoding="utf-8").split(BEGIN)
    page.write_text(before + BEGIN + "\n" + text + END + rest.split(END)[1], encoding="utf-8")


if __name__ == "__main__":
    sys.exit(main())
