#include "collector/importers/nsys/nccl_launches.h"

#include <algorithm>

namespace tutti::collector::importers::nsys {

bool NcclLaunches::IsLaunch(size_t rank, int64_t correlation_id) const {
  const auto kernels = kernels_.find(rank);
  return kernels != kernels_.end() && kernels->second.contains(correlation_id);
}

void NcclLaunches::AddLaunch(size_t rank, int64_t tid, int64_t begin_ns, int64_t correlation_id) {
  launches_[{rank, tid}].push_back({begin_ns, correlation_id});
}

void NcclLaunches::Sort() {
  for (auto& [thread, launches] : launches_) {
    std::sort(launches.begin(), launches.end(),
              [](const Launch& a, const Launch& b) { return a.begin_ns < b.begin_ns; });
  }
}

std::vector<NcclKernel> NcclLaunches::Within(size_t rank, int64_t tid, int64_t begin_ns,
                                             int64_t end_ns) const {
  std::vector<NcclKernel> found;
  const auto launches = launches_.find({rank, tid});
  if (launches == launches_.end()) return found;
  const auto& kernels = kernels_.at(rank);
  auto launch = std::lower_bound(
      launches->second.begin(), launches->second.end(), begin_ns,
      [](const Launch& candidate, int64_t time_ns) { return candidate.begin_ns < time_ns; });
  for (; launch != launches->second.end() && launch->begin_ns < end_ns; ++launch) {
    found.push_back(kernels.at(launch->correlation_id));
  }
  return found;
}

}  // namespace tutti::collector::importers::nsys
