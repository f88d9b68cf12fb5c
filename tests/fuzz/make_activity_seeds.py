#!/usr/bin/env python3
"""make_activity_seeds.py FOLDER: writes buffers of CUPTI's activity records, one of each kind that
becomes rows, for activity_fuzz to start from."""
import pathlib
import struct
import sys

# Length of a record by kind, in the oldest and in a recent release.
CUDA_12_4 = {1: 88, 2: 88, 4: 40, 5: 40, 8: 184, 9: 24, 10: 208, 11: 32, 17: 56, 22: 96, 37: 24,
             38: 40, 39: 24, 48: 40, 49: 120, 50: 72, 51: 56, 52: 72}
CUDA_13_0 = CUDA_12_4 | {1: 96, 9: 32, 10: 216, 38: 56, 49: 128, 50: 80}

# The fuzzer's first byte: the place of the release in its list.
RELEASES = {1: CUDA_12_4, 5: CUDA_13_0}


def record(kind, length):
    """Small numbers everywhere, so that times, sizes and ids are sound ones."""
    data = bytearray(length)
    for offset in range(8, length - 7, 8):
        struct.pack_into("<Q", data, offset, 1000 + offset)
    struct.pack_into("<II", data, 0, kind, 1)
    return bytes(data)


def main():
    folder = pathlib.Path(sys.argv[1])
    folder.mkdir(parents=True, exist_ok=True)
    for place, lengths in RELEASES.items():
        records = b"".join(record(kind, length) for kind, length in lengths.items())
        (folder / f"release-{place}").write_bytes(bytes([place]) + records)


if __name__ == "__main__":
    main()
