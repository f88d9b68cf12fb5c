"""Figures, and how programs are run for them."""
import dataclasses
import json
import os
import pathlib
import shutil
import statistics
import subprocess
import tempfile

ROOT = pathlib.Path(__file__).resolve().parents[2]


class BenchError(Exception):
    """Something could not be measured; says what and why."""


@dataclasses.dataclass
class Figure:
    """One line of the table: repetitions of one ratio (or another number, for orientation)."""

    what: str
    values: list
    at_most: float = None  # target, at most one of the two
    at_least: float = None
    format: str = "{:.2f}"
    notes: list = dataclasses.field(default_factory=list)

    def median(self):
        return statistics.median(self.values)

    def quartiles(self):
        if len(self.values) < 2:
            return self.values[0], self.values[0]
        low, _, high = statistics.quantiles(self.values, n=4, method="inclusive")
        return low, high

    def text(self, value):
        return self.format.format(value)

    def target_text(self):
        if self.at_most is not None:
            return f"<= {self.at_most:.2f}"
        return f">= {self.at_least:.2f}" if self.at_least is not None else ""

    def verdict(self):
        """Of what was measured, not of what is printed; "unclear" if the quartiles disagree."""
        target = self.at_most if self.at_most is not None else self.at_least
        if target is None:
            return ""
        low, high = self.quartiles()
        if low < target < high:
            return "unclear"
        below = self.median() <= target if self.at_most is not None else self.median() < target
        return "met" if below == (self.at_most is not None) else "missed"


class Build:
    """Where the programs are, and a folder for what they write."""

    def __init__(self):
        self.folder = pathlib.Path(os.environ.get("TUTTI_BENCH_BUILD", ROOT / "build" / "release"))
        self._temporary = tempfile.TemporaryDirectory(prefix="tutti-bench-")
        self.scratch = pathlib.Path(self._temporary.name)

    def program(self, path):
        found = self.folder / path
        if not found.exists():
            raise BenchError(f"{path} is not built ({self.folder})")
        return str(found)

    def tutti(self):
        return self.program("cli/tutti")

    def new_run(self):
        """A path for a recording; the one before is deleted."""
        run = self.scratch / "run"
        shutil.rmtree(run, ignore_errors=True)
        return str(run)


def output_of(command, **options):
    """The standard output of a command that must succeed."""
    result = subprocess.run(
        command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, **options
    )
    if result.returncode != 0:
        last = (result.stderr.strip().splitlines() or ["no message"])[-1]
        raise BenchError(f"{pathlib.Path(command[0]).name} ended with {result.returncode}: {last}")
    return result.stdout


def json_of(command, **options):
    """The line of JSON in what a command prints."""
    for text in output_of(command, **options).splitlines():
        if text.startswith("{"):
            return json.loads(text)
    raise BenchError(f"{pathlib.Path(command[0]).name} printed no JSON")


def google_benchmark(build, path, field, *flags):
    """{benchmark: one value of `field` per repetition} of a Google Benchmark program."""
    report = build.scratch / "benchmark.json"
    output_of(
        [build.program(path), *flags, f"--benchmark_out={report}", "--benchmark_out_format=json"]
    )
    values = {}
    for row in json.loads(report.read_text())["benchmarks"]:
        if row["run_type"] != "iteration":
            continue
        if row.get("error_occurred"):
            raise BenchError(f"{row['name']}: {row['error_message']}")
        values.setdefault(row["run_name"].split("/")[0], []).append(row[field])
    return values


def ratios(numerators, denominators):
    """Of pairs that were measured one after the other."""
    return [a / b for a, b in zip(numerators, denominators, strict=True)]


def in_mirrored_turns(arms, rounds):
    """Runs {name: function} as A B B A A B B A …: what drifts hits all arms alike.

    Returns {name: [result of each turn]}; equal indices are neighbours in time."""
    results = {name: [] for name in arms}
    order = list(arms)
    for turn in range(rounds):
        for name in order if turn % 2 == 0 else reversed(order):
            results[name].append(arms[name]())
    return results
