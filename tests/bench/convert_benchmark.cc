// How fast a rank's spool becomes its file: cells of operators, as the drainer wrote them, to
// rows of cpu_op in a finished SQLite file. Prints one line of JSON; rates are of CPU time.
// ingest_benchmark is what SQLite itself needs for the same rows.
#include <sys/stat.h>
#include <time.h>

#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <memory>
#include <stdexcept>
#include <string>

#include "collector/convert/converter.h"
#include "collector/convert/row_output.h"
#include "collector/os/files.h"
#include "collector/spool/reader.h"
#include "collector/testing/spool_builder.h"
#include "schema/writer.h"

namespace tutti::collector {
namespace {

constexpr uint64_t kOperators = 400'000;
constexpr uint64_t kOperatorsPerBatch = 10'000;  // what a drain of a busy rank takes at once
constexpr uint64_t kNames = 200;
constexpr char kSpool[] = "p0001.spool";

void Require(const Status& status) {
  if (!status.ok()) throw std::runtime_error(std::string(status.message()));
}

int64_t CpuNs() {
  timespec now;
  ::clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &now);
  return int64_t{now.tv_sec} * 1'000'000'000 + now.tv_nsec;
}

// Operators as a training thread has them: nested, a microsecond apart.
wire::CpuOpRecord Operator(testing::SpoolBuilder& spool, uint64_t number) {
  wire::CpuOpRecord record{};
  record.header = testing::Header(
      wire::RecordKind::kCpuOp, spool.String("aten::operator_" + std::to_string(number % kNames)));
  record.begin_ticks = 1'000 * (number + 1);
  record.end_ticks = record.begin_ticks + 400 + number % 300;
  record.sequence_nr = number % 3 == 0 ? static_cast<int64_t>(number / 3) : -1;
  record.torch_tid = 1;
  record.depth = static_cast<uint16_t>(number % 5);
  record.scope = number % 3 == 0 ? 1 : 0;
  return record;
}

uint64_t WriteSpool(const std::string& directory, const spool::ProcessChunk& process) {
  testing::SpoolBuilder spool(directory, kSpool, process);
  spool.AddThread(0, testing::kMainTid, "python");
  for (uint64_t number = 0; number < kOperators; ++number) {
    spool.Add(0, Operator(spool, number));
    if ((number + 1) % kOperatorsPerBatch == 0) spool.Flush(1'000 * (number + 2));
  }
  spool.Flush(1'000 * (kOperators + 2));
  return spool.committed();
}

int Main() {
  const testing::TemporaryDirectory directory;
  const spool::ProcessChunk process = testing::SpoolBuilder::Process();
  const uint64_t spool_bytes = WriteSpool(directory.path(), process);
  const std::string path = directory.path() + "/rank-00000.sqlite";

  const int64_t begin_ns = CpuNs();
  auto writer = schema::TraceWriter::Create(path);
  Require(writer.status());
  convert::RowOutput rows(**writer);
  convert::Converter converter(process, rows, {});
  const auto folder = os::OpenDirectory(directory.path());
  Require(folder.status());
  auto reader = spool::SpoolReader::Open(folder->get(), kSpool);
  Require(reader.status());
  Require(converter.Finish(*reader, spool_bytes));
  Require((*writer)->Finalize());
  const int64_t cpu_ns = CpuNs() - begin_ns;

  if ((*writer)->committed_rows() < static_cast<int64_t>(kOperators)) {
    throw std::runtime_error("rows are missing");
  }
  struct stat file;
  if (::stat(path.c_str(), &file) != 0) throw std::runtime_error("no file");
  constexpr auto kRows = static_cast<double>(kOperators);
  std::printf(
      "{\"rows_per_s\": %.0f, \"bytes_per_event\": %.2f, \"spool_bytes_per_event\": %.2f}\n",
      kRows * 1e9 / static_cast<double>(cpu_ns), static_cast<double>(file.st_size) / kRows,
      static_cast<double>(spool_bytes) / kRows);
  return 0;
}

}  // namespace
}  // namespace tutti::collector

int main() {
  try {
    return tutti::collector::Main();
  } catch (const std::exception& error) {
    std::fprintf(stderr, "convert_benchmark: %s\n", error.what());
    return 1;
  }
}
