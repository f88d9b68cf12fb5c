"""What is true of a workload without any fault, read from workloads/README.md: the table under
"What is true of clean runs". Its first column is a program, or a program with an option, in
backquotes, or says which runs of any program; its second names findings in backquotes."""
import pathlib
import re

HEADING = "## What is true of clean runs"
README = pathlib.Path(__file__).resolve().parents[2] / "workloads" / "README.md"
MORE_RANKS_THAN_CORES = "any, with more ranks than cores"


def declared_findings(text):
    """{first column: {finding, …}}. Raises ValueError where the table is not there."""
    if HEADING not in text:
        raise ValueError(f"workloads/README.md has no '{HEADING}'")
    declared = {}
    for line in text.split(HEADING)[1].split("\n## ")[0].splitlines():
        cells = [cell.strip() for cell in line.split("|")]
        if len(cells) < 4:
            continue
        if re.fullmatch(r"`\w+( --[\w-]+)?`", cells[1]) or cells[1] == MORE_RANKS_THAN_CORES:
            declared[cells[1].strip("`")] = set(re.findall(r"`(\w+)`", cells[2]))
    if not declared:
        raise ValueError(f"the table under '{HEADING}' in workloads/README.md is empty")
    return declared


def of_run(run, declared):
    """Of all that is declared what holds for a run (of measure.py)."""
    words = set(run["case"].split())
    found = set()
    for key, findings in declared.items():
        if key == MORE_RANKS_THAN_CORES:
            holds = run["ranks"] > run["cores"]
        else:
            holds = words.issuperset(key.split())
        found |= findings if holds else set()
    return found
