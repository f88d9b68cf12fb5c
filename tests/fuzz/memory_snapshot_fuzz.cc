// libFuzzer on memory snapshots and on the straggler study's timelines.
#include <cstdint>
#include <string_view>

#include "collector/importers/memory_snapshot/snapshot.h"
#include "collector/importers/memory_snapshot/totals.h"
#include "collector/importers/pickle/json.h"
#include "collector/importers/pickle/reader.h"
#include "collector/importers/straggler_study/timeline.h"

namespace {

namespace memory_snapshot = tutti::collector::importers::memory_snapshot;
namespace pickle = tutti::collector::importers::pickle;
namespace straggler_study = tutti::collector::importers::straggler_study;

class Looker : public memory_snapshot::Visitor {
 public:
  void OnSegment(const memory_snapshot::Segment& segment) override {
    if (segment.bytes < 0) __builtin_trap();
  }
  void OnBlock(const memory_snapshot::Block& block) override {
    if (block.bytes < 0) __builtin_trap();
    memory_snapshot::StackText(block.frames);
  }
  void OnEvent(const memory_snapshot::Event& event) override {
    if (event.bytes < 0 || event.action.empty()) __builtin_trap();
    balance_.Add(event.action == "alloc" ? event.bytes : -event.bytes);
    if (balance_.Opening(event.bytes) < 0) __builtin_trap();
  }
  void OnOddity(std::string_view /*what*/, int64_t count) override {
    if (count <= 0) __builtin_trap();
  }

 private:
  memory_snapshot::OpeningBalance balance_;
};

void Walk(const tutti::Result<pickle::Document>& document, size_t size) {
  if (!document.ok()) return;
  Looker looker;
  if (memory_snapshot::IsSnapshot(document->root)) {
    memory_snapshot::Walk(document->root, size, looker);
  }
  const auto timeline = straggler_study::ParseTimeline(document->root);
  for (const straggler_study::Span& span : timeline.spans) {
    if (span.worker >= timeline.workers.size()) __builtin_trap();
  }
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  const std::string_view bytes(reinterpret_cast<const char*>(data), size);
  Walk(pickle::Read(bytes), size);
  Walk(pickle::ReadJson(bytes), size);
  return 0;
}
