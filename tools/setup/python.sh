#!/bin/bash
# python.sh GOAL: makes the venv in the cache and installs the pinned wheels. Goals:
#   minimal  what C++ programs need to build with LibTorch and to run: 1.3 GB
#   python   everything that `import torch` needs as well: 4.7 GB, and what tests read exports
#            back with
#   cuda     a CUDA compiler, unless there is one: 0.3 GB, for the programs of tests/gpu
#   hta      Holistic Trace Analysis, for ./dev bench, into the venv that TUTTI_VENV names
#   site     MkDocs, for ./dev site, likewise
#   compat-VERSION  another torch, for compat.sh, into the venv that TUTTI_VENV names
# A LibTorch (find_torch.sh) or a PyTorch (find_job_python.sh) of the user's own spares the
# download.
# shellcheck source=tools/setup/lib.sh
. "$(dirname "$0")/lib.sh"

here=$TUTTI_ROOT/tools/setup
goal=$1

# A python3 that the pinned wheels exist for and that can make a venv.
find_python() {
  local candidate
  for candidate in "${TUTTI_PYTHON:-}" python3 /usr/bin/python3 python3.13 python3.12 python3.11; do
    [ -n "$candidate" ] && "$candidate" -c '
import ensurepip, platform, sys, venv
sys.exit(not ((3, 11) <= sys.version_info[:2] <= (3, 13) and platform.machine() == "x86_64"))
' 2> /dev/null && { echo "$candidate"; return; }
  done
  die "needs CPython 3.11 to 3.13 with venv on x86_64 (TUTTI_PYTHON names one)"
}

make_venv() {
  "$TUTTI_VENV/bin/python" -m pip --version > /dev/null 2>&1 && return
  local python
  python=$(find_python)
  say "making $TUTTI_VENV with $("$python" --version)"
  "$python" -m venv --clear "$TUTTI_VENV"
}

pip() { "$TUTTI_VENV/bin/python" -m pip --disable-pip-version-check "$@"; }

# Installs requirements-$1.txt unless its stamp says that this very file is installed.
install_wheels() {
  local file=$here/requirements-$1.txt stamp=$TUTTI_VENV/tutti-$1.stamp
  make_venv
  [ "$(cat "$stamp" 2> /dev/null)" = "$(sha256sum < "$file")" ] && return
  say "installing Python packages ($1) into $TUTTI_VENV"
  # pip's own cache would keep every wheel a second time.
  pip install --no-cache-dir --no-deps --require-hashes --only-binary :all: -r "$file"
  sha256sum < "$file" > "$stamp"
}

# The UCI handwritten digits, which the workloads train on by default.
fetch_digits() {
  local digits=$TUTTI_CACHE_DIR/data/digits.csv scratch
  [ -s "$digits" ] && return
  say "fetching the handwritten digits into $digits"
  scratch=$(mktemp -d)
  mkdir -p "$(dirname "$digits")"
  make_venv
  if ! pip download --quiet --no-cache-dir --no-deps --require-hashes --only-binary :all: \
    --python-version 3.11 --platform manylinux2014_x86_64 --platform manylinux_2_17_x86_64 \
    -d "$scratch" -r "$here/requirements-data.txt" ||
    ! "$TUTTI_VENV/bin/python" "$here/extract_digits.py" "$scratch"/scikit_learn-*.whl "$digits"
  then
    say "no digits: the workloads will train on a generated set, and say so"
  fi
  rm -rf "$scratch"
}

case $goal in
  minimal)
    if "$here/find_torch.sh" --own > /dev/null 2>&1; then
      [ -e /usr/local/cuda/include/nvtx3/nvToolsExt.h ] || install_wheels nvtx
    else
      install_wheels minimal
    fi
    fetch_digits
    ;;
  python)
    "$here/find_torch.sh" > /dev/null 2>&1 || install_wheels minimal
    "$here/find_job_python.sh" --own > /dev/null || install_wheels python
    install_wheels readers
    fetch_digits
    ;;
  cuda)
    command -v nvcc > /dev/null || [ -x "${CUDA_HOME:-/usr/local/cuda}/bin/nvcc" ] ||
      install_wheels cuda
    ;;
  hta | site | compat-*) install_wheels "$goal" ;;
  *) die "usage: python.sh minimal|python|cuda|hta|site|compat-VERSION" ;;
esac
