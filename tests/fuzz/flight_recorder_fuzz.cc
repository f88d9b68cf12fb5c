// libFuzzer on flight-recorder dumps, as pickle and as JSON.
#include <cstdint>
#include <string_view>

#include "collector/importers/flight_recorder/dump.h"
#include "collector/importers/flight_recorder/names.h"
#include "collector/importers/pickle/json.h"
#include "collector/importers/pickle/reader.h"

namespace {

namespace flight_recorder = tutti::collector::importers::flight_recorder;
namespace pickle = tutti::collector::importers::pickle;

void Parse(const tutti::Result<pickle::Document>& document, size_t size) {
  if (!document.ok() || !flight_recorder::IsDump(document->root)) return;
  const flight_recorder::Dump dump = flight_recorder::ParseDump(document->root, size);
  for (const flight_recorder::Entry& entry : dump.entries) {
    entry.Payload(2);
    entry.Shapes();
    entry.dtype();
    if (entry.group >= dump.groups.size()) __builtin_trap();
  }
  flight_recorder::CommonRank(dump.groups);
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  const std::string_view bytes(reinterpret_cast<const char*>(data), size);
  flight_recorder::RankInFileName(bytes);
  Parse(pickle::Read(bytes), size);
  Parse(pickle::ReadJson(bytes), size);
  return 0;
}
