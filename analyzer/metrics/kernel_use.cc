#include "analyzer/metrics/kernel_use.h"

#include <algorithm>
#include <map>

#include "analyzer/metrics/percentile.h"

namespace tutti::analyzer {
namespace {

constexpr int64_t kRegisterUnit = 256;  // of a warp (compute capability 3 and later)
constexpr size_t kFewestAlone = 5;
constexpr int64_t kShort = 10;  // a tenth

int64_t RoundUp(int64_t number, int64_t unit) { return (number + unit - 1) / unit * unit; }

// Consecutive work of one stream.
struct Piece {
  const StreamWork* first;
  int64_t end_ns;

  int64_t length_ns() const { return end_ns - first->time.begin_ns; }
};

std::vector<Piece> PiecesOf(std::span<const StreamWork> works) {
  std::vector<Piece> pieces;
  for (const StreamWork& work : works) {
    if (!pieces.empty() && pieces.back().first->stream == work.stream) {
      pieces.back().end_ns = std::max(pieces.back().end_ns, work.time.end_ns);
    } else {
      pieces.push_back({&work, work.time.end_ns});
    }
  }
  return pieces;
}

// Whether only `between` keeps `after` from running beside `before`.
bool IsSerialized(const Piece& before, const Piece& between, const Piece& after) {
  const StreamWork& next = *after.first;
  if (before.first->is_default || !between.first->is_default || next.is_default) return false;
  if (before.first->stream == next.stream || next.waits_for_event) return false;
  const int64_t shorter_ns = std::min(before.length_ns(), after.length_ns());
  return next.launched_ns <= before.end_ns && between.length_ns() * kShort <= shorter_ns &&
         between.first->time.begin_ns >= before.end_ns && next.time.begin_ns >= between.end_ns;
}

}  // namespace

double UnfilledFrac(const KernelShape& shape, const GpuLimits& gpu) {
  if (shape.blocks <= 0 || gpu.multiprocessors <= 0 || shape.blocks >= gpu.multiprocessors) {
    return 0;
  }
  return 1 - static_cast<double>(shape.blocks) / static_cast<double>(gpu.multiprocessors);
}

std::optional<int64_t> BlocksAtOnce(const KernelShape& shape, const GpuLimits& gpu) {
  const bool is_known = shape.threads > 0 && shape.registers > 0 && shape.shared_bytes >= 0 &&
                        gpu.warp_size > 0 && gpu.threads > 0 && gpu.registers > 0 &&
                        gpu.shared_bytes > 0;
  if (!is_known) return std::nullopt;
  const int64_t threads = RoundUp(shape.threads, gpu.warp_size);
  const int64_t registers =
      threads / gpu.warp_size * RoundUp(shape.registers * gpu.warp_size, kRegisterUnit);
  int64_t blocks = std::min(gpu.threads / threads, gpu.registers / registers);
  if (shape.shared_bytes > 0) blocks = std::min(blocks, gpu.shared_bytes / shape.shared_bytes);
  return std::max<int64_t>(blocks, 1);  // it did run
}

double LastWaveFrac(const KernelShape& shape, const GpuLimits& gpu) {
  const std::optional<int64_t> at_once = BlocksAtOnce(shape, gpu);
  if (!at_once || shape.blocks <= 0 || gpu.multiprocessors <= 0) return 0;
  const int64_t wave = *at_once * gpu.multiprocessors;
  if (shape.blocks <= wave) return 0;
  const int64_t waves = (shape.blocks + wave - 1) / wave;
  return 1 - static_cast<double>(shape.blocks) / static_cast<double>(waves * wave);
}

std::vector<std::optional<int64_t>> ExcessBeside(std::span<const KernelRun> runs) {
  std::map<int64_t, std::vector<int64_t>> alone_ns;
  for (const KernelRun& run : runs) {
    if (run.beside_ns == 0) alone_ns[run.key].push_back(run.duration_ns);
  }
  std::map<int64_t, int64_t> usual_ns;
  for (auto& [key, durations_ns] : alone_ns) {
    if (durations_ns.size() < kFewestAlone) continue;
    usual_ns[key] = MedianOf(std::move(durations_ns)).value_or(0);
  }
  std::vector<std::optional<int64_t>> excess(runs.size());
  for (size_t i = 0; i < runs.size(); ++i) {
    const auto usual = usual_ns.find(runs[i].key);
    if (usual == usual_ns.end() || 2 * runs[i].beside_ns <= runs[i].duration_ns) continue;
    excess[i] = runs[i].duration_ns - usual->second;
  }
  return excess;
}

std::vector<Serialized> FindSerialized(std::span<const StreamWork> works) {
  const std::vector<Piece> pieces = PiecesOf(works);
  std::vector<Serialized> found;
  for (size_t i = 2; i < pieces.size(); ++i) {
    if (!IsSerialized(pieces[i - 2], pieces[i - 1], pieces[i])) continue;
    found.push_back({pieces[i].first->time.begin_ns,
                     std::min(pieces[i - 2].length_ns(), pieces[i].length_ns())});
    ++i;  // B is not A as well
  }
  return found;
}

}  // namespace tutti::analyzer
