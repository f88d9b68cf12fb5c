#!/bin/bash
# compat.sh [VERSION...]: records the Python sample under other versions of torch (default: the
# oldest and the newest supported) and says for each what was recorded. 5 GB of packages per
# version, so this is no part of the tests.
# shellcheck source=tools/setup/lib.sh
. "$(dirname "$0")/lib.sh"
cd "$TUTTI_ROOT"

here=tools/setup
tutti=build/release/cli/tutti
steps=30
[ $# -gt 0 ] || set -- 2.8.0 2.15.0

failed=()
for version in "$@"; do
  [ -f "$here/requirements-compat-$version.txt" ] || die "torch $version is not pinned (lock.py)"
  lock_cache
  TUTTI_VENV=$TUTTI_CACHE_DIR/compat-$version "$here/python.sh" "compat-$version"
  unlock_cache
  run=tutti-runs/compat-$version
  say "recording $run"
  "$tutti" record -f -o "$run" --nproc 2 -- \
    "$TUTTI_CACHE_DIR/compat-$version/bin/python" samples/python/ddp_mnist.py --steps $steps
  "$tutti" report "$run" --format json |
    python3 "$here/compat_verdict.py" "$version" $steps "$run" || failed+=("$version")
done
[ ${#failed[@]} = 0 ] || die "compat: not fully recorded under torch ${failed[*]}"
