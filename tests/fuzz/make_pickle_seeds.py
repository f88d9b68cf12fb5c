#!/usr/bin/env python3
"""make_pickle_seeds.py FOLDER [FILE...]: seeds for pickle_fuzz, flight_recorder_fuzz and
memory_snapshot_fuzz: small dumps and snapshots in every protocol and as JSON, and copies of
FILEs up to 64 KiB."""
import collections
import json
import pathlib
import pickle
import shutil
import sys

FRAMES = [{"name": "step", "filename": "train.py", "line": 88}]


def dump():
    entry = {
        "record_id": 1, "pg_id": 5, "process_group": ("35", "TENSOR"), "collective_seq_id": 8,
        "p2p_seq_id": 0, "op_id": 8, "profiling_name": "nccl:all_reduce", "time_created_ns": 10**18,
        "input_sizes": [[8, 4]], "input_dtypes": ["Float"], "output_sizes": [[8, 4]],
        "output_dtypes": ["Float"], "state": "started", "time_discovered_started_ns": 10**18,
        "time_discovered_completed_ns": None, "retired": False, "timeout_ms": 600000,
        "is_p2p": False, "duration_ms": 1.5, "thread_id": "123", "frames": FRAMES,
    }
    send = dict(entry, profiling_name="nccl:send 0->1", is_p2p=True, p2p_seq_id=3)
    return {
        "version": "2.10", "nccl_version": "2.27.3",
        "pg_config": {"35": {"name": "35", "desc": "TENSOR", "ranks": "[0, 1]"}},
        "pg_status": {"5": {"last_enqueued_collective": 8, "last_started_collective": -1,
                            "last_completed_collective": 7}},
        "entries": [entry, send, dict(send, profiling_name="nccl:coalesced")],
        "nccl_comm_state": {"0x1": {"rank": "0"}},
    }


def snapshot():
    block = {"address": 1 << 40, "size": 512, "requested_size": 500, "state": "active_allocated",
             "frames": FRAMES}
    segment = {"device": 0, "address": 1 << 40, "total_size": 2048, "stream": 0,
               "segment_type": "small", "allocated_size": 512, "active_size": 512,
               "segment_pool_id": (0, 1), "is_expandable": False, "frames": FRAMES,
               "blocks": [block, {"size": 1536, "state": "inactive"}]}
    events = [{"action": a, "addr": 1 << 40, "size": 512, "stream": 0, "time_us": 7,
               "frames": FRAMES} for a in ("free_requested", "free_completed", "alloc", "oom")]
    return {"segments": [segment], "device_traces": [events], "big": 1 << 70}


def timeline():
    return [
        {"name": "forward-compute", "pid": 0, "tid": 0, "ts": 2.5, "dur": 1.25, "ph": "X",
         "args": {"step": 7, "model_chunk": 0, "mb_id": 3, "seq_id": 0}},
        {"name": "thread_name", "pid": 0, "tid": 0, "ph": "M",
         "args": {"name": "PP rank 0, TP rank 0, compute"}},
    ]


def main():
    folder = pathlib.Path(sys.argv[1])
    folder.mkdir(parents=True, exist_ok=True)
    data = {"dump": dump(), "snapshot": snapshot(), "timeline": timeline(),
            "classes": [collections.OrderedDict(a=1), collections.defaultdict(list, b=[2]),
                        {1, 2}, frozenset([3]), b"\xff", bytearray(b"x"), 1.5, -1, "模"]}
    for name, value in data.items():
        for protocol in range(6):
            (folder / f"{name}.{protocol}.pickle").write_bytes(pickle.dumps(value, protocol))
        if name != "classes":
            (folder / f"{name}.json").write_text(json.dumps(value))
    for number, file in enumerate(map(pathlib.Path, sys.argv[2:])):
        if file.stat().st_size <= 64 * 1024:
            shutil.copyfile(file, folder / f"{number:03}-{file.name}")


if __name__ == "__main__":
    main()
