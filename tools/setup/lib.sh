# shellcheck shell=bash disable=SC2034  # variables are for those who source this
# Shared by ./dev and the set-up scripts. Sourced, never run.

set -euo pipefail

TUTTI_ROOT=$(cd "$(dirname "${BASH_SOURCE[0]}")/../.." && pwd)
TUTTI_CACHE_DIR=${TUTTI_CACHE:-${XDG_CACHE_HOME:-$HOME/.cache}/tutti}
TUTTI_VENV=${TUTTI_VENV:-$TUTTI_CACHE_DIR/venv}

say() { printf '==> %s\n' "$*" >&2; }
die() {
  printf 'dev: %s\n' "$*" >&2
  exit 1
}

# Runs a command as root: directly, or through sudo.
as_root() {
  if [ "$(id -u)" = 0 ]; then
    "$@"
  elif command -v sudo > /dev/null; then
    sudo "$@"
  else
    die "needs root for: $*"
  fi
}

# Only one set-up at a time: two checkouts share the cache. The lock goes with the process.
lock_cache() {
  mkdir -p "$TUTTI_CACHE_DIR"
  exec 9> "$TUTTI_CACHE_DIR/setup.lock"
  flock -n 9 || {
    say "waiting for another set-up to finish"
    flock 9
  }
}
unlock_cache() { exec 9>&-; }
