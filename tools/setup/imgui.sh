#!/bin/bash
# imgui.sh: fetches the pinned sources of Dear ImGui, ImPlot and the Test Engine and builds them
# into the cache (docs/viewer.md says what for). Takes about two minutes of one core, once; without
# it, or if it fails, everything but the viewer builds.
# shellcheck source=tools/setup/lib.sh
. "$(dirname "$0")/lib.sh"

here=$TUTTI_ROOT/tools/setup
requirements=$here/requirements-imgui.txt
goal=$TUTTI_CACHE_DIR/imgui
stamp=$goal/tutti.stamp

# What the library depends on: the pin, and how it is built.
fingerprint() { cat "$requirements" "$here/imgui/"* | sha256sum; }

[ "$(cat "$stamp" 2> /dev/null)" = "$(fingerprint)" ] && exit 0

# The same place each time, so that ccache knows the sources again.
scratch=$TUTTI_CACHE_DIR/imgui.part
rm -rf "$scratch"
mkdir -p "$scratch"
trap 'rm -rf "$scratch"' EXIT
pip() {
  local python=$TUTTI_VENV/bin/python
  [ -x "$python" ] || {
    python=$scratch/venv/bin/python
    [ -x "$python" ] || python3 -m venv "$scratch/venv"
  }
  "$python" -m pip --disable-pip-version-check "$@"
}

say "fetching Dear ImGui"
mkdir -p "$scratch/backend/scikit_build_core"
cp "$here/imgui/sdist_backend.py" "$scratch/backend/scikit_build_core/build.py"
touch "$scratch/backend/scikit_build_core/__init__.py"
PYTHONPATH=$scratch/backend pip download --quiet --no-cache-dir --no-deps --require-hashes \
  --no-binary :all: --no-build-isolation -d "$scratch" -r "$requirements"
mkdir "$scratch/sources"
tar -xzf "$scratch"/imgui_bundle-*.tar.gz -C "$scratch/sources" --strip-components=2 --wildcards \
  '*/external/imgui/imgui/*' '*/external/implot/implot/*' \
  '*/external/imgui_test_engine/imgui_test_engine/*'

say "building Dear ImGui into $goal (two minutes, once)"
launcher=()
command -v ccache > /dev/null && launcher=(-DCMAKE_CXX_COMPILER_LAUNCHER=ccache)
{
  cmake -G Ninja -S "$here/imgui" -B "$scratch/build" -DSOURCES="$scratch/sources" \
    -DCMAKE_BUILD_TYPE=Release -DCMAKE_INSTALL_PREFIX="$scratch/installed" "${launcher[@]}" &&
    cmake --build "$scratch/build" --target install
} > "$scratch/build.log" 2>&1 || {
  tail -n 40 "$scratch/build.log" >&2
  die "could not build Dear ImGui"
}
cp "$scratch/sources/imgui/imgui/LICENSE.txt" "$scratch/installed/LICENSE" ||
  say "no licence in the sources of Dear ImGui: packages of the viewer go without it"
rm -rf "$goal"
mv "$scratch/installed" "$goal"
fingerprint > "$stamp"
