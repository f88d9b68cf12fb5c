#!/bin/bash
# packages.sh [--if-offered] LIST...: installs the Debian packages named in the lists that are not
# there yet; with --if-offered, only those that the system's archive has. Needs root or sudo only
# if one is missing.
# shellcheck source=tools/setup/lib.sh
. "$(dirname "$0")/lib.sh"

if_offered=
[ "$1" != --if-offered ] || {
  if_offered=yes
  shift
}
mapfile -t wanted < <(cat "$@" | sed 's/#.*//' | awk 'NF')

if ! command -v dpkg-query > /dev/null; then
  say "not a Debian system: these must be there already: ${wanted[*]}"
  exit 0
fi

missing=()
for package in "${wanted[@]}"; do
  status=$(dpkg-query -W -f '${db:Status-Status}' "$package" 2> /dev/null || true)
  [ "$status" = installed ] || missing+=("$package")
done
[ ${#missing[@]} = 0 ] && exit 0

# One list refresh a day is enough, and none is needed when nothing is missing.
stamp=$TUTTI_CACHE_DIR/apt-update.stamp
if [ -z "$(find "$stamp" -mmin -1440 2> /dev/null)" ]; then
  as_root apt-get -q update
  touch "$stamp"
fi

is_offered() { LC_ALL=C apt-cache policy "$1" | grep -q '^  Candidate: [^(]'; }
if [ -n "$if_offered" ]; then
  offered=()
  for package in "${missing[@]}"; do
    if is_offered "$package"; then
      offered+=("$package")
    else
      say "this system has no package $package: tests that need it are skipped"
    fi
  done
  missing=("${offered[@]}")
  [ ${#missing[@]} = 0 ] && exit 0
fi

say "installing Debian packages: ${missing[*]}"
install() {
  as_root env DEBIAN_FRONTEND=noninteractive \
    apt-get -qy --no-install-recommends install "${missing[@]}"
}
install || {
  say "retrying with fresh package lists"
  as_root apt-get -q update
  install
} || die "could not install: ${missing[*]}"
