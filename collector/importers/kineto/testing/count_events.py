"""Counts what a Chrome trace holds, with nothing but Python's own JSON and decimals.

Prints one "name value" a line: how many rows of each kind the trace must give, and sums
over them, as the importer's tests compare them. Times are exact: decimals, not floats.
"""

import collections
import decimal
import gzip
import json
import sys

OPS = {"cpu_op", "Operator", "operator"}
RUNTIME = {"cuda_runtime", "Runtime", "xpu_runtime", "hip_runtime"}
DRIVER = {"cuda_driver", "Driver", "xpu_driver"}
KERNELS = {"kernel", "Kernel"}
LONGEST_NS = 30 * 24 * 3600 * 10**9
MEMORY = {"[memory]", "[OutOfMemory]"}


def load(path):
    data = open(path, "rb").read()
    if data[:2] == b"\x1f\x8b":
        data = gzip.decompress(data)
    return json.loads(data, parse_float=decimal.Decimal)


def to_ns(microseconds):
    scaled = decimal.Decimal(microseconds) * 1000
    return int(scaled.to_integral_value(decimal.ROUND_HALF_EVEN))


def kind_of(event, processes):
    category, name, args = event.get("cat"), event.get("name", ""), event.get("args") or {}
    if category in OPS:
        return "cpu_op"
    if category in RUNTIME or category in DRIVER:
        return "api_call"
    if category in KERNELS:
        return "kernel"
    if category in {"gpu_memcpy", "Memcpy"}:
        return "memcpy"
    if category in {"gpu_memset", "Memset"}:
        return "memset"
    if category == "cuda_sync":
        return "sync"
    if category == "python_function":
        return "python_call"
    if category == "gpu_user_annotation":
        return "gpu_range"
    if category in {"overhead", "Overhead"}:
        return "overhead"
    if category is not None:
        return "range"
    is_hccl = processes.get(event.get("pid")) == "HCCL"
    if ("Task Type" in args or "task type" in args) and not is_hccl:
        task = args.get("Task Type", args.get("task type"))
        if task.startswith(("EVENT_", "NOTIFY_")):
            return "sync"
        return "memcpy" if task.startswith(("MEMCPY", "SDMA")) else "kernel"
    if name[:2] == "ze" and name[2:3].isupper():
        return "api_call"
    if "[SIMD" in name and name.endswith("}]"):
        return "kernel"
    return "range"


def count_flows(events):
    starts, ends = set(), collections.Counter()
    for event in events:
        key = (event.get("cat"), event.get("name"), str(event.get("id")))
        if event["ph"] in "st":
            starts.add(key)
        if event["ph"] in "tf":
            ends[key] += 1
    return sum(count for key, count in ends.items() if key in starts)


def count_halves(events):
    """Ranges of B and E events, and ends that nothing began."""
    spans, unmatched = 0, 0
    stacks = collections.defaultdict(list)
    for event in sorted(events, key=lambda e: to_ns(e["ts"])):
        stack = stacks[(event.get("pid"), str(event.get("tid")))]
        if event["ph"] == "B":
            stack.append(event.get("name"))
            spans += 1
            continue
        name = event.get("name")
        for place in range(len(stack) - 1, -1, -1):
            if name is None or stack[place] == name:
                del stack[place]
                break
        else:
            unmatched += 1
    return spans, unmatched


def count(document):
    events = document["traceEvents"] if isinstance(document, dict) else document
    base_ns = document.get("baseTimeNanoseconds", 0) if isinstance(document, dict) else 0
    counts = collections.Counter()
    processes = {}
    first_ns = None
    for event in events:
        phase = event.get("ph")
        args = event.get("args") or {}
        if phase == "M":
            if event["name"] == "process_name":
                processes[event.get("pid")] = args.get("name")
        elif phase in ("i", "I", "R"):
            counts["memory_event" if event["name"] in MEMORY else "mark"] += 1
            counts["memory_bytes"] += args.get("Bytes", 0) if event["name"] in MEMORY else 0
        elif phase == "C":
            counts["counter_sample"] += len(args)
        elif phase == "X":
            kind = kind_of(event, processes)
            duration_ns = to_ns(event.get("dur", -1))
            counts[kind] += 1
            if 0 <= duration_ns <= LONGEST_NS:
                counts[kind + "_ns"] += duration_ns
            if kind == "memcpy":
                counts["memcpy_bytes"] += args.get("bytes", 0)
            if kind == "kernel" and isinstance(args.get("grid"), list):
                counts["grid_x"] += args["grid"][0]
            if kind in ("kernel", "api_call"):
                counts[kind + "_correlation"] += args.get("correlation", 0)
            if kind == "python_call":
                counts["python_id"] += args.get("Python id", 0)
            if kind == "cpu_op":
                counts["external_id"] += args.get("External id", 0)
                begin_ns = base_ns + to_ns(event["ts"])
                first_ns = begin_ns if first_ns is None else min(first_ns, begin_ns)
            if kind in ("cpu_op", "range") and event.get("name", "").startswith("ProfilerStep#"):
                counts["step"] += 1
    counts["flow"] = count_flows([e for e in events if e.get("ph") in ("s", "t", "f")])
    spans, unmatched = count_halves([e for e in events if e.get("ph") in ("B", "E")])
    counts["range"] += spans
    counts["end_without_begin"] = unmatched
    if first_ns is not None:
        counts["first_op_ns"] = first_ns
    counts["events"] = len(events)
    return counts


if __name__ == "__main__":
    for key, value in sorted(count(load(sys.argv[1])).items()):
        print(key, int(value))
