// libFuzzer on the importer of Nsight Systems' SQLite exports: any bytes are a file, and
// whatever it is, importing it ends with rows, with counted rows or with one plain line.
// Seeds: exports with few rows.
#include <unistd.h>

#include <algorithm>
#include <cstdint>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <memory>
#include <string>
#include <vector>

#include "collector/importers/nsys/nsys_importer.h"

namespace {

namespace fs = std::filesystem;
using tutti::Result;
using tutti::collector::importers::ImportTarget;
using tutti::collector::importers::InputFile;
using tutti::collector::importers::kHeadBytes;
using tutti::collector::importers::NsysImporter;
using tutti::collector::importers::TraceSink;

// A folder in memory, so that the fuzzer does not wear out a disk.
const fs::path& Folder() {
  static const fs::path folder = [] {
    fs::path base = fs::exists("/dev/shm") ? "/dev/shm" : fs::temp_directory_path();
    base /= "tutti-nsys-fuzz-" + std::to_string(getpid());
    fs::remove_all(base);
    fs::create_directory(base);
    return base;
  }();
  return folder;
}

class FolderTarget : public ImportTarget {
 public:
  ~FolderTarget() override {
    for (const auto& sink : sinks_) {
      const std::string path = sink->path();
      for (const char* suffix : {"", "-wal", "-shm", ".ballast"}) {
        std::error_code ignored;
        fs::remove(path + suffix, ignored);
      }
    }
  }
  Result<TraceSink*> NewTrace(const InputFile&) override {
    const fs::path path = Folder() / ("trace-" + std::to_string(sinks_.size()) + ".sqlite");
    auto sink = TraceSink::Create(path);
    if (!sink.ok()) return sink.status();
    sinks_.push_back(std::move(*sink));
    return sinks_.back().get();
  }
  Result<TraceSink*> TraceOf(int64_t, const InputFile& file) override { return NewTrace(file); }

  void Finish() {
    for (auto& sink : sinks_) {
      if (!sink->Finish(0).ok()) std::abort();
    }
  }

 private:
  std::vector<std::unique_ptr<TraceSink>> sinks_;
};

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  const fs::path path = Folder() / "export.sqlite";
  {
    std::ofstream file(path, std::ios::binary | std::ios::trunc);
    file.write(reinterpret_cast<const char*>(data), static_cast<std::streamsize>(size));
  }
  InputFile input;
  input.path = path;
  input.name = "export.sqlite";
  input.bytes = static_cast<int64_t>(size);
  input.head.assign(reinterpret_cast<const char*>(data), std::min(size, kHeadBytes));
  input.plain_head = input.head;
  const NsysImporter importer;
  if (!importer.Recognizes(input)) return 0;
  FolderTarget target;
  const tutti::Status status = importer.Import(input, target);
  if (!status.ok() && status.message().empty()) std::abort();
  if (status.ok()) target.Finish();
  return 0;
}
