// How fast a Chrome trace becomes rows, and a finished SQLite file, beside simdjson's on-demand
// parser that takes the same fields of the same text. `json_benchmark FILE ROUNDS` prints one line
// of JSON with the seconds of each round; rounds alternate in mirrored order.
//
// The on-demand parser finds the whole text in memory; the importer reads the file. Rows are made
// by one thread, and its CPU time is what they cost; SQLite's part runs on another, so the file's
// cost is wall time.
#include <simdjson.h>
#include <time.h>

#include <cstdio>
#include <cstdlib>
#include <filesystem>
#include <memory>
#include <stdexcept>
#include <string>
#include <utility>
#include <vector>

#include "collector/importers/importer.h"
#include "collector/importers/input_file.h"
#include "collector/importers/kineto/kineto_importer.h"
#include "collector/importers/trace_sink.h"

namespace tutti::collector::importers {
namespace {

namespace ondemand = simdjson::ondemand;
namespace fs = std::filesystem;

void Require(const Status& status) {
  if (!status.ok()) throw std::runtime_error(status.message());
}

double Seconds(clockid_t clock) {
  timespec now;
  ::clock_gettime(clock, &now);
  return static_cast<double>(now.tv_sec) + static_cast<double>(now.tv_nsec) * 1e-9;
}

struct Round {
  std::vector<double> parse_cpu_s;
  std::vector<double> parse_wall_s;
  std::vector<double> rows_cpu_s;
  std::vector<double> file_wall_s;
  std::vector<double> file_cpu_s;
  int64_t events = 0;
};

// What an importer has to look at, and no more; returned so that nothing is optimised away.
double Take(ondemand::object event) {
  double sum = 0;
  for (auto field : event) {
    const std::string_view key = field.unescaped_key();
    if (key == "ph" || key == "cat" || key == "name") {
      sum += static_cast<double>(std::string_view(field.value().get_string()).size());
    } else if (key == "ts" || key == "dur") {
      double number = 0;
      if (!field.value().get_double().get(number)) sum += number;
    } else if (key == "args") {
      ondemand::object args;
      if (field.value().get_object().get(args) != simdjson::SUCCESS) continue;
      for (auto arg : args) {
        const std::string_view name = arg.unescaped_key();
        uint64_t number = 0;
        if ((name == "correlation" || name == "External id" || name == "stream") &&
            !arg.value().get_uint64().get(number)) {
          sum += static_cast<double>(number);
        }
      }
    }
  }
  return sum;
}

void Parse(const simdjson::padded_string& text, Round& round) {
  const double cpu_s = Seconds(CLOCK_PROCESS_CPUTIME_ID);
  const double wall_s = Seconds(CLOCK_MONOTONIC);
  ondemand::parser parser;
  ondemand::document document = parser.iterate(text);
  volatile double sum = 0;
  round.events = 0;
  for (auto event : document["traceEvents"].get_array()) {
    sum = sum + Take(event.get_object());
    ++round.events;
  }
  round.parse_cpu_s.push_back(Seconds(CLOCK_PROCESS_CPUTIME_ID) - cpu_s);
  round.parse_wall_s.push_back(Seconds(CLOCK_MONOTONIC) - wall_s);
}

// Gives the importer one file to write to.
class OneTrace final : public ImportTarget {
 public:
  explicit OneTrace(std::string output) : output_(std::move(output)) {}
  Result<TraceSink*> NewTrace(const InputFile&) override {
    TUTTI_ASSIGN_OR_RETURN(sink_, TraceSink::Create(output_));
    return sink_.get();
  }
  Result<TraceSink*> TraceOf(int64_t, const InputFile& file) override { return NewTrace(file); }
  Status Finish() { return sink_->Finish(0); }

 private:
  std::string output_;
  std::unique_ptr<TraceSink> sink_;
};

void Import(const InputFile& file, const std::string& output, Round& round) {
  fs::remove(output);
  OneTrace trace(output);
  const double cpu_s = Seconds(CLOCK_PROCESS_CPUTIME_ID);
  const double wall_s = Seconds(CLOCK_MONOTONIC);
  const double rows_s = Seconds(CLOCK_THREAD_CPUTIME_ID);
  Require(KinetoImporter().Import(file, trace));
  round.rows_cpu_s.push_back(Seconds(CLOCK_THREAD_CPUTIME_ID) - rows_s);
  Require(trace.Finish());
  round.file_wall_s.push_back(Seconds(CLOCK_MONOTONIC) - wall_s);
  round.file_cpu_s.push_back(Seconds(CLOCK_PROCESS_CPUTIME_ID) - cpu_s);
}

void Print(const char* name, const std::vector<double>& values) {
  std::printf(", \"%s\": [", name);
  for (size_t i = 0; i < values.size(); ++i) std::printf(i == 0 ? "%.6f" : ", %.6f", values[i]);
  std::printf("]");
}

int Main(const std::string& path, int rounds) {
  const simdjson::padded_string text = simdjson::padded_string::load(path);
  auto inputs = ListInputs({path});
  Require(inputs.status());
  const std::string output = (fs::temp_directory_path() / "tutti-json-benchmark.sqlite").string();
  Round round;
  for (int i = 0; i < rounds; ++i) {
    if (i % 2 == 0) Parse(text, round);
    Import(inputs->files.front(), output, round);
    if (i % 2 == 1) Parse(text, round);
  }
  fs::remove(output);
  std::printf("{\"bytes\": %zu, \"events\": %lld", text.size(),
              static_cast<long long>(round.events));
  Print("parse_cpu_s", round.parse_cpu_s);
  Print("parse_wall_s", round.parse_wall_s);
  Print("rows_cpu_s", round.rows_cpu_s);
  Print("file_wall_s", round.file_wall_s);
  Print("file_cpu_s", round.file_cpu_s);
  std::printf("}\n");
  return 0;
}

}  // namespace
}  // namespace tutti::collector::importers

int main(int argc, char** argv) {
  if (argc != 3) return 2;
  try {
    return tutti::collector::importers::Main(argv[1], std::atoi(argv[2]));
  } catch (const std::exception& error) {
    std::fprintf(stderr, "%s\n", error.what());
    return 1;
  }
}
