#include "collector/importers/unread_file.h"

#include <cstdint>
#include <string_view>

#include "schema/sql.h"

namespace tutti::collector::importers {
namespace {

using namespace std::literals;

// Something that files of a kind begin with, or that their names end with.
struct Kind {
  std::string_view mark;
  std::string_view advice;
};

constexpr Kind kBeginnings[] = {
    {"BZh"sv, "packed by bzip2, which is not read here; unpack it first"},
    {"\xfd"
     "7zXZ"sv,
     "packed by xz, which is not read here; unpack it first"},
    {"7z\xbc\xaf\x27\x1c"sv, "a 7-Zip archive, which is not read here; unpack it first"},
    {"\x04\x22\x4d\x18"sv, "packed by lz4, which is not read here; unpack it first"},
    {"NVR\0"sv,
     "a report of Nsight Compute, which is about single kernels; tutti reads timelines of Nsight "
     "Systems (nsys export --type sqlite)"},
    {"\xff\xfe"sv, "a text in UTF-16; convert it to UTF-8 first"},
    {"\xfe\xff"sv, "a text in UTF-16; convert it to UTF-8 first"},
};

constexpr Kind kEndings[] = {
    {".nsys-rep"sv,
     "not a readable report of Nsight Systems; export a whole one first: nsys export --type "
     "sqlite"},
    {".qdrep"sv,
     "not a readable report of Nsight Systems; export a whole one first: nsys export --type "
     "sqlite"},
    {".xplane.pb"sv,
     "a profile of XLA (JAX, TensorFlow), whose binary form is not read here; give the "
     "trace.json.gz that lies beside it, or make one with jax.profiler.trace(…, "
     "create_perfetto_trace=True)"},
    {".pftrace"sv,
     "a trace of Perfetto, whose binary form is not read here; convert it first: traceconv json"},
    {".perfetto-trace"sv,
     "a trace of Perfetto, whose binary form is not read here; convert it first: traceconv json"},
    {".otf2"sv, "an OTF2 archive, which is not read here; have the profiler write Chrome JSON"},
};

// A rank file or a run.sqlite, by SQLite's header.
bool IsOwnFile(const InputFile& file) {
  constexpr size_t kIdOffset = 68;  // of the application id, big-endian
  if (!file.head.starts_with("SQLite format 3") || file.head.size() < kIdOffset + 4) return false;
  uint32_t id = 0;
  for (size_t i = 0; i < 4; ++i) id = id << 8 | static_cast<uint8_t>(file.head[kIdOffset + i]);
  return id == static_cast<uint32_t>(schema::kApplicationId);
}

// What was packed with other tools, by its header (POSIX pax, section "ustar").
bool IsTar(const InputFile& file) {
  constexpr size_t kTarMagicOffset = 257;
  return file.plain_head.substr(0, kTarMagicOffset + 5).ends_with("ustar");
}

std::string_view AdviceAbout(const InputFile& file) {
  if (IsTar(file)) return "a tar archive; unpack it and import its folder";
  if (IsOwnFile(file)) return "a trace of tutti already; tutti report opens it";
  for (const Kind& kind : kBeginnings) {
    if (file.plain_head.starts_with(kind.mark)) return kind.advice;
  }
  for (const Kind& kind : kEndings) {
    if (file.name.ends_with(kind.mark)) return kind.advice;
  }
  // rocprofv3 --output-format json: one object of this name, which may be the first of many.
  if (file.plain_head.substr(0, 256).find("\"rocprofiler-sdk-tool\"") != std::string::npos) {
    return "rocprofv3's own JSON, which is not read here; tutti reads the JSON of torch.profiler";
  }
  return "not in a format that tutti reads (PyTorch profiler JSON, Nsight Systems SQLite, NCCL "
         "flight recorder, memory snapshot)";
}

}  // namespace

std::string WhyNotRead(const InputFile& file) {
  if (file.bytes == 0) return file.name + ": the file is empty";
  if (!file.damage.empty()) return file.damage;
  return file.name + ": " + std::string(AdviceAbout(file));
}

}  // namespace tutti::collector::importers
