"""Runs for the report's tests, made as PyTorch traces and imported.

A step of rank r: a GEMM, an all-reduce that waits for the rank LATE, an element-wise kernel beside
it, and an optimizer kernel; steps differ a little, and LATE's GEMM takes longer.
"""
import json
import pathlib
import subprocess

LATE = 3
HOSTILE = "</script><img src=x onerror=\"document.title='pwned'\"><!--\u2028\u2029'\"&amp;"


def rank_trace(rank, world, steps, name="gemm"):
    events = [{"ph": "M", "name": "process_name", "pid": 100, "args": {"name": f"train{name}"}},
              {"ph": "M", "name": "thread_name", "pid": 100, "tid": 101, "args": {"name": name}}]
    group = {"Group size": world, "Process Group Name": "0", "Process Group Description": name,
             "Process Group Ranks": json.dumps(list(range(world))) if world < 40 else None}
    for step in range(steps):
        begin = 1000 * step
        slow = 150 if rank == LATE % world else (rank * 7 + step * 13) % 40
        if step == steps // 2:
            slow += 200
        ready = begin + 650 + (step * 13) % 30

        def launch(call, number, at):
            return {"ph": "X", "cat": "cuda_runtime", "name": call, "pid": 100, "tid": 101,
                    "ts": at, "dur": 5, "args": {"correlation": 10 * step + number}}

        def kernel(kernel_name, stream, number, at, length, **args):
            return {"ph": "X", "cat": "kernel", "name": kernel_name, "pid": 0, "tid": stream,
                    "ts": at, "dur": length, "args": {"device": 0, "stream": stream,
                                                      "correlation": 10 * step + number, **args}}

        events += [
            {"ph": "X", "cat": "user_annotation", "name": f"ProfilerStep#{step + 100}", "pid": 100,
             "tid": 101, "ts": begin, "dur": 990},
            {"ph": "X", "cat": "cpu_op", "name": f"aten::mm {name}", "pid": 100, "tid": 101,
             "ts": begin + 5, "dur": 30, "args": {}},
            launch("cudaLaunchKernel", 1, begin + 10),
            launch("cudaLaunchKernel", 2, begin + 20),
            launch("cudaLaunchKernel", 3, begin + 30),
            kernel(f"sm80_{name}", 7, 1, begin + 40, 300 + slow),
            kernel("ncclDevKernel_AllReduce_Sum_f32", 20, 2, begin + 342 + slow,
                   ready + 150 - begin - 342 - slow, **{
                       "Collective name": "allreduce", "dtype": "Float", "In msg nelems": 1 << 20,
                       "Seq": step, **{k: v for k, v in group.items() if v}}),
            kernel("vectorized_elementwise_kernel", 7, 3, begin + 600, 60),
            {"ph": "i", "s": "t", "name": "[memory]", "pid": 100, "tid": 101, "ts": begin + 50,
             "args": {"Device Type": 1, "Device Id": 0, "Addr": 4096 * (step + 1),
                      "Bytes": 1 << 20, "Total Allocated": (step % 9 + 1) << 20,
                      "Total Reserved": 64 << 20}},
        ]
    return {"schemaVersion": 1, "baseTimeNanoseconds": 1_700_000_000_000_000_000,
            "host_name": f"node{rank // 8}",
            "distributedInfo": {"backend": "nccl", "rank": rank, "world_size": world, "pg_config": [
                {"pg_name": "0", "pg_desc": name, "backend_config": "cuda:nccl", "pg_size": world,
                 "ranks": list(range(world))}]},
            "deviceProperties": [{"id": 0, "name": f"GPU {name}"}], "traceEvents": events}


def make_run(tutti, folder, world, steps, name="gemm"):
    """The run's folder."""
    traces = pathlib.Path(folder) / "traces"
    traces.mkdir(parents=True)
    for rank in range(world):
        (traces / f"rank{rank}.json").write_text(json.dumps(rank_trace(rank, world, steps, name)))
    run = pathlib.Path(folder) / "run"
    subprocess.run([tutti, "import", traces, "-o", run], check=True, stdout=subprocess.DEVNULL)
    return run
