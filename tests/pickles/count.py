#!/usr/bin/env python3
"""count.py KIND FILE: what a dump, snapshot or timeline holds, as JSON, counted with Python's
own readers: an oracle for the importers that shares no line with them."""
import collections
import gzip
import json
import pickle
import sys


def load(path):
    opener = gzip.open if path.endswith(".gz") else open
    with opener(path, "rb") as file:
        data = file.read()
    return json.loads(data) if data.lstrip()[:1] in (b"{", b"[") else pickle.loads(data)


def dump(data):
    states = collections.Counter(entry["state"] for entry in data["entries"])
    return {"entries": len(data["entries"]), "groups": len(data["pg_config"]), **states}


def snapshot(data):
    """Counts, and the peak of what was allocated: led back from the end as the totals are."""
    end = sum(segment["allocated_size"] for segment in data["segments"])
    counts = {"segments": len(data["segments"]),
              "blocks": sum(len(segment["blocks"]) for segment in data["segments"]),
              "reserved": sum(segment["total_size"] for segment in data["segments"]), "end": end,
              "events": sum(map(len, data["device_traces"]))}
    (trace,) = data["device_traces"]
    counts.update(collections.Counter(event["action"] for event in trace))
    allocated = peak = end
    for event in reversed(trace):
        peak = max(peak, allocated)
        if event["action"] == "alloc":
            allocated -= event["size"]
        elif event["action"] == "free_requested":
            allocated += event["size"]
    # What holds is looked for after an event, never before the first.
    counts["peak"] = peak
    return counts


def timeline(data):
    events = [event for event in data if event["ph"] == "X"]
    steps = {}
    for event in events:
        step = steps.setdefault(str(event["args"]["step"]), [float("inf"), 0])
        step[0] = min(step[0], event["ts"])
        step[1] = max(step[1], event["ts"] + event["dur"])
    return {"events": len(events), "names": collections.Counter(e["name"] for e in events),
            "steps": {number: end - begin for number, (begin, end) in steps.items()}}


if __name__ == "__main__":
    print(json.dumps(globals()[sys.argv[1]](load(sys.argv[2]))))
