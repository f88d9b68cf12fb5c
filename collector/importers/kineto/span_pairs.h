// Events written in two halves -> ranges: B and E on a thread, b and e of an asynchronous
// operation. Halves may come in any order in the file; they are put in order of time
// within a buffer, which is as far as order can be restored in constant memory. Of spans
// that never end, only so many are kept open.
// One thread.
#pragma once

#include <cstdint>
#include <string>
#include <unordered_map>
#include <vector>

#include "collector/importers/kineto/context.h"
#include "collector/importers/kineto/host_rows.h"

namespace tutti::collector::importers::kineto {

class SpanPairs {
 public:
  SpanPairs(Context& context, HostRows& rows, size_t most_kept = size_t{1} << 19)
      : context_(context), rows_(rows), most_kept_(most_kept) {}

  // `phase`: B, E, b, e, n or the older S, T, p, F. `domain_id` as for ranges.
  void OnHalf(const RawEvent& event, char phase, int64_t domain_id);
  void Finish();

 private:
  static constexpr size_t kFarthest = 4'096;
  static constexpr size_t kMostNames = 200'000;

  enum class Half : uint8_t { kBegin, kEnd, kMark };
  struct Entry {
    int64_t time_ns = 0;
    uint64_t key = 0;  // of the thread, or of the operation
    int64_t name_id = 0;
    int64_t domain_id = 0;
    int64_t offset = 0;
    uint32_t track = 0;
    uint32_t name = 0;  // place in names_
    Half half = Half::kBegin;
    bool is_async = false;
  };

  uint32_t NameOf(std::string_view token);
  void ProcessFirst(size_t count);
  void Process(const Entry& entry);
  void End(const Entry& entry);
  void Write(const Entry& begin, const Entry* end, size_t depth);
  void WriteOpen();

  Context& context_;
  HostRows& rows_;
  size_t most_kept_;
  std::vector<Entry> entries_;
  std::unordered_map<uint64_t, std::vector<Entry>> open_;
  size_t open_count_ = 0;
  std::vector<std::string> names_;  // tokens
  std::unordered_map<std::string, uint32_t> name_places_;
};

}  // namespace tutti::collector::importers::kineto
