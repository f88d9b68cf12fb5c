#include "collector/importers/straggler_study/straggler_study_importer.h"

#include <algorithm>
#include <memory>

#include "collector/importers/plain_file.h"
#include "collector/importers/straggler_study/rows.h"
#include "collector/importers/straggler_study/timeline.h"

namespace tutti::collector::importers {
namespace {

using straggler_study::Span;
using straggler_study::Timeline;

constexpr size_t kMostWorkers = 10'000;  // each gets a file
constexpr Oddity kUnreadable{Severity::kDataLoss, "event_malformed",
                             "events without a name, a time, a step or a known thread", ""};
constexpr Oddity kCut{Severity::kDataLoss, "timeline_damaged",
                      "the timeline could not be read to its end; what comes before is used", ""};

class StragglerStudy : public Importer {
 public:
  std::string_view format() const override { return "straggler_study"; }

  bool Recognizes(const InputFile& file) const override {
    return BeginsAsJson(file, '[') && straggler_study::IsTimelineHead(file.plain_head);
  }

  Status Import(const InputFile& file, ImportTarget& target) const override {
    TUTTI_ASSIGN_OR_RETURN(const std::unique_ptr<PlainFile> plain, ReadPlainFile(file));
    const pickle::Document& document = plain->document;
    const Timeline timeline = straggler_study::ParseTimeline(document.root);
    if (timeline.spans.empty()) {
      return BadDataError(file.name + ": no event of it can be used" +
                          (document.problem.ok() ? "" : "; " + document.problem.message()));
    }
    if (timeline.workers.size() > kMostWorkers) {
      return BadDataError(file.name + ": it claims to be of " +
                          std::to_string(timeline.workers.size()) + " workers");
    }
    for (size_t worker = 0; worker < timeline.workers.size(); ++worker) {
      TUTTI_ASSIGN_OR_RETURN(TraceSink* const sink, target.NewTrace(file));
      schema::ImportSourceRow source;
      source.id = static_cast<int64_t>(sink->sources.size());
      source.path = file.name;
      source.format = "straggler_study";
      source.bytes = file.bytes;
      sink->sources.push_back(std::move(source));
      if (worker == 0 && timeline.unreadable > 0) {
        sink->Count(kUnreadable, "", {}, timeline.unreadable);
        sink->sources.back().events_skipped += timeline.unreadable;
      }
      if (!document.problem.ok()) sink->Count(kCut, document.problem.message());
      straggler_study::WriteWorker(timeline, worker, SpansOf(timeline, worker), *sink);
      TUTTI_RETURN_IF_ERROR(sink->status());
    }
    return OkStatus();
  }

 private:
  static std::span<const Span> SpansOf(const Timeline& timeline, size_t worker) {
    const auto less = [](const Span& span, size_t place) { return span.worker < place; };
    const auto begin = std::lower_bound(timeline.spans.begin(), timeline.spans.end(), worker, less);
    const auto end = std::lower_bound(begin, timeline.spans.end(), worker + 1, less);
    return {begin, end};
  }
};

}  // namespace

const Importer& StragglerStudyImporter() {
  static const StragglerStudy importer;
  return importer;
}

}  // namespace tutti::collector::importers
