#!/usr/bin/env python3
"""man_pages.py TUTTI [--write]: the manual pages in docs/man against the program's own --help.

A page's options stand between two comments and are made from --help, the tables of tutti-schema(5)
from `tutti schema --json`; the rest of a page is written by hand. Without --write, says which pages
are not up to date and exits 1; with it, makes them so, and starts a page for each verb that has
none. A program that may be missing beside TUTTI then keeps its page.
"""
import json
import os
import pathlib
import re
import subprocess
import sys

FOLDER = pathlib.Path(__file__).parents[2] / "docs/man"
BEGIN = '.\\" Options, made from --help by tools/docs/man_pages.py.'
END = '.\\" End of what is made from --help.'
SCHEMA_BEGIN = '.\\" Tables, made from tutti schema --json by tools/docs/man_pages.py.'
SCHEMA_END = '.\\" End of what is made from tutti schema --json.'
BESIDE = {"tutti-analyze-mpi": "run all passes over a run with several MPI processes"}
DESCRIPTION_COLUMN = 30  # where --help's descriptions begin


def output_of(tutti, *words):
    # What the user has set would be shown as the default.
    clean = {name: value for name, value in os.environ.items() if not name.startswith("TUTTI_")}
    return subprocess.run(
        [tutti, *words], capture_output=True, text=True, check=True, env=clean
    ).stdout


def help_of(tutti, *verb):
    return output_of(tutti, *verb, "--help")


def entries(text):
    """[(section, term, description)] of the indented lines of a --help."""
    section, found = "", []
    for line in text.splitlines():
        heading = re.fullmatch(r"(\w[\w ]*):", line)
        if heading:
            section = heading[1]
        elif line.startswith(" " * DESCRIPTION_COLUMN) and found:
            found[-1][2] = (found[-1][2] + " " + line.strip()).strip()
        elif re.match(r"  \S", line):
            # A term that reaches the column has its description in the next line.
            column = DESCRIPTION_COLUMN
            fits = len(line) > column and line[column - 1] == " " and line[column] != " "
            term, description = (line[:column], line[column:]) if fits else (line, "")
            # The program counts the bytes of what is no ASCII, which moves the column.
            if not fits and not line.isascii() and re.search(r"\S {2,}\S", line):
                term, description = re.split(r" {2,}", line.strip(), maxsplit=1)
            found.append([section, term.strip(), description.strip()])
    return found


def verbs(tutti, *above):
    """{(verb, verb below it…): summary} of all verbs."""
    listed = entries(help_of(tutti, *above))
    found = {}
    for section, term, text in listed:
        if section == "Subcommands":
            found[(*above, term)] = text
            found.update(verbs(tutti, *above, term))
    return found


def roff(text):
    text = text.replace("\\", "\\e").replace("-", "\\-")
    text = "".join(c if c.isascii() else f"\\[u{ord(c):04X}]" for c in text)
    return "\\&" + text if text[:1] in ".'" else text


def options(tutti, *verb):
    """The part of a page that is made."""
    lines, section = [BEGIN], ""
    for heading, term, description in entries(help_of(tutti, *verb)):
        if heading == "Positionals" and not re.match(r"\w[\w-]*( |$)", term):
            # CLI11 from 2.4 on throws for it, and with that for every command.
            sys.exit(f"tutti {' '.join(verb)}: {term.split()[0]} can't be an argument's name")
        if heading != section:
            section = heading
            lines.append(f".SH {section.upper()}")
        lines += [".TP", f".B {roff(term)}", roff(description)]
    return "\n".join(lines + [END])


def skeleton(name, summary, usage):
    return f""".TH {name.upper()} 1 "" "Tutti" "Tutti"
.SH NAME
{roff(name)} \\- {roff(summary[:1].lower() + summary[1:])}
.SH SYNOPSIS
.B {roff(usage)}
{BEGIN}
{END}
.SH SEE ALSO
.BR tutti (1)
"""


def type_of(table, column):
    nullable = column["nullable"] and table["kind"] == "table"
    words = [column["type"], "key" if column["key"] else "", "may be NULL" if nullable else ""]
    return ", ".join(filter(None, words))


def tables(tutti):
    """The part of tutti-schema(5) that is made."""
    schema = json.loads(output_of(tutti, "schema", "--json"))
    lines = [SCHEMA_BEGIN, ".SH TABLES", f"Of version {schema['version']}."]
    for table in schema["tables"]:
        lines += [f".SS {roff(table['name'])} ({table['kind']})", roff(table["comment"])]
        for column in table["columns"]:
            kind = type_of(table, column)
            lines += [".TP", f".BR {roff(column['name'])}" + (f' " ({kind})"' if kind else ""),
                      roff(column["comment"])]
    return "\n".join([*lines, SCHEMA_END])


def replaced(page, begin, made, end):
    return page[:page.index(begin)] + made + page[page.index(end) + len(end):]


def expected_pages(tutti):
    """{path: (text now or None, text as it should be)}"""
    wanted = {"tutti": ([tutti], "where the time of each training step goes",
                        "tutti VERB [OPTIONS]")}
    for verb, summary in verbs(tutti).items():
        wanted["-".join(["tutti", *verb])] = ([tutti, *verb], summary,
                                              f"tutti {' '.join(verb)} [OPTIONS]")
    pages = {}
    for name, summary in BESIDE.items():
        program = pathlib.Path(tutti).with_name(name)
        if program.exists():
            wanted[name] = ([program], summary, f"mpirun {name} [OPTIONS] RUN")
        else:
            path = FOLDER / f"{name}.1"
            pages[path] = (path.read_text(),) * 2
    for name, (command, summary, usage) in wanted.items():
        path = FOLDER / f"{name}.1"
        now = path.read_text() if path.exists() else None
        pages[path] = (now, replaced(now or skeleton(name, summary, usage),
                                     BEGIN, options(*command), END))
    schema = FOLDER / "tutti-schema.5"
    now = schema.read_text()
    pages[schema] = (now, replaced(now, SCHEMA_BEGIN, tables(tutti), SCHEMA_END))
    return pages


def main():
    tutti, write = sys.argv[1], "--write" in sys.argv[2:]
    pages = expected_pages(tutti)
    stale = [path for path, (now, expected) in pages.items() if now != expected]
    stale += [path for path in FOLDER.glob("*.1") if path not in pages]
    for path in stale:
        if write and path in pages:
            path.write_text(pages[path][1])
            print(f"{path.name}: written")
        else:
            print(f"{path.name}: differs from --help (tools/docs/man_pages.py TUTTI --write)")
    return 1 if stale and not write else 0


if __name__ == "__main__":
    sys.exit(main())
