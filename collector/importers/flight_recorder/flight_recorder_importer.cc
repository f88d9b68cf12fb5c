#include "collector/importers/flight_recorder/flight_recorder_importer.h"

#include <memory>

#include "collector/importers/flight_recorder/dump.h"
#include "collector/importers/flight_recorder/names.h"
#include "collector/importers/flight_recorder/rows.h"
#include "collector/importers/plain_file.h"

namespace tutti::collector::importers {
namespace {

constexpr Oddity kDumpCut{
    Severity::kDataLoss, "dump_damaged",
    "the dump could not be read to its end; what comes before the damage is used",
    "the process may have been killed while it wrote: look for a complete dump"};
constexpr Oddity kRankDiffers{Severity::kNotice, "rank_differs",
                              "the file's name tells another rank than its process groups", ""};

bool IsCalledDump(std::string_view name) {
  return name.find("nccl_trace") != std::string_view::npos ||
         name.find("_dump_") != std::string_view::npos;
}

class FlightRecorder : public Importer {
 public:
  std::string_view format() const override { return "flight_recorder"; }

  // An empty or cut file can only be told by its name; it must be, for it is what a rank
  // leaves that was killed in the middle.
  bool Recognizes(const InputFile& file) const override {
    if (file.bytes == 0) return IsCalledDump(FileName(file));
    if (!BeginsAsPickle(file) && !BeginsAsJson(file, '{') && !BeginsAsJson(file, '[')) {
      return false;
    }
    // A trace of PyTorch's profiler lists its process groups, too, in its head.
    for (const char* key : {"distributedInfo", "traceEvents", "deviceProperties"}) {
      if (file.plain_head.find(key) != std::string::npos) return false;
    }
    for (const char* key : {"profiling_name", "pg_config", "nccl_comm_state"}) {
      if (file.plain_head.find(key) != std::string::npos) return true;
    }
    return BeginsAsPickle(file) && IsCalledDump(FileName(file));
  }

  // After all others, so as to know whether they tell of the same rank.
  bool adds_to_traces() const override { return true; }

  Status Import(const InputFile& file, ImportTarget& target) const override {
    if (file.bytes == 0) return BadDataError(file.name + ": the dump is empty");
    TUTTI_ASSIGN_OR_RETURN(const std::unique_ptr<PlainFile> plain, ReadPlainFile(file));
    const pickle::Document& document = plain->document;
    if (!flight_recorder::IsDump(document.root)) {
      const std::string why =
          document.problem.ok() ? "no flight-recorder dump" : document.problem.message();
      return BadDataError(file.name + ": " + why);
    }
    const flight_recorder::Dump dump =
        flight_recorder::ParseDump(document.root, plain->bytes.size());
    const TellsRank told = RankOf(file, dump);
    const bool joins = told.rank && target.HasTraceOf(*told.rank);
    TUTTI_ASSIGN_OR_RETURN(TraceSink* const sink,
                           joins ? target.TraceOf(*told.rank, file) : target.NewTrace(file));
    flight_recorder::JoinedTrace joined;
    if (joins) {
      TUTTI_ASSIGN_OR_RETURN(joined, flight_recorder::JoinTrace(dump, *sink));
    } else {
      sink->identity.rank = told.rank;
      sink->identity.rank_source = told.source;
    }
    AddSource(file, dump, *sink);
    CompareWithName(file, told, *sink);
    if (!document.problem.ok()) {
      sink->Count(kDumpCut, document.problem.message());
    }
    flight_recorder::WriteDump(dump, joined, *sink);
    return sink->status();
  }

 private:
  static void AddSource(const InputFile& file, const flight_recorder::Dump& dump, TraceSink& sink) {
    schema::ImportSourceRow source;
    source.id = static_cast<int64_t>(sink.sources.size());
    source.path = file.name;
    source.format = "flight_recorder";
    if (!dump.version.empty()) source.format_version = dump.version;
    if (!dump.nccl_version.empty()) source.producer = "NCCL " + dump.nccl_version;
    source.bytes = file.bytes;
    sink.sources.push_back(std::move(source));
  }

  struct TellsRank {
    std::optional<int64_t> rank;
    const char* source = "";
  };
  // What is inside counts more than the name, which anybody may have changed.
  static TellsRank RankOf(const InputFile& file, const flight_recorder::Dump& dump) {
    if (dump.rank) return {dump.rank, "flight recorder"};
    if (const auto by_groups = flight_recorder::CommonRank(dump.groups)) {
      return {by_groups, "process groups"};
    }
    const auto by_name = flight_recorder::RankInFileName(FileName(file));
    return by_name ? TellsRank{by_name, "file name"} : TellsRank{};
  }

  static void CompareWithName(const InputFile& file, const TellsRank& told, TraceSink& sink) {
    const auto by_name = flight_recorder::RankInFileName(FileName(file));
    if (std::string_view(told.source) == "process groups" && by_name && by_name != told.rank) {
      sink.Count(kRankDiffers, "rank " + std::to_string(*told.rank));
    }
  }
};

}  // namespace

const Importer& FlightRecorderImporter() {
  static const FlightRecorder importer;
  return importer;
}

}  // namespace tutti::collector::importers
