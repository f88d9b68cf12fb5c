#include "collector/convert/annotation_records.h"

#include <bit>
#include <cmath>
#include <utility>

namespace tutti::collector::convert {
namespace {

constexpr std::string_view kDomain = "tutti";

// Values of tutti_annotation (tracer/annotate.h, which only workloads may include).
enum Category : uint32_t {
  kStep = 1,
  kPhase = 2,
  kDataWait = 3,
  kSamples = 4,
  kTokens = 5,
  kCounter = 6,
  kTruth = 7,
};

constexpr size_t kMaxTruths = 64;  // more is a mistake of the program, not an experiment

}  // namespace

bool AnnotationRecords::IsTuttiDomain(uint32_t domain) {
  if (domain == 0) return false;
  if (domain == tutti_domain_) return true;
  if (context_.strings.TextOf(domain) != kDomain) return false;
  tutti_domain_ = domain;
  return true;
}

bool AnnotationRecords::OnRange(ThreadTable::Index thread, const wire::RangeRecord& record) {
  if (!IsTuttiDomain(record.domain)) return false;
  const Span span = context_.SpanOf(record.begin_ticks, record.end_ticks);
  if (!WriteSpan({thread, record.category, record.header.name, record.payload, span.begin_ns,
                  span.end_ns})) {
    return false;
  }
  context_.threads.SawTime(thread, span.begin_ns, span.end_ns);
  return true;
}

bool AnnotationRecords::OnOpenSpan(ThreadTable::Index thread, const wire::OpenSpan& span) {
  if (!IsTuttiDomain(span.domain)) return false;
  const int64_t begin_ns = context_.TimeOf(span.begin_ticks);
  return WriteSpan({thread, span.category, span.name, span.aux, begin_ns, std::nullopt});
}

bool AnnotationRecords::WriteSpan(const Annotation& annotation) {
  const int64_t tid = context_.threads.RowTid(annotation.thread);
  const int64_t payload = static_cast<int64_t>(annotation.payload);
  switch (annotation.category) {
    case kStep:
      context_.AppendSpan(
          schema::StepRow{0, payload, tid, annotation.begin_ns, annotation.end_ns, "annotate"},
          context_.next_id.step);
      return true;
    case kPhase:
      context_.AppendSpan(
          schema::PhaseRow{0, tid, std::string(context_.strings.TextOf(annotation.name)),
                           annotation.begin_ns, annotation.end_ns, "annotate"},
          context_.next_id.phase);
      return true;
    case kDataWait:
      context_.AppendSpan(
          schema::DataWaitRow{0, tid, context_.strings.IdOf(annotation.name), annotation.begin_ns,
                              annotation.end_ns,
                              payload < 0 ? std::nullopt : std::optional(payload), "annotate"},
          context_.next_id.data_wait);
      return true;
    default:
      return false;
  }
}

bool AnnotationRecords::OnMark(ThreadTable::Index thread, const wire::MarkRecord& record) {
  if (!IsTuttiDomain(record.domain)) return false;
  const int64_t time_ns = context_.TimeOf(record.ticks);
  const int64_t number = static_cast<int64_t>(record.payload);
  switch (record.category) {
    case kSamples:
      OnSamples(thread, time_ns, number);
      break;
    case kTokens:
      OnTokens(thread, time_ns, number);
      break;
    case kCounter:
      OnCounter(record.header.name, time_ns, record.payload);
      break;
    case kTruth:
      if (truth_.size() < kMaxTruths) {
        truth_.emplace_back(context_.strings.TextOf(record.header.name));
      }
      break;
    default:
      return false;
  }
  context_.threads.SawTime(thread, time_ns, time_ns);
  return true;
}

// tutti_batch() makes two marks, samples first; either may be missing.
void AnnotationRecords::OnSamples(ThreadTable::Index thread, int64_t time_ns, int64_t samples) {
  const schema::BatchRow row{0, context_.threads.RowTid(thread), time_ns, samples, std::nullopt};
  const auto [waiting, is_new] = samples_.try_emplace(thread, row);
  if (!is_new) WriteBatch(std::exchange(waiting->second, row));
}

void AnnotationRecords::OnTokens(ThreadTable::Index thread, int64_t time_ns, int64_t tokens) {
  schema::BatchRow row{0, context_.threads.RowTid(thread), time_ns, std::nullopt, tokens};
  if (const auto waiting = samples_.find(thread); waiting != samples_.end()) {
    row.time_ns = waiting->second.time_ns;
    row.samples = waiting->second.samples;
    samples_.erase(waiting);
  }
  WriteBatch(std::move(row));
}

void AnnotationRecords::WriteBatch(schema::BatchRow row) {
  if (!context_.Wanted(row.time_ns, row.time_ns)) return;
  row.id = context_.next_id.batch++;
  context_.rows.Append(std::move(row));
}

void AnnotationRecords::OnCounter(uint32_t name, int64_t time_ns, uint64_t payload) {
  const double value = std::bit_cast<double>(payload);
  if (!std::isfinite(value)) {
    context_.findings.Add({wire::NoteSeverity::kNotice, "counter_not_finite", "collector.convert",
                           "values of the program's counters that are no finite numbers", ""},
                          1, {time_ns, time_ns});
    return;
  }
  const std::string_view text = context_.strings.TextOf(name);
  auto counter = counters_.find(text);
  if (counter == counters_.end()) {
    const int64_t id = context_.next_id.counter++;
    counter = counters_.emplace(std::string(text), id).first;
    context_.rows.Append(schema::CounterRow{
        id, counter->first, "", "gauge", "counter of the program (tutti_counter)", std::nullopt});
  }
  if (!context_.Wanted(time_ns, time_ns)) return;
  context_.rows.Append(schema::CounterSampleRow{counter->second, time_ns, value});
}

void AnnotationRecords::Finish() {
  for (auto& [thread, row] : samples_) WriteBatch(std::move(row));
  samples_.clear();
}

}  // namespace tutti::collector::convert
