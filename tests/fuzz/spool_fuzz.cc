// Any bytes as the spool of a traced process: what the tracer of a hostile or broken program wrote
// into its rings, and what a killed drainer left. They must become rows and findings.
//
// Input: bytes of a spool behind a sound first chunk and a clock reading, so that the fuzzer does
// not have to find these. The last reading follows the input.
#include <fcntl.h>
#include <sys/mman.h>
#include <unistd.h>

#include <cstddef>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <string>

#include "collector/convert/converter.h"
#include "collector/os/file_descriptor.h"
#include "collector/os/files.h"
#include "collector/spool/reader.h"
#include "collector/spool/writer.h"
#include "schema/writer.h"

namespace {

using namespace tutti;             // NOLINT(google-build-using-namespace): a program of its own
using namespace tutti::collector;  // NOLINT(google-build-using-namespace)

constexpr int64_t kEpochNs = 1'700'000'000'000'000'000;

void Check(bool condition) {
  if (!condition) std::abort();
}

// In memory where there is /dev/shm: a run makes two files.
const std::string& Folder() {
  static const std::string folder = [] {
    std::string path = os::Exists("/dev/shm") ? "/dev/shm/tutti-fuzz-XXXXXX" : "/tmp/tutti-XXXXXX";
    Check(::mkdtemp(path.data()) != nullptr);
    return path;
  }();
  return folder;
}

spool::ProcessChunk Process() {
  spool::ProcessChunk process{};
  process.hello.pid = 100;
  process.hello.rank = 0;
  process.anchor = {kEpochNs, 0};
  process.clock_kind = wire::ClockKind::kMonotonicRaw;
  process.string_capacity = 1024;
  process.ring_count = 8;
  process.capture_mask = wire::kCaptureTorch;
  process.clock_ticks_per_second = 100;
  return process;
}

clock::ClockReading Reading(uint64_t ticks) {
  return {ticks, kEpochNs + static_cast<int64_t>(ticks), static_cast<int64_t>(ticks), 20};
}

void WriteSpool(int directory, const uint8_t* data, size_t size) {
  ::unlinkat(directory, "spool", 0);
  auto writer = spool::SpoolWriter::Create(directory, "spool");
  Check(writer.ok());
  Check(writer->AppendStruct(spool::ChunkKind::kProcess, Process()).ok());
  Check(writer->AppendStruct(spool::ChunkKind::kClock, Reading(0)).ok());
  const os::FileDescriptor fd(::openat(directory, "spool", O_WRONLY | O_APPEND | O_CLOEXEC));
  Check(os::WriteFully(fd.get(), data, size).ok());
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  const auto directory = os::OpenDirectory(Folder());
  Check(directory.ok());
  WriteSpool(directory->get(), data, size);
  const std::string path = Folder() + "/rank.sqlite";
  for (const char* suffix : {"", "-wal", "-shm", "-journal", ".ballast"}) {
    ::unlink((path + suffix).c_str());
  }
  auto writer = schema::TraceWriter::Create(path);
  Check(writer.ok());
  convert::RowOutput rows(**writer);
  convert::Converter converter(Process(), rows, {});
  auto reader = spool::SpoolReader::Open(directory->get(), "spool");
  Check(reader.ok());
  // What it refuses it must say; everything else is in the file.
  (void)converter.Finish(*reader, reader->file_bytes()).ok();
  Check((*writer)->Finalize().ok());
  Check((*writer)->rejected_rows() == 0);
  return 0;
}
