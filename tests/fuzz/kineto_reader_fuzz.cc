// libFuzzer on the reading of Chrome traces: any bytes are a text, and reading it ends, with
// events whose tokens lie inside of it in order, whatever the sizes of windows and pieces.
// Seeds: small traces, whole and broken (the first byte chooses the sizes).
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <string>

#include "collector/importers/kineto/json_text.h"
#include "collector/importers/kineto/number.h"
#include "collector/importers/kineto/testing/text_source.h"
#include "collector/importers/kineto/trace_reader.h"

namespace {

namespace kineto = tutti::collector::importers::kineto;

struct Checker final : kineto::TraceHandler {
  explicit Checker(size_t text_bytes) : bytes(static_cast<int64_t>(text_bytes)) {}

  void OnEvent(const kineto::RawEvent& event) override {
    if (event.offset <= last_offset || event.offset >= bytes) std::abort();
    last_offset = event.offset;
    kineto::ParseMicroseconds(event.time);
    kineto::ParseMicroseconds(event.duration);
    used += kineto::DecodeString(event.name).size();
    event.ForEachArg([this](std::string_view name, std::string_view token) {
      used += name.size() + kineto::DecodeString(token).size();
      kineto::ParseNumber(token);
      kineto::ParseBits(token);
    });
  }
  void OnKey(std::string_view key, std::string_view value, int64_t offset) override {
    if (offset < 0 || offset >= bytes) std::abort();
    used += key.size() + value.size();
  }
  void OnProblem(kineto::Problem, int64_t count, int64_t offset) override {
    if (count < 1 || offset < 0 || offset > bytes) std::abort();
  }

  int64_t bytes;
  int64_t last_offset = -1;
  size_t used = 0;
};

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  if (size == 0) return 0;
  constexpr size_t kWindows[] = {64, 300, 4096, 65536};
  const std::string text(reinterpret_cast<const char*>(data) + 1, size - 1);
  kineto::ReaderOptions options;
  options.window_bytes = kWindows[data[0] % 4];
  options.max_event_bytes = options.window_bytes * 4;
  options.max_value_bytes = 1000;
  kineto::TextSource source(text, data[0] / 4 % 2 == 0 ? SIZE_MAX : 7);
  Checker checker(text.size());
  kineto::TraceReader reader(source, checker, options);
  if (!reader.Read().ok()) std::abort();
  return 0;
}
