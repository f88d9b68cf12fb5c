#!/bin/bash
# run.sh [--quick]: every static check over the tracked files; exits 1 if any objects. --quick
# leaves out clang-tidy and cppcheck, which take minutes.
# shellcheck source=tools/setup/lib.sh
. "$(dirname "$0")/../setup/lib.sh"
cd "$TUTTI_ROOT"

failed=()
check() { # check NAME COMMAND...
  say "$1"
  "${@:2}" || failed+=("$1")
}

files() { git ls-files -z -- "$@"; }

format() { files '*.h' '*.cc' '*.c' '*.js' | xargs -0 -r clang-format --dry-run -Werror; }
spelling() {
  files . | xargs -0 codespell -L ot,nd,te,ans,kown,onother,lod --skip 'tools/setup/requirements-*'
}
shell() { files dev .ci/run '*.sh' | xargs -0 shellcheck -x; }
lines() { # nothing is longer than 100 columns, of characters; a test's JSON is as its tool wrote it
  ! files '*.h' '*.cc' '*.c' '*.py' '*.sh' '*.cmake' '*CMakeLists.txt' dev |
    LC_ALL=C.UTF-8 xargs -0 grep -HnE '^.{101,}' |
    grep -vE '_test\.cc:[0-9]+:.*"(ph|args|pid|pg_name)":'
}

# tidy_files CHECKS < NAMES: clang-tidy, with CHECKS added to those of .clang-tidy.
tidy_files() {
  # Of ./dev lint, which builds it first, as some headers are generated.
  xargs -r -P "$(nproc)" -n 4 clang-tidy -p build/release --quiet --checks="$1" 2> /dev/null
}

tidy() {
  local names tests='_test\.cc$|/testing/' status=0
  # The sources of LibTorch programs take clang minutes each; they are left to the compiler.
  names=$(files '*.cc' | tr '\0' '\n' | grep -v '^workloads/')
  # Tests are run by one thread and need not be fast.
  grep -E "$tests" <<< "$names" |
    tidy_files '-concurrency-mt-unsafe,-performance-*,-cppcoreguidelines-*' || status=1
  # A library in somebody's process keeps state of that process.
  grep -vE "$tests" <<< "$names" | grep '^tracer/' |
    tidy_files '-cppcoreguidelines-avoid-non-const-global-variables' || status=1
  grep -vE "$tests|^tracer/" <<< "$names" | tidy_files '' || status=1
  return $status
}

bugs() {
  files common schema tracer collector analyzer cli workloads | tr '\0' '\n' | grep '\.cc$' |
    xargs -r cppcheck -j "$(nproc)" -I . --std=c++20 --language=c++ --quiet --inline-suppr \
      --enable=warning,performance,portability --error-exitcode=1 \
      --suppress=missingIncludeSystem --library=googletest
}

check "layers" python3 -B tools/lint/layers.py
check "format (clang-format)" format
check "line length" lines
check "spelling (codespell)" spelling
check "shell scripts (shellcheck)" shell
if [ "${1:-}" != --quick ]; then
  check "clang-tidy" tidy
  check "cppcheck" bugs
fi

[ ${#failed[@]} = 0 ] || die "lint: failed: $(printf '%s; ' "${failed[@]}")"
say "lint: all fine"
