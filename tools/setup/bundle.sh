#!/bin/bash
# bundle.sh BUILD FOLDER: puts what tools/gpu_check needs into FOLDER, stripped, for a machine that
# has a GPU, PyTorch and no network. At most 60 MiB.
# shellcheck source=tools/setup/lib.sh
. "$(dirname "$0")/lib.sh"

build=$1 folder=$2
most_kib=$((60 * 1024))

rm -rf "$folder"
cmake --install "$build" --prefix "$folder" --strip > /dev/null
rm -rf "$folder/share" "$folder/include" "$folder"/lib/tutti/libtutti_viewer* \
  "$folder/bin/tutti-analyze-mpi"

# What the command needs beyond what every system has, beside the tracer, where it looks.
cmake --install "$build" --prefix "$folder" --component libraries > /dev/null

for program in tests/gpu/gpu_truth workloads/mnist_mlp workloads/libtutti_workload_nccl.so; do
  if [ -e "$build/$program" ]; then
    strip -o "$folder/bin/${program##*/}" "$build/$program"
  else
    say "bundle: without ${program##*/}, which this build does not have"
  fi
done
[ -e "$folder/bin/gpu_truth" ] || die "bundle: no gpu_truth: no CUDA compiler (./dev setup cuda)"
cp "$TUTTI_ROOT/tools/gpu_check" "$TUTTI_ROOT/tests/gpu/training.py" "$folder"

size_kib=$(du -sk "$folder" | cut -f1)
[ "$size_kib" -le $most_kib ] || die "bundle: $size_kib KiB, more than $most_kib"
say "bundle: $folder, $((size_kib / 1024)) MiB; on the GPU's machine run: $folder/gpu_check"
