"""`tutti export --to perfetto`: traces that Perfetto takes, with all that the run has."""
import collections
import json
import os
import pathlib
import sqlite3
import subprocess
import tempfile
import unittest

import perfetto_trace

TUTTI = os.environ["TUTTI_PROGRAM"]
WORKLOAD = os.environ.get("TUTTI_MNIST_MLP")
ROOT = pathlib.Path(__file__).parents[2]
SHARED = pathlib.Path(os.environ.get("TUTTI_SHARED", ROOT / "../shared"))

# What a table's rows become: category of a slice -> query of how many there are.
HOST = {
    "step": "SELECT count(*) FROM step",
    "phase": "SELECT count(*) FROM phase",
    "data_wait": "SELECT count(*) FROM data_wait",
    "python_function": "SELECT count(*) FROM python_call",
    "overhead": "SELECT count(*) FROM overhead",
    "cuda_runtime": "SELECT count(*) FROM api_call WHERE api IS NOT 'driver'",
    "cuda_driver": "SELECT count(*) FROM api_call WHERE api = 'driver'",
    "cpu_op": "SELECT count(*) FROM cpu_op WHERE scope NOT IN (1, 7)",
    "backward_function": "SELECT count(*) FROM cpu_op WHERE scope = 1",
    "user_scope": "SELECT count(*) FROM cpu_op WHERE scope = 7",
    "gpu_range": "SELECT count(*) FROM gpu_range",
    "kernel": "SELECT count(*) FROM kernel WHERE begin_ns IS NOT NULL",
    "memcpy": "SELECT count(*) FROM memcpy WHERE begin_ns IS NOT NULL",
    "memset": "SELECT count(*) FROM memset WHERE begin_ns IS NOT NULL",
    "sync": "SELECT count(*) FROM sync WHERE begin_ns IS NOT NULL",
}
KINETO = {
    "schemaVersion": 1, "baseTimeNanoseconds": 1_700_000_000_000_000_000,
    "distributedInfo": {"rank": 1, "world_size": 2},
    "deviceProperties": [{"id": 1, "name": "NVIDIA H100"}],
    "traceEvents": [
        {"ph": "X", "cat": "user_annotation", "name": "ProfilerStep#3", "pid": 900, "tid": 901,
         "ts": 1.001, "dur": 999.5},
        {"ph": "X", "cat": "cpu_op", "name": "aten::mm", "pid": 900, "tid": 901, "ts": 10.125,
         "dur": 5.25, "args": {"External id": 7, "Sequence number": 4, "Input Dims": [[2, 3]]}},
        {"ph": "X", "cat": "cpu_op", "name": "MmBackward0", "pid": 900, "tid": 902, "ts": 40,
         "dur": 5, "args": {"Sequence number": 4, "Fwd thread id": 1}},
        {"ph": "X", "cat": "cuda_runtime", "name": "cudaLaunchKernel", "pid": 900, "tid": 901,
         "ts": 11.5, "dur": 2.001, "args": {"correlation": 77}},
        {"ph": "X", "cat": "kernel", "name": "gemm", "pid": 1, "tid": 7, "ts": 20.5, "dur": 8.003,
         "args": {"device": 1, "stream": 7, "correlation": 77, "grid": [8, 2, 1],
                  "block": [128, 1, 1]}},
        {"ph": "X", "cat": "kernel", "name": "crosses gemm", "pid": 1, "tid": 7, "ts": 25,
         "dur": 9, "args": {"device": 1, "stream": 7, "correlation": 78}},
        {"ph": "s", "cat": "fwdbwd", "name": "fwdbwd", "id": 4, "pid": 900, "tid": 901,
         "ts": 10.125},
        {"ph": "f", "cat": "fwdbwd", "name": "fwdbwd", "id": 4, "pid": 900, "tid": 902, "ts": 40,
         "bp": "e"},
        {"ph": "i", "s": "t", "name": "[memory]", "pid": 900, "tid": 901, "ts": 12, "args": {
            "Device Type": 1, "Device Id": 1, "Addr": 1 << 40, "Bytes": 512,
            "Total Allocated": 1024, "Total Reserved": 2048}},
    ]}


def tutti(*arguments):
    done = subprocess.run([TUTTI, *map(str, arguments)], capture_output=True, text=True,
                          timeout=300)
    if done.returncode != 0:
        raise AssertionError(f"{arguments}: {done.stderr}")
    return done.stdout


