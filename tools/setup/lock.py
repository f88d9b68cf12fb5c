#!/usr/bin/env python3
"""Pins Python packages by version and SHA-256 for every supported interpreter.

Asks pip what it would install, for CPython 3.11, 3.12 and 3.13 on x86_64 Linux, and
prints a requirements file for `pip install --require-hashes`. Nothing is installed.

    lock.py [--no-deps] REQUIREMENT... > requirements-NAME.txt
"""
import argparse
import collections
import json
import pathlib
import subprocess
import sys
import tempfile

PYTHONS = ("3.11", "3.12", "3.13")
# Every manylinux tag that a system with glibc 2.28 or newer accepts.
PLATFORMS = [f"manylinux_2_{minor}_x86_64" for minor in range(28, 4, -1)]
PLATFORMS += ["manylinux2014_x86_64", "manylinux2010_x86_64", "manylinux1_x86_64"]


def resolve(python, requirements, no_deps):
    """Returns pip's plan for one interpreter: {name: (version, sha256)}."""
    with tempfile.TemporaryDirectory() as scratch:
        report = pathlib.Path(scratch) / "report.json"
        command = [sys.executable, "-m", "pip", "install", "--quiet", "--dry-run"]
        command += ["--ignore-installed", "--only-binary", ":all:", "--target", scratch]
        command += ["--report", str(report), "--python-version", python]
        for platform in PLATFORMS:
            command += ["--platform", platform]
        command += ["--no-deps"] if no_deps else []
        subprocess.run(command + requirements, check=True)
        plan = json.loads(report.read_text())["install"]
    return {
        item["metadata"]["name"].lower().replace("_", "-"): (
            item["metadata"]["version"],
            item["download_info"]["archive_info"]["hashes"]["sha256"],
        )
        for item in plan
    }


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--no-deps", action="store_true")
    parser.add_argument("requirements", nargs="+")
    options = parser.parse_args()

    pins = collections.defaultdict(lambda: collections.defaultdict(set))
    pythons = collections.defaultdict(set)
    for python in PYTHONS:
        for name, (version, sha256) in resolve(
            python, options.requirements, options.no_deps
        ).items():
            pins[name][version].add(sha256)
            pythons[name, version].add(python)

    flags = "--no-deps " if options.no_deps else ""
    print(f"# Made by: tools/setup/lock.py {flags}{' '.join(options.requirements)}")
    print(f"# For CPython {', '.join(PYTHONS)} on x86_64 Linux; installed with --no-deps.")
    for name in sorted(pins):
        for version, hashes in sorted(pins[name].items()):
            where = sorted(pythons[name, version])
            marker = "" if len(where) == len(PYTHONS) else " ; " + " or ".join(
                f'python_version == "{python}"' for python in where
            )
            lines = [f"{name}=={version}{marker}"]
            lines += [f"    --hash=sha256:{digest}" for digest in sorted(hashes)]
            print(" \\\n".join(lines))


if __name__ == "__main__":
    main()
