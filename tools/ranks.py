"""Starts the ranks of a job on this machine for tests, as torchrun would but without torch."""
import os
import socket
import subprocess
import sys
import time


def free_port():
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return probe.getsockname()[1]


def run_ranks(command, ranks, env=None, timeout_s=120):
    """Runs `command` once per rank; returns [(exit status, stdout, stderr)] by rank.

    Ranks that still run after `timeout_s` are killed (status -9). A rank's output is read only
    at its end, so it must fit into a pipe (64 KiB)."""
    common = {k: v for k, v in os.environ.items() if not k.startswith("TORCHELASTIC_")}
    common.update(env or {})
    common.update(MASTER_ADDR="127.0.0.1", MASTER_PORT=str(free_port()))
    common.update(WORLD_SIZE=str(ranks), LOCAL_WORLD_SIZE=str(ranks))
    processes = [
        subprocess.Popen(
            command,
            env={**common, "RANK": str(rank), "LOCAL_RANK": str(rank)},
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            text=True,
        )
        for rank in range(ranks)
    ]
    deadline = time.monotonic() + timeout_s
    results = []
    for process in processes:
        try:
            out, err = process.communicate(timeout=max(0, deadline - time.monotonic()))
        except subprocess.TimeoutExpired:
            process.kill()
            out, err = process.communicate()
        results.append((process.returncode, out, err))
    return results


if __name__ == "__main__":  # ranks.py COUNT COMMAND...
    statuses = []
    for rank, (status, out, err) in enumerate(run_ranks(sys.argv[2:], int(sys.argv[1]))):
        sys.stdout.write(out)
        sys.stderr.write(err)
        statuses.append(status)
    sys.exit(next((status for status in statuses if status), 0))
