#!/bin/sh
# interleave.sh BASE_DIR NEW_DIR OUT [PAIRS] -- ARGUMENTS…
#
# Records PAIRS (default 6) pairs of launches of ./train in two checkouts, in the order
# A B B A …, into OUT/base-1 … and OUT/new-1 …. Arguments go to ./train. A launch that fails ends
# it: nothing is tried again silently.
set -eu

base_dir=$1
new_dir=$2
out=$3
shift 3
pairs=6
if [ "${1:-}" != "--" ]; then
  pairs=$1
  shift
fi
shift # --

launch() { # SIDE DIR PAIR ARGUMENTS…
  side=$1
  dir=$2
  pair=$3
  shift 3
  echo "launch: $side $pair" >&2
  (cd "$dir" && tutti record -o "$out/$side-$pair" -- ./train "$@")
}

mkdir -p "$out"
out=$(cd "$out" && pwd)
pair=1
while [ "$pair" -le "$pairs" ]; do
  if [ $((pair % 2)) -eq 1 ]; then
    launch base "$base_dir" "$pair" "$@"
    launch new "$new_dir" "$pair" "$@"
  else
    launch new "$new_dir" "$pair" "$@"
    launch base "$base_dir" "$pair" "$@"
  fi
  pair=$((pair + 1))
done
