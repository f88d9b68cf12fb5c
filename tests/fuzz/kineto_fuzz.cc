// libFuzzer on the import of Chrome traces: any bytes are a text, and importing it ends with
// rows that the tables take, with counted ones or with one plain line.
// Seeds: those of kineto_reader_fuzz (the first byte is not used).
#include <unistd.h>

#include <cstdint>
#include <cstdlib>
#include <filesystem>
#include <string>

#include "collector/importers/kineto/kineto_importer.h"
#include "collector/importers/kineto/testing/text_source.h"

namespace {

namespace fs = std::filesystem;
namespace kineto = tutti::collector::importers::kineto;
using tutti::collector::importers::TraceSink;

// A folder in memory, so that the fuzzer does not wear out a disk.
const fs::path& Folder() {
  static const fs::path folder = [] {
    fs::path base = fs::exists("/dev/shm") ? "/dev/shm" : fs::temp_directory_path();
    base /= "tutti-kineto-fuzz-" + std::to_string(getpid());
    fs::remove_all(base);
    fs::create_directory(base);
    return base;
  }();
  return folder;
}

void RemoveTrace(const fs::path& path) {
  for (const char* suffix : {"", "-wal", "-shm", ".ballast"}) {
    std::error_code ignored;
    fs::remove(path.string() + suffix, ignored);
  }
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  if (size == 0) return 0;
  const std::string text(reinterpret_cast<const char*>(data) + 1, size - 1);
  const int64_t base_ns = kineto::FindBaseTime(text).value_or(0);
  const fs::path path = Folder() / "trace.sqlite";
  RemoveTrace(path);
  auto sink = TraceSink::Create(path);
  if (!sink.ok()) std::abort();
  (*sink)->sources.push_back({.path = "fuzz.json", .format = "kineto"});
  kineto::TextSource source(text);
  const tutti::Status status = kineto::ReadTrace(source, base_ns, **sink);
  if (!status.ok() && status.message().empty()) std::abort();
  if (status.ok() && !(*sink)->Finish(0).ok()) std::abort();
  return 0;
}
