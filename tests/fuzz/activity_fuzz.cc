// Any bytes as a buffer of CUPTI's activity records: walked by our table, each record converted
// into rows. The first byte chooses the release that is said to have written it.
#include <unistd.h>

#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <iterator>
#include <memory>
#include <string>

#include "collector/convert/cupti/activity_records.h"
#include "collector/convert/cupti/buffer_walk.h"
#include "collector/os/files.h"
#include "schema/writer.h"

namespace {

using namespace tutti;             // NOLINT(google-build-using-namespace): a program of its own
using namespace tutti::collector;  // NOLINT(google-build-using-namespace)

constexpr int64_t kEpochNs = 1'700'000'000'000'000'000;
constexpr int kInputsPerFile = 256;  // a file for each would be most of the work

void Check(bool condition) {
  if (!condition) std::abort();
}

const std::string& Folder() {
  static const std::string folder = [] {
    std::string path = os::Exists("/dev/shm") ? "/dev/shm/tutti-fuzz-XXXXXX" : "/tmp/tutti-XXXXXX";
    Check(::mkdtemp(path.data()) != nullptr);
    return path;
  }();
  return folder;
}

std::unique_ptr<schema::TraceWriter> NewFile() {
  const std::string path = Folder() + "/rank.sqlite";
  for (const char* suffix : {"", "-wal", "-shm", "-journal", ".ballast"}) {
    ::unlink((path + suffix).c_str());
  }
  auto writer = schema::TraceWriter::Create(path);
  Check(writer.ok());
  return std::move(*writer);
}

struct Session {
  Session() : writer(NewFile()), rows(*writer), context(rows, {kEpochNs, 0}, 16, 100) {
    Check(context.clock.Add({0, kEpochNs, 0, 20}));
    Check(context.clock.Add({1'000'000, kEpochNs + 1'000'000, 1'000'000, 20}));
    context.strings.Define(1, "_Z39ncclDevKernel_AllReduce_Sum_f32_RING_LL24ncclDevKernelArgs");
    context.strings.Define(2, "cudaLaunchKernel_v7000");
  }
  ~Session() {
    records.Finish();
    Check(rows.last_failure().ok());
    Check(writer->rejected_rows() == 0);
  }

  std::unique_ptr<schema::TraceWriter> writer;
  convert::RowOutput rows;
  convert::Context context;
  convert::NcclRecords nccl{context};
  convert::cupti::ActivityRecords records{context, nccl};
};

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  constexpr uint32_t kVersions[] = {0,      22,     24,     26,     28,     130001,
                                    130100, 130202, 130301, 130401, 130500, 999'999};
  static std::unique_ptr<Session> session;
  static int inputs = 0;
  if (size == 0) return 0;
  if (inputs++ % kInputsPerFile == 0) {
    session.reset();
    session = std::make_unique<Session>();
  }
  const uint32_t version = kVersions[data[0] % std::size(kVersions)];
  const auto buffer = std::as_bytes(std::span(data + 1, size - 1));
  size_t at = 0;
  convert::cupti::WalkBuffer(buffer, version,
                             [&](uint32_t kind, const convert::cupti::ActivityView& view) {
                               wire::ActivityRecord record{};
                               record.header = {wire::RecordKind::kActivity, 1, 0, kind % 4};
                               record.cupti_version = version;
                               record.bytes = static_cast<uint16_t>(view.size());
                               session->records.OnActivity(record, buffer.subspan(at, view.size()));
                               at += view.size();
                             });
  return 0;
}
