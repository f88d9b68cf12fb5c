#!/usr/bin/env python3
"""make_runs.py OUT: writes the runs of this sample, three comparisons of six pairs each.

    OUT/regression/base-1 … new-6   the all-reduce takes 2.4 ms longer, and none of it is hidden
    OUT/null/…                      nothing changed
    OUT/noisy/…                     nothing changed, on a machine whose launches differ by 3 %

A run is 60 steps of two ranks on CPUs, written as the tables of schema/raw.sql. Everything is
drawn from a seed: the same files on every machine.
"""
import json
import pathlib
import random
import re
import sqlite3
import sys

REPOSITORY = pathlib.Path(__file__).resolve().parents[2]
PAIRS = 6
STEPS = 60
MS = 1_000_000
MAIN, GLOO = 100, 200
BYTES = 1_638_400

# Scenario -> (relative spread of launches, of steps, ms that the new all-reduce takes longer).
SCENARIOS = {
    "regression": (0.003, 0.010, 2.4),
    "null": (0.002, 0.010, 0.0),
    "noisy": (0.030, 0.020, 0.0),
}


def schema_version():
    text = (REPOSITORY / "schema/sql.h").read_text()
    return int(re.search(r"kSchemaVersion = (\d+)", text).group(1))


class RankFile:
    """One rank's raw tables. Times are nanoseconds."""

    def __init__(self, path, rank, begin_ns):
        self.database = sqlite3.connect(path)
        self.database.execute("PRAGMA page_size = 1024")
        self.database.execute("PRAGMA synchronous = OFF")  # a sample can be made again
        self.database.executescript((REPOSITORY / "schema/raw.sql").read_text())
        self.database.execute("PRAGMA application_id = 0x54757469")
        self.database.execute(f"PRAGMA user_version = {schema_version()}")
        self.strings = {"": 0}
        self.insert("meta", key="file.kind", value="rank")
        self.insert("meta", key="file.complete", value="1")
        self.insert("process", pid=1000 + rank, host="node1", boot_id="sample", rank=rank,
                    local_rank=rank, world_size=2, rank_source="RANK", attempt=0,
                    executable="/opt/job/ddp_sample", promoted_by="annotate",
                    torch_version="2.11.0", begin_ns=begin_ns)
        self.insert("thread", tid=MAIN, kernel_tid=MAIN, name="ddp_sample", role="main")
        self.insert("thread", tid=GLOO, kernel_tid=GLOO, name="gloo", role="gloo")
        self.insert("communicator", id=1, backend="gloo", uid="0", description="default_pg",
                    ordinal=0, group_rank=rank, group_size=2, global_ranks="[0, 1]")

    def insert(self, table, **row):
        names = ", ".join(row)
        marks = ", ".join("?" * len(row))
        self.database.execute(f"INSERT INTO {table} ({names}) VALUES ({marks})", [*row.values()])

    def string(self, text):
        if text not in self.strings:
            self.strings[text] = len(self.strings)
            self.insert("string", id=self.strings[text], text=text)
        return self.strings[text]

    def op(self, name, begin_ns, end_ns, scope=0):
        self.insert("cpu_op", tid=MAIN, name_id=self.string(name), scope=scope, begin_ns=begin_ns,
                    end_ns=end_ns, depth=0, shapes_id=0)

    def finish(self, end_ns):
        self.database.execute("UPDATE process SET end_ns = ?, exit_status = 0", [end_ns])
        self.database.commit()
        self.database.close()


def write_step(files, step, begin_ns, work, longer_ns):
    """One step of both ranks; `work` scales its compute. Returns its end."""
    def ms(value):
        return int(value * work * MS)

    forward = ms(12)
    backward = ms(20)
    arrivals = []
    for rank, file in enumerate(files):
        t = begin_ns
        file.insert("data_wait", tid=MAIN, loader_id=file.string("loader"), begin_ns=t,
                    end_ns=t + ms(1), queue_depth=2, origin="annotate")
        t += ms(1)
        file.insert("batch", tid=MAIN, time_ns=t, samples=64)
        file.op("aten::linear", t, t + forward)
        t += forward
        file.op("AddmmBackward0", t, t + backward, scope=1)
        # The bucket is ready after three quarters of the backward pass; rank 1 is a bit late.
        arrivals.append(t + backward * 3 // 4 + rank * ms(0.3))
        t += backward
    end = max(arrivals) + ms(9) + longer_ns
    for rank, file in enumerate(files):
        file.insert("collective_source", origin="gloo_op", communicator_id=1, sequence=step,
                    op_id=file.string("all_reduce"), dtype_id=file.string("float32"), bytes=BYTES,
                    enqueue_ns=arrivals[rank] - 1000, begin_ns=arrivals[rank], end_ns=end,
                    tid=GLOO, enqueue_tid=MAIN)
        file.op("Optimizer.step#SGD.step", end, end + ms(2), scope=7)
        file.op("aten::_foreach_add_", end, end + ms(2))
        file.insert("step", number=step, tid=MAIN, begin_ns=begin_ns, end_ns=end + ms(2),
                    origin="annotate")
    return end + ms(2)


def write_run(folder, seed, begin_ns, launch_spread, step_spread, longer_ms):
    draw = random.Random(seed)
    folder.mkdir(parents=True)
    files = [RankFile(folder / f"rank-{rank:05}.sqlite", rank, begin_ns) for rank in range(2)]
    level = 1 + launch_spread * draw.gauss(0, 1)
    now = begin_ns
    for step in range(STEPS):
        warming = 1.5 if step == 0 else 1.2 if step < 3 else 1
        work = level * warming * (1 + step_spread * draw.gauss(0, 1))
        now = write_step(files, step, now, work, int(longer_ms * MS))
    for file in files:
        file.finish(now)


def main():
    out = pathlib.Path(sys.argv[1])
    for name, (launch_spread, step_spread, longer_ms) in SCENARIOS.items():
        for place in range(2 * PAIRS):
            pair, second = divmod(place, 2)
            is_new = second != pair % 2  # A B B A: what drifts meets both sides alike
            side = "new" if is_new else "base"
            begin_ns = 1_750_000_000_000_000_000 + place * 60_000 * MS
            write_run(out / name / f"{side}-{pair + 1}", f"{name} {place}", begin_ns,
                      launch_spread, step_spread, longer_ms if is_new else 0)
    print(json.dumps({"schema_version": schema_version(), "runs": 6 * PAIRS}))


if __name__ == "__main__":
    main()
