#include "workloads/common/balance.h"

#include <algorithm>
#include <numeric>

namespace tutti::workloads {

int64_t ShareOf(int64_t batch, const std::vector<int64_t>& speeds, size_t rank) {
  const int64_t all = batch * static_cast<int64_t>(speeds.size());
  const double total = std::accumulate(speeds.begin(), speeds.end(), 0.0);
  std::vector<int64_t> shares;
  for (const int64_t speed : speeds) {
    const double exact = static_cast<double>(all) * static_cast<double>(speed) / total;
    shares.push_back(std::max<int64_t>(1, static_cast<int64_t>(exact)));
  }
  // What rounding left over goes to the fastest.
  const int64_t rest = all - std::accumulate(shares.begin(), shares.end(), int64_t{0});
  const auto fastest =
      static_cast<size_t>(std::max_element(speeds.begin(), speeds.end()) - speeds.begin());
  shares[fastest] = std::max<int64_t>(1, shares[fastest] + rest);
  return shares[rank];
}

}  // namespace tutti::workloads
