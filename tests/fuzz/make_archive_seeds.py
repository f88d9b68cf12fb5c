#!/usr/bin/env python3
"""make_archive_seeds.py FOLDER: small packed files for archive_fuzz to start from."""
import gzip
import io
import pathlib
import sys
import zipfile

TRACE = b'{"traceEvents": [' + b'{"ph": "X", "name": "aten::mm", "ts": 1, "dur": 2},' * 20 + b"{}]}"


class Pipe(io.RawIOBase):
    """Cannot seek, so that sizes are written behind the data."""

    def __init__(self):
        self.data = b""

    def writable(self):
        return True

    def write(self, data):
        self.data += bytes(data)
        return len(data)


def archive(target, method):
    with zipfile.ZipFile(target, "w", method) as file:
        file.writestr("run/", b"")
        for rank in range(2):
            file.writestr(f"run/rank{rank}.json", TRACE)


def archives():
    for name, method in (("stored", zipfile.ZIP_STORED), ("deflated", zipfile.ZIP_DEFLATED)):
        whole = io.BytesIO()
        archive(whole, method)
        yield name + ".zip", whole.getvalue()
        yield name + "-cut.zip", whole.getvalue()[: len(whole.getvalue()) * 2 // 3]
        pipe = Pipe()
        archive(pipe, method)
        yield name + "-pipe.zip", pipe.data
        yield name + "-pipe-cut.zip", pipe.data[: len(pipe.data) * 2 // 3]
    packed = gzip.compress(TRACE, mtime=0)
    yield "one.gz", packed
    yield "two.gz", packed + packed
    yield "cut.gz", packed[:-6]
    yield "plain.json", TRACE


def main():
    folder = pathlib.Path(sys.argv[1])
    folder.mkdir(parents=True, exist_ok=True)
    for name, data in archives():
        (folder / name).write_bytes(data)


if __name__ == "__main__":
    main()
