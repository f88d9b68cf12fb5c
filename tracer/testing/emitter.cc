// A rank without torch that emits for ever: tracer_emitter THREADS PROGRESS_FD. Each thread
// opens a span, then writes marks numbered from 0 and keeps account of them.
#include "tracer/testing/emitter.h"

#include <sys/mman.h>

#include <cstdlib>
#include <thread>
#include <vector>

#include "tracer/core/entry.h"
#include "tracer/core/process_info.h"
#include "tracer/core/session.h"

namespace tutti::tracer::testing {
namespace {

void EmitForEver(EmitterProgress::Thread* progress) {
  {
    wire::OpenSpan span{};
    span.identity = kEmitterSpan;
    Entry(kCaptureAlways).BeginSpan(span);
  }
  progress->tid.store(static_cast<uint32_t>(ThreadId()));
  wire::MarkRecord mark{};
  mark.header = HeaderOf(wire::RecordKind::kMark, 0);
  for (uint64_t sequence = 0;; ++sequence) {
    progress->started.store(sequence + 1);
    mark.payload = sequence;
    Entry(kCaptureAlways).Emit(mark);
    progress->finished.store(sequence + 1);
  }
}

int Run(uint32_t thread_count, int progress_file) {
  void* memory =
      mmap(nullptr, sizeof(EmitterProgress), PROT_READ | PROT_WRITE, MAP_SHARED, progress_file, 0);
  if (memory == MAP_FAILED) return 2;
  auto* progress = static_cast<EmitterProgress*>(memory);
  Configure();
  if (!Promote("emitter")) return 3;
  std::vector<std::thread> threads;
  for (uint32_t i = 0; i < thread_count; ++i) {
    threads.emplace_back(&EmitForEver, &progress->threads[i]);
  }
  for (std::thread& thread : threads) thread.join();
  return 0;
}

}  // namespace
}  // namespace tutti::tracer::testing

int main(int argc, char** argv) {
  if (argc != 3) return 1;
  return tutti::tracer::testing::Run(static_cast<uint32_t>(std::atoi(argv[1])), std::atoi(argv[2]));
}
