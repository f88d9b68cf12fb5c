// What a program tells through tracer/annotate.h (NVTX domain "tutti") -> step, phase,
// data_wait, batch, counter. One thread.
//
// The truth about injected faults is handed out of the conversion and never becomes a
// row: no analysis may read the answer.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "collector/convert/context.h"
#include "common/wire/record.h"
#include "common/wire/segment.h"

namespace tutti::collector::convert {

class AnnotationRecords {
 public:
  explicit AnnotationRecords(Context& context) : context_(context) {}

  // Each returns whether the event is an annotation and was dealt with.
  bool OnRange(ThreadTable::Index thread, const wire::RangeRecord& record);
  bool OnMark(ThreadTable::Index thread, const wire::MarkRecord& record);
  bool OnOpenSpan(ThreadTable::Index thread, const wire::OpenSpan& span);

  // Rows of counters and of batches that still wait for their second half.
  void Finish();

  // JSON texts of tutti_truth, in order.
  const std::vector<std::string>& truth() const { return truth_; }

 private:
  struct Annotation {
    ThreadTable::Index thread;
    uint32_t category;
    uint32_t name;
    uint64_t payload;
    int64_t begin_ns;
    std::optional<int64_t> end_ns;
  };
  bool IsTuttiDomain(uint32_t domain);
  bool WriteSpan(const Annotation& annotation);
  void OnSamples(ThreadTable::Index thread, int64_t time_ns, int64_t samples);
  void OnTokens(ThreadTable::Index thread, int64_t time_ns, int64_t tokens);
  void OnCounter(uint32_t name, int64_t time_ns, uint64_t payload);
  void WriteBatch(schema::BatchRow row);

  Context& context_;
  uint32_t tutti_domain_ = 0;                               // its string index once seen
  std::map<ThreadTable::Index, schema::BatchRow> samples_;  // tokens may follow
  std::map<std::string, int64_t, std::less<>> counters_;
  std::vector<std::string> truth_;
};

}  // namespace tutti::collector::convert
