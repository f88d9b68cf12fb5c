// Any bytes as an SQLite file from anywhere, read as a rank's trace: open it as hostile files are
// opened, read every table and view. Nothing may crash, hang or take all memory.
//
// Seeds are real rank files (tests/fuzz/run records some): SQLite's format is not found by chance.
#include <fcntl.h>
#include <unistd.h>

#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <string>

#include "schema/database.h"
#include "schema/reader.h"
#include "schema/rows.h"

namespace {

using tutti::schema::Database;

const std::string& Path() {
  static const std::string path = [] {
    std::string folder =
        ::access("/dev/shm", W_OK) == 0 ? "/dev/shm/tutti-fuzz-XXXXXX" : "/tmp/tutti-fuzz-XXXXXX";
    if (::mkdtemp(folder.data()) == nullptr) std::abort();
    return folder + "/rank.sqlite";
  }();
  return path;
}

void WriteFile(const uint8_t* data, size_t size) {
  const int fd = ::open(Path().c_str(), O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0600);
  if (fd < 0 || ::write(fd, data, size) != static_cast<ssize_t>(size)) std::abort();
  ::close(fd);
}

template <typename Row>
void ReadTable(Database& database) {
  (void)tutti::schema::ForEach<Row>(database, "LIMIT 10000", [](const Row&) {}).ok();
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  WriteFile(data, size);
  auto database = Database::OpenReadOnly(Path());
  if (!database.ok()) return 0;
  ReadTable<tutti::schema::MetaRow>(*database);
  ReadTable<tutti::schema::StringRow>(*database);
  ReadTable<tutti::schema::ProcessRow>(*database);
  ReadTable<tutti::schema::ThreadRow>(*database);
  ReadTable<tutti::schema::CommunicatorRow>(*database);
  ReadTable<tutti::schema::StepRow>(*database);
  ReadTable<tutti::schema::CpuOpRow>(*database);
  ReadTable<tutti::schema::CollectiveSourceRow>(*database);
  ReadTable<tutti::schema::KernelRow>(*database);
  ReadTable<tutti::schema::MemoryEventRow>(*database);
  ReadTable<tutti::schema::TraceStatRow>(*database);
  (void)database->QueryOne<int64_t>("SELECT count(*) FROM v_cpu_op").ok();
  return 0;
}
