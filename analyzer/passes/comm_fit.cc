// What a collective costs by size: a latency and a bandwidth for each communicator and kind of
// operation, so that it can be told what fewer or larger ones would take.
#include <algorithm>
#include <cmath>
#include <map>
#include <tuple>

#include "analyzer/metrics/collective_timing.h"
#include "analyzer/metrics/line_fit.h"
#include "analyzer/metrics/percentile.h"
#include "analyzer/pass.h"

namespace tutti::analyzer {
namespace {

struct Sizes {
  int64_t ranks = 1;
  std::map<int64_t, std::vector<int64_t>> transfers_ns;  // by bytes
};

// Bytes on the bus for each byte of payload: the factor of nccl-tests.
double BusFactor(const std::string& op, int64_t ranks) {
  const auto bandwidth = BandwidthOf(op, 1'000'000'000, static_cast<int>(ranks), 1'000'000'000);
  return bandwidth ? bandwidth->busbw_gb_per_s : 0;
}

schema::CommFitRow Fit(const std::string& op, const Sizes& sizes) {
  schema::CommFitRow row;
  row.op = op;
  row.sizes = static_cast<int64_t>(sizes.transfers_ns.size());
  const double factor = BusFactor(op, sizes.ranks);
  std::vector<Point> points;
  for (const auto& [bytes, transfers_ns] : sizes.transfers_ns) {
    row.collectives += static_cast<int64_t>(transfers_ns.size());
    points.push_back({static_cast<double>(bytes) * factor,
                      static_cast<double>(MedianOf(transfers_ns).value_or(0))});
  }
  // Of one size all is bandwidth: what is not known is not charged to latency.
  Line line{0, points.front().x > 0 ? points.front().y / points.front().x : 0};
  if (const auto fitted = MedianLine(points)) line = *fitted;
  line.slope = std::max(line.slope, 0.0);
  line.intercept = std::max(line.intercept, 0.0);
  row.latency_ns = std::llround(line.intercept);
  if (line.slope > 0) row.bus_gb_per_s = 1 / line.slope;  // bytes per ns are 10^9 per s
  std::vector<double> errors;
  for (const Point& point : points) {
    const double fit = line.intercept + line.slope * point.x;
    errors.push_back(point.y > 0 ? std::abs(fit - point.y) / point.y : 0);
  }
  row.error_frac = LowerNearestRank(std::span<double>(errors), 500);
  return row;
}

Status Run(RunContext& context) {
  TUTTI_ASSIGN_OR_RETURN(const auto rows, context.Read<schema::CollectiveRow>(
                                              "WHERE state = 'complete' AND bytes > 0"
                                              " AND transfer_ns > 0 AND ranks_expected > 1"
                                              " AND communicator_id IS NOT NULL ORDER BY id"));
  std::map<std::pair<int64_t, std::string>, Sizes> groups;
  for (const schema::CollectiveRow& row : rows) {
    Sizes& sizes = groups[{*row.communicator_id, row.op}];
    sizes.ranks = row.ranks_expected;
    sizes.transfers_ns[*row.bytes].push_back(*row.transfer_ns);
  }
  std::vector<schema::CommFitRow> fits;
  for (const auto& [key, sizes] : groups) {
    if (BusFactor(key.second, sizes.ranks) <= 0) continue;
    fits.push_back(Fit(key.second, sizes));
    fits.back().communicator_id = key.first;
  }
  return context.Write(fits);
}

}  // namespace

extern const Pass kCommFitPass;
const Pass kCommFitPass{"comm_fit", Run};

}  // namespace tutti::analyzer
