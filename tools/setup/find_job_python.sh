#!/bin/bash
# Prints a python that can run PyTorch jobs (all that `import torch` needs is there): the active
# python3 if it has such a torch, else the project's venv after `./dev setup python`. Exits 1 if
# there is none. find_torch.sh is the same for C++.
# shellcheck source=tools/setup/lib.sh
. "$(dirname "$0")/lib.sh"

can_run_jobs() {
  "$1" -c '
import importlib.util, sys
sys.exit(importlib.util.find_spec("torch") is None)
' 2> /dev/null && "$1" -c '
import sys, torch, torch.distributed
major, minor = torch.__version__.split(".")[:2]
sys.exit((int(major), int(minor)) < (2, 8) or not torch.distributed.is_available())
' 2> /dev/null
}

if can_run_jobs python3; then
  command -v python3
elif [ "${1:-}" != --own ] && [ -e "$TUTTI_VENV/tutti-python.stamp" ]; then
  echo "$TUTTI_VENV/bin/python"
else
  exit 1
fi
