// What may be odd in a Kineto trace, in words, and a ledger of it with byte offsets.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <utility>

#include "collector/importers/oddity.h"
#include "collector/importers/trace_sink.h"

namespace tutti::collector::importers::kineto {

namespace odd {

inline constexpr Oddity kMalformedEvent = {Severity::kDataLoss, "event_malformed",
                                           "events that are not valid JSON were passed over",
                                           "write the trace with a newer profiler"};
inline constexpr Oddity kControlBytes = {Severity::kNotice, "control_bytes",
                                         "strings held raw control bytes; they were kept", ""};
inline constexpr Oddity kInvalidUtf8 = {Severity::kNotice, "invalid_utf8",
                                        "strings were not UTF-8; U+FFFD stands for the bad bytes",
                                        ""};
inline constexpr Oddity kNotAnEvent = {Severity::kNotice, "not_an_event",
                                       "elements of traceEvents were no objects", ""};
inline constexpr Oddity kTruncated = {Severity::kDataLoss, "truncated",
                                      "the file ends early; what came before was read",
                                      "the writer was killed or is still writing"};
inline constexpr Oddity kDamaged = {Severity::kDataLoss, "source_damaged",
                                    "the file could not be read to its end",
                                    "copy it again from where it was made"};
inline constexpr Oddity kMalformedDocument = {Severity::kDataLoss, "document_malformed",
                                              "text outside of events is not valid JSON", ""};
inline constexpr Oddity kLongValue = {Severity::kNotice, "value_too_long",
                                      "keys beside the events had values too long to keep", ""};
inline constexpr Oddity kSeveralDocuments = {
    Severity::kNotice, "several_documents",
    "the file holds several JSON documents; all were read as one trace", ""};
inline constexpr Oddity kLateBase = {
    Severity::kInfo, "late_base_time",
    "baseTimeNanoseconds was found behind the events; their times were moved", ""};
inline constexpr Oddity kDuplicateKeys = {Severity::kNotice, "duplicate_keys",
                                          "keys stood twice in one event; the last counts", ""};
inline constexpr Oddity kNonFinite = {Severity::kNotice, "non_finite_number",
                                      "numbers were infinite or NaN; they were left out", ""};
inline constexpr Oddity kNoPhase = {Severity::kDataLoss, "event_without_phase",
                                    "events without \"ph\" were left out", ""};
inline constexpr Oddity kNoTime = {Severity::kDataLoss, "event_without_time",
                                   "events without a readable time were left out", ""};
inline constexpr Oddity kUnknownPhase = {Severity::kNotice, "unknown_event",
                                         "events of a kind that no table holds were left out", ""};
inline constexpr Oddity kUnknownCategory = {
    Severity::kInfo, "unknown_category",
    "events of categories that Tutti gives no meaning to were kept as ranges", ""};
inline constexpr Oddity kUnstoredArgument = {Severity::kInfo, "argument_not_kept",
                                             "arguments of events that no table holds", ""};
inline constexpr Oddity kUnknownKey = {Severity::kInfo, "key_not_kept",
                                       "keys beside the events that no table holds", ""};
inline constexpr Oddity kBadKey = {Severity::kNotice, "key_unreadable",
                                   "keys beside the events that could not be understood", ""};
inline constexpr Oddity kUnfinished = {
    Severity::kNotice, "unfinished_event",
    "events on the host had not ended when the trace was written", ""};
inline constexpr Oddity kAbsurdDuration = {
    Severity::kDataLoss, "absurd_duration",
    "events last longer than 30 days; they count as without an end (on a GPU: without times)",
    "ignore these events"};
inline constexpr Oddity kUntimed = {
    Severity::kDataLoss, "device_event_untimed",
    "the driver gave no times for work on the GPU; it is left out of all times",
    "record fewer kinds of events, or a shorter time"};
inline constexpr Oddity kInvalidDuration = {
    Severity::kDataLoss, "device_event_invalid",
    "work on the GPU has a negative duration; it is left out of all times", ""};
inline constexpr Oddity kBytesUnknown = {Severity::kInfo, "copy_without_bytes",
                                         "copies or fills do not tell their size; it counts as 0",
                                         ""};
inline constexpr Oddity kLongShapes = {Severity::kNotice, "shapes_too_long",
                                       "input shapes longer than 64 KiB were left out", ""};
inline constexpr Oddity kDanglingFlow = {Severity::kInfo, "flow_dangling",
                                         "arrows have only a start or only an end", ""};
inline constexpr Oddity kEndWithoutBegin = {Severity::kNotice, "end_without_begin",
                                            "events end that had not begun", ""};
inline constexpr Oddity kBeginWithoutEnd = {Severity::kNotice, "begin_without_end",
                                            "events begin that do not end", ""};
inline constexpr Oddity kNoTrainingEvents = {
    Severity::kNotice, "no_training_events",
    "the trace has no operators, kernels or calls of a GPU runtime, only ranges",
    "record with PyTorch's profiler or with tutti record"};
inline constexpr Oddity kRanksElided = {
    Severity::kNotice, "ranks_elided",
    "process groups are printed with \"...\" and nothing tells their members", ""};

}  // namespace odd

// Gathers oddities with the byte offset of the first; cheap for repeated ones. One thread.
class Ledger {
 public:
  // `offset` < 0: nowhere in the text.
  void Count(const Oddity& oddity, int64_t offset, std::optional<int64_t> time_ns = {},
             int64_t count = 1, std::string_view about = {});
  int64_t CountOf(const Oddity& oddity) const;
  // Into the trace; empty afterwards.
  void Flush(TraceSink& sink);

 private:
  struct Entry {
    int64_t offset = -1;
    int64_t count = 0;
    std::optional<int64_t> first_ns;
    std::optional<int64_t> last_ns;
  };
  static constexpr size_t kMostKinds = 500;
  std::map<std::pair<const Oddity*, std::string>, Entry, std::less<>> entries_;
};

}  // namespace tutti::collector::importers::kineto
