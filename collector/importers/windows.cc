#include "collector/importers/windows.h"

#include <algorithm>
#include <cctype>
#include <map>
#include <tuple>

namespace tutti::collector::importers {
namespace {

std::string_view FolderOf(std::string_view path) {
  const size_t slash = path.rfind('/');
  return slash == std::string_view::npos ? "" : path.substr(0, slash);
}

bool AreInTurn(const CaptureClaim& earlier, const CaptureClaim& later) {
  return *earlier.end_ns <= *later.begin_ns;
}

bool GoOn(const CaptureClaim& earlier, const CaptureClaim& later) {
  if (earlier.last_step && later.first_step) return *earlier.last_step < *later.first_step;
  if (earlier.last_step || later.first_step) return false;
  const std::string_view worker = WorkerOf(earlier.path);
  return !worker.empty() && worker == WorkerOf(later.path) &&
         FolderOf(earlier.path) == FolderOf(later.path);
}

}  // namespace

std::string_view WorkerOf(std::string_view path) {
  if (!path.empty()) path.remove_prefix(path.rfind('/') + 1);
  const size_t suffix = path.find(".pt.trace.json");
  if (suffix == std::string_view::npos) return "";
  path = path.substr(0, suffix);
  const size_t dot = path.rfind('.');
  if (dot == std::string_view::npos || dot == 0 || dot + 1 == path.size()) return "";
  const bool is_time = std::ranges::all_of(
      path.substr(dot + 1), [](unsigned char letter) { return std::isdigit(letter) != 0; });
  return is_time ? path.substr(0, dot) : "";
}

std::vector<std::vector<size_t>> CapturesOfProcesses(const std::vector<CaptureClaim>& claims) {
  using Key = std::tuple<std::optional<int64_t>, std::optional<int64_t>, std::string_view,
                         std::string_view>;
  std::map<Key, std::vector<size_t>> processes;
  for (size_t i = 0; i < claims.size(); ++i) {
    const CaptureClaim& claim = claims[i];
    const std::string_view worker = WorkerOf(claim.path);
    if (!claim.begin_ns || !claim.end_ns || (!claim.pid && worker.empty())) continue;
    processes[{claim.rank, claim.pid, claim.host, worker}].push_back(i);
  }
  std::vector<std::vector<size_t>> several;
  for (auto& [key, captures] : processes) {
    if (captures.size() < 2) continue;
    std::ranges::stable_sort(captures, {}, [&](size_t i) { return *claims[i].begin_ns; });
    const auto overlap = std::ranges::adjacent_find(
        captures, [&](size_t a, size_t b) { return !AreInTurn(claims[a], claims[b]); });
    if (overlap == captures.end()) several.push_back(std::move(captures));
  }
  return several;
}

bool AreOfOneRun(const std::vector<const CaptureClaim*>& captures) {
  const auto stop = std::ranges::adjacent_find(
      captures, [](const CaptureClaim* a, const CaptureClaim* b) { return !GoOn(*a, *b); });
  return stop == captures.end();
}

}  // namespace tutti::collector::importers
