"""What is true of a workload without any fault, read from workloads/README.md: the table under
"What is true of clean runs", whose second column names findings in backquotes."""
import pathlib
import re

HEADING = "## What is true of clean runs"
README = pathlib.Path(__file__).resolve().parents[2] / "workloads" / "README.md"


def declared_findings(text):
    """{program: {finding, …}}. Raises ValueError where the table is not there."""
    if HEADING not in text:
        raise ValueError(f"workloads/README.md has no '{HEADING}'")
    declared = {}
    for line in text.split(HEADING)[1].split("\n## ")[0].splitlines():
        cells = line.split("|")
        if len(cells) < 4 or not re.fullmatch(r"\s*`\w+`\s*", cells[1]):
            continue
        declared[cells[1].strip(" `")] = set(re.findall(r"`(\w+)`", cells[2]))
    if not declared:
        raise ValueError(f"the table under '{HEADING}' in workloads/README.md is empty")
    return declared
