#!/bin/bash
# find_torch.sh [--own]: prints the folder of the LibTorch to build with (it holds include/ and
# lib/), or says in one line why there is none and exits 1. The order: TUTTI_TORCH_PREFIX, the
# torch of the active python3, the project's own venv (not with --own).
# tools/cmake/FindTuttiTorch.cmake and python.sh both ask here.
# shellcheck source=tools/setup/lib.sh
. "$(dirname "$0")/lib.sh"

readonly MIN_VERSION=2.11

# Version of the LibTorch in folder $1, e.g. 2.11.0+cu130; nothing if it holds none.
version_of() {
  if [ -f "$1/version.py" ]; then
    sed -n "s/^__version__ = '\(.*\)'.*/\1/p" "$1/version.py"  # of a Python package
  elif [ -f "$1/build-version" ]; then
    cat "$1/build-version"  # of an unpacked LibTorch
  fi
}

# Why the LibTorch in folder $1 cannot be used; nothing if it can.
objection_to() {
  local version missing
  version=$(version_of "$1")
  [ -n "$version" ] || { echo "no LibTorch in $1"; return; }
  if [ "$(printf '%s\n' "$MIN_VERSION" "$version" | sort -V | head -1)" != "$MIN_VERSION" ]; then
    echo "LibTorch $version in $1 is older than $MIN_VERSION"
  elif [ ! -f "$1/include/torch/csrc/distributed/c10d/reducer.hpp" ]; then
    echo "LibTorch in $1 has no headers of its distributed package"
  elif missing=$(ldd "$1/lib/libtorch_cpu.so" 2>&1 | awk '/not found/ {print $1}') &&
    [ -n "$missing" ]; then
    echo "LibTorch in $1 lacks $(paste -sd" " <<< "$missing")"
  fi
}

# Folder of the active python's torch, found without importing it (that takes seconds).
active_python_torch() {
  python3 -c '
import importlib.util
spec = importlib.util.find_spec("torch")
print(spec.submodule_search_locations[0] if spec else "")' 2> /dev/null || true
}

if [ -n "${TUTTI_TORCH_PREFIX:-}" ]; then
  objection=$(objection_to "$TUTTI_TORCH_PREFIX")
  [ -z "$objection" ] || die "TUTTI_TORCH_PREFIX: $objection"
  echo "$TUTTI_TORCH_PREFIX"
  exit 0
fi

reason="no LibTorch: ./dev setup fetches it"
candidates=("$(active_python_torch)")
[ "${1:-}" = --own ] || candidates+=("$TUTTI_VENV"/lib/python3*/site-packages/torch)
for candidate in "${candidates[@]}"; do
  [ -d "$candidate" ] || continue
  objection=$(objection_to "$candidate")
  [ -z "$objection" ] && { echo "$candidate"; exit 0; }
  reason=$objection
done
printf '%s\n' "$reason" >&2
exit 1