class PerfettoTest(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.folder = pathlib.Path(folder.name)

    def exported(self, run):
        output = self.folder / "run.pftrace"
        told = tutti("--json", "export", run, "--to", "perfetto", "-f", "-o", output)
        trace = perfetto_trace.Trace(output)
        shown = len(trace.all_slices()) + len(trace.instants)
        shown += sum(map(len, trace.counters.values()))
        self.assertEqual(json.loads(told)["files"][0]["events"], shown)
        self.assertTrue(trace.clock)
        return trace

    def number(self, database, sql):
        connection = sqlite3.connect(f"file:{database}?mode=ro", uri=True)
        try:
            return connection.execute(sql).fetchone()[0]
        finally:
            connection.close()

    def check(self, run):
        """Everything that the rank files have is in the trace, once."""
        trace = self.exported(run)
        files = sorted(run.glob("rank-*.sqlite"))
        expected = collections.Counter()
        for file in files:
            for category, sql in HOST.items():
                expected[category] += self.number(file, sql)
            expected["collective"] += self.number(
                run / "run.sqlite", "SELECT count(*) FROM collective_call WHERE arrival_ns IS NOT"
                f" NULL AND rank = {int(file.stem.split('-')[1])}")
        shown = collections.Counter(one.category for one in trace.all_slices())
        for category, count in expected.items():
            self.assertEqual(shown[category], count, category)
        launches = ("SELECT count(DISTINCT a.correlation_id) FROM api_call AS a WHERE"
                    " a.correlation_id <> 0 AND a.correlation_id IN (SELECT correlation_id FROM"
                    " (SELECT correlation_id, begin_ns FROM kernel UNION ALL SELECT correlation_id,"
                    " begin_ns FROM memcpy UNION ALL SELECT correlation_id, begin_ns FROM memset)"
                    " WHERE begin_ns IS NOT NULL)")
        arrows = [(a, b) for a, b in trace.flows if a.category.startswith("cuda_")]
        self.assertEqual(len(arrows), sum(self.number(file, launches) for file in files))
        for call, work in arrows:
            self.assertEqual(call.args["correlation"], work.args["correlation"])
        processes = [t for t in trace.tracks.values() if t.HasField("process")]
        self.assertEqual(len(processes), len(files))
        return trace

    def test_a_small_trace_of_another_tool(self):
        path = self.folder / "rank1.json"
        path.write_text(json.dumps(KINETO))
        tutti("import", path, "-o", self.folder / "run")
        trace = self.check(self.folder / "run")
        by_name = {one.name: one for one in trace.slices}
        gemm, crossing = by_name["gemm"], by_name["crosses gemm"]
        self.assertEqual(trace.path(gemm.track)[1:], ["GPU 1 (NVIDIA H100)", "stream 7"])
        self.assertEqual((gemm.begin, gemm.end - gemm.begin), (1_700_000_000_000_020_500, 8_003))
        self.assertEqual(gemm.args["grid"], "[8,2,1]")
        self.assertEqual(trace.tracks[crossing.track].parent_uuid, gemm.track)
        self.assertEqual({(a.name, b.name) for a, b in trace.flows},
                         {("cudaLaunchKernel", "gemm"), ("aten::mm", "MmBackward0")})
        self.assertEqual(by_name["step 3"].end - by_name["step 3"].begin, 999_500)
        values = {trace.tracks[track].name: samples for track, samples in trace.counters.items()}
        self.assertEqual(values["allocated memory, cuda 1"], [(1_700_000_000_000_012_000, 1024)])
        self.assertEqual(values["reserved memory, cuda 1"][0][1], 2048)

    def test_a_recorded_run(self):
        if not WORKLOAD:
            self.skipTest("the workloads are not built")
        run = self.folder / "run"
        tutti("record", "-o", run, "--nproc", "2", "--", WORKLOAD, "--steps", "12")
        trace = self.check(run)
        self.assertEqual(sum(one.category == "step" for one in trace.slices), 24)
        names = {tuple(trace.path(one.track)) for one in trace.slices if one.category == "step"}
        self.assertEqual(names, {("rank 0: mnist_mlp", "steps"), ("rank 1: mnist_mlp", "steps")})
        backward = [(a, b) for a, b in trace.flows if b.category == "backward_function"]
        self.assertTrue(backward)
        for forward, function in backward:
            self.assertEqual(forward.args["sequence number"], function.args["sequence number"])
            self.assertLess(forward.begin, function.begin)
        reduced = [one for one in trace.slices if one.category == "collective"]
        self.assertTrue(all(one.args["wait ns"] >= 0 for one in reduced if "wait ns" in one.args))

    def test_traces_of_gpus(self):
        traces = SHARED / "traces"
        if not traces.exists():
            self.skipTest(f"no reference files at {traces}")
        for name in ("hta/triton_example/triton_example.json.gz",
                     "hta/ns_resolution_trace/rank-0.Apr_03_18_51_38.1102.pt.trace.json.gz",
                     "hta/critical_path/alexnet/benchmark_result_2869224_1695835535_trace.json.gz",
                     "tracelens/traces/mi300/resnet_act_checkpoint.json.gz",
                     "hta/timeline_analysis/sampled_rank-0.json.gz"):
            with self.subTest(name=name):
                run = self.folder / name.replace("/", "_")
                tutti("import", traces / name, "-o", run)
                trace = self.check(run)
                self.assertGreater(len(trace.slices), 0)


if __name__ == "__main__":
    unittest.main()
