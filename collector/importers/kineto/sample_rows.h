// Instants of the allocator -> memory_event; counters -> counter, counter_sample. One thread.
#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <string_view>

#include "collector/importers/kineto/context.h"

namespace tutti::collector::importers::kineto {

class SampleRows {
 public:
  explicit SampleRows(Context& context) : context_(context) {}

  // True for the instants of the allocator.
  static bool IsMemory(std::string_view name_token);
  void OnMemory(const RawEvent& event);
  void OnCounter(const RawEvent& event);

 private:
  static constexpr size_t kMostCounters = 10'000;  // beyond them, samples are left out

  int64_t CounterOf(const RawEvent& event, std::string_view series, bool is_only);

  Context& context_;
  std::map<std::string, int64_t, std::less<>> counters_;  // by name
};

}  // namespace tutti::collector::importers::kineto
