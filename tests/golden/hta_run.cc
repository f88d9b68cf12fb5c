#include "tests/golden/hta_run.h"

#include <algorithm>
#include <cmath>
#include <cstdio>
#include <cstdlib>
#include <limits>
#include <map>
#include <memory>
#include <tuple>
#include <unordered_map>

#include "schema/reader.h"
#include "schema/rows.h"
#include "schema/trace_file.h"

namespace tutti::golden {
namespace {

void OrDie(const Status& status) {
  if (status.ok()) return;
  std::fprintf(stderr, "golden: %s\n", status.message().c_str());
  std::abort();
}

class HtaReader {
 public:
  HtaReader(const std::string& rank_file, int64_t base_ns) : base_ns_(base_ns) {
    Result<schema::Database> trace = schema::OpenRankFile(rank_file);
    OrDie(trace.status());
    trace_ = std::make_unique<schema::Database>(std::move(*trace));
  }

  std::vector<HtaEvent> Read() {
    Each<schema::StringRow>([&](const auto& row) { texts_[row.id] = row.text; });
    Each<schema::StepRow>(
        [&](const auto& row) {
          last_step_ns_ = row.begin_ns;
          ++steps_;
        },
        "ORDER BY begin_ns");
    Each<schema::ApiCallRow>([&](const auto& row) {
      if (!row.end_ns || row.correlation_id == 0) return;
      if (steps_ > 1 && row.begin_ns >= last_step_ns_) return;
      calls_[row.correlation_id] = Rounded({row.begin_ns, *row.end_ns});
    });
    Each<schema::KernelRow>([&](const auto& row) { AddKernel(row); });
    Each<schema::MemcpyRow>([&](const auto& row) {
      Add(row, HtaEvent::Kind::kMemory, "Memcpy " + row.copy_kind, row.bytes);
    });
    Each<schema::MemsetRow>(
        [&](const auto& row) { Add(row, HtaEvent::Kind::kMemory, "Memset", row.bytes); });
    std::sort(events_.begin(), events_.end(), [](const HtaEvent& a, const HtaEvent& b) {
      return std::tie(a.us.begin_ns, a.us.end_ns, a.correlation) <
             std::tie(b.us.begin_ns, b.us.end_ns, b.correlation);
    });
    return std::move(events_);
  }

 private:
  template <typename Row, typename Function>
  void Each(Function function, const char* suffix = "") {
    OrDie(schema::ForEach<Row>(*trace_, suffix, function));
  }

  // Times of the file are microseconds with decimals; a double holds them to 2^-2 at 10^15.
  Interval Rounded(Interval ns) const {
    const auto begin_us =
        static_cast<double>(static_cast<long double>(ns.begin_ns - base_ns_) / 1e3L);
    const auto length_us = static_cast<double>(static_cast<long double>(ns.length_ns()) / 1e3L);
    const auto begin = static_cast<int64_t>(std::ceil(begin_us));
    return {begin, std::max(begin, static_cast<int64_t>(std::floor(begin_us + length_us)))};
  }

  void AddKernel(const schema::KernelRow& row) {
    const std::string& name = texts_[row.name_id];
    const bool communicates =
        name.starts_with("nccl") || name.find("ncclKernel") != std::string::npos;
    Add(row, communicates ? HtaEvent::Kind::kCommunication : HtaEvent::Kind::kCompute, name, 0);
  }

  template <typename Row>
  void Add(const Row& row, HtaEvent::Kind kind, std::string name, int64_t bytes) {
    const auto call = calls_.find(row.correlation_id.value_or(0));
    if (call == calls_.end() || !row.begin_ns || !row.end_ns) return;
    HtaEvent event;
    event.kind = kind;
    event.name = std::move(name);
    event.stream = row.stream_id;
    event.correlation = *row.correlation_id;
    event.exact_ns = {*row.begin_ns, *row.end_ns};
    event.us = Rounded(event.exact_ns);
    event.call_us = call->second;
    event.bytes = bytes;
    events_.push_back(std::move(event));
  }

  int64_t base_ns_;
  std::unique_ptr<schema::Database> trace_;
  std::unordered_map<int64_t, std::string> texts_;
  int64_t last_step_ns_ = 0;
  int steps_ = 0;
  std::unordered_map<int64_t, Interval> calls_;  // by correlation id
  std::vector<HtaEvent> events_;
};

}  // namespace

std::vector<HtaEvent> ReadHtaEvents(const std::string& rank_file, int64_t base_ns) {
  return HtaReader(rank_file, base_ns).Read();
}

}  // namespace tutti::golden
