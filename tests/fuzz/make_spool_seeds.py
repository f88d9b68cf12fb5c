#!/usr/bin/env python3
"""make_spool_seeds.py FOLDER: writes what spool_fuzz appends to the beginning of a spool: one chunk
of each kind behind another, and what begins a later file of a series."""
import pathlib
import struct
import sys

MAGIC, VERSION = 0x4B4E4843, 2  # collector/spool/format.h
CELLS, CLOCK, STRINGS, LOSSES, OPEN_SPANS, NOTE, END, CARRIED, WINDOW = 2, 3, 4, 5, 6, 8, 9, 11, 12
TICKS = 1_000


def chunk(kind, payload):
    return struct.pack("<IHHQ", MAGIC, kind, VERSION, len(payload)) + payload


def record(kind, name, *words):
    """A record of one cell: its header and up to seven words, the last ones 0."""
    data = struct.pack("<BBHI", kind, 1, 0, name) + struct.pack(f"<{len(words)}Q", *words)
    return data.ljust(64, b"\0")


def clock(ticks):
    epoch_ns = 1_700_000_000_000_000_000
    return chunk(CLOCK, struct.pack("<QqqQ", ticks, epoch_ns + ticks, ticks, 20))


def strings():
    texts = [b"main", b"aten::mm", b"all_reduce", b"0", b"default_pg", b"0,1", b"float32"]
    return chunk(STRINGS, b"".join(struct.pack("<II", index, len(text)) + text
                                   for index, text in enumerate(texts, 1)))


def communicator():
    return record(5, 4, TICKS, 1, 2 | 5 << 32, 6 | 1 << 32, 7)


def records():
    """Of every kind; small numbers everywhere, so that times and ids are sound ones."""
    thread = record(1, 1, TICKS, 100 | 1 << 32, 5)
    others = [record(kind, 2, TICKS + kind, TICKS + kind + 5, kind, 16, 0, 1 | 7 << 32)
              for kind in range(2, 21) if kind != 5]
    return [thread, communicator(), *others]


def cells(position, data):
    return chunk(CELLS, struct.pack("<IIIIQQQ", 0, 1, 100, 0, 5, position, len(data) // 64) + data)


def head_of_a_later_file(position):
    """What follows kProcess there; `position`: of the first cell that is in the file."""
    carried = b"".join(struct.pack("<II", 0, 1) + data
                       for data in (record(1, 1, 500, 100 | 1 << 32, 5), communicator()))
    return (strings() + clock(10) + chunk(CARRIED, carried) +
            chunk(LOSSES, struct.pack("<IHHQQQ", 0, 1, 0, 3, 100, 200)) + clock(900) +
            chunk(WINDOW, struct.pack("<QQqII", position, 900, 900, 1, 0) +
                  struct.pack("<QII", position, 0, 0)))


def main():
    folder = pathlib.Path(sys.argv[1])
    folder.mkdir(parents=True, exist_ok=True)
    data = b"".join(records())
    tail = (chunk(OPEN_SPANS, struct.pack("<IIIIQII", 0, 1, 100, 2, 5, 0, 0)) +
            chunk(NOTE, struct.pack("<H6xqqq4H", 1, 1, 100, 200, 1, 1, 1, 1) + b"nsda") +
            clock(5_000) + chunk(END, struct.pack("<IiqqQ", 0, 0, 5_000, 1, 20)))
    (folder / "whole").write_bytes(strings() + cells(0, data) + clock(4_000) + tail)
    later = head_of_a_later_file(40) + cells(40, data) + clock(4_000) + tail
    (folder / "later").write_bytes(later)
    (folder / "cut").write_bytes(later[:-100])
    twice = head_of_a_later_file(40) + cells(40, data) + head_of_a_later_file(60) + cells(60, data)
    (folder / "twice").write_bytes(twice + tail)


if __name__ == "__main__":
    main()
