#include "collector/importers/memory_snapshot/memory_snapshot_importer.h"

#include <memory>

#include "collector/importers/memory_snapshot/rows.h"
#include "collector/importers/memory_snapshot/snapshot.h"
#include "collector/importers/plain_file.h"
#include "collector/importers/rank_assignment.h"

namespace tutti::collector::importers {
namespace {

constexpr Oddity kSnapshotCut{
    Severity::kDataLoss, "snapshot_damaged",
    "the snapshot could not be read to its end; what comes before the damage is used",
    "take the snapshot again"};

class MemorySnapshot : public Importer {
 public:
  std::string_view format() const override { return "memory_snapshot"; }

  bool Recognizes(const InputFile& file) const override {
    if (!BeginsAsPickle(file)) return false;
    for (const char* key : {"device_traces", "segments", "total_size"}) {
      if (file.plain_head.find(key) != std::string::npos) return true;
    }
    return false;
  }

  bool adds_to_traces() const override { return true; }

  Status Import(const InputFile& file, ImportTarget& target) const override {
    TUTTI_ASSIGN_OR_RETURN(const std::unique_ptr<PlainFile> plain, ReadPlainFile(file));
    const pickle::Document& document = plain->document;
    if (!memory_snapshot::IsSnapshot(document.root)) {
      const std::string why =
          document.problem.ok() ? "no memory snapshot" : document.problem.message();
      return BadDataError(file.name + ": " + why);
    }
    // A snapshot does not say whose it is; its name may.
    const std::optional<int64_t> rank = RankFromFileName(FileName(file));
    TUTTI_ASSIGN_OR_RETURN(TraceSink* const sink, TraceFor(rank, file, target));
    if (rank && sink->identity.rank_source.empty()) sink->identity.rank_source = "file name";
    schema::ImportSourceRow source;
    source.id = static_cast<int64_t>(sink->sources.size());
    source.path = file.name;
    source.format = "memory_snapshot";
    source.bytes = file.bytes;
    sink->sources.push_back(std::move(source));
    if (!document.problem.ok()) {
      sink->Count(kSnapshotCut, document.problem.message());
    }
    memory_snapshot::WriteSnapshot(document.root, plain->bytes.size(), *sink);
    return sink->status();
  }

 private:
  // A snapshot beside the trace of a job of one process is of that process.
  static Result<TraceSink*> TraceFor(std::optional<int64_t> rank, const InputFile& file,
                                     ImportTarget& target) {
    if (rank) return target.TraceOf(*rank, file);
    TUTTI_ASSIGN_OR_RETURN(TraceSink* const only, target.OnlyTrace());
    if (only != nullptr) return only;
    return target.NewTrace(file);
  }
};

}  // namespace

const Importer& MemorySnapshotImporter() {
  static const MemorySnapshot importer;
  return importer;
}

}  // namespace tutti::collector::importers
