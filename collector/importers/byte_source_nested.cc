// Packed data inside packed data: a trace that was compressed twice, or a folder of
// compressed traces that was zipped.
#include <algorithm>
#include <cstring>
#include <utility>

#include "collector/importers/byte_source_streams.h"

namespace tutti::collector::importers {
namespace {

constexpr int kMostLayers = 3;

// A source whose first bytes were read already.
class PeekedSource final : public ByteSource {
 public:
  explicit PeekedSource(std::unique_ptr<ByteSource> rest) : rest_(std::move(rest)) { Peek(); }

  std::string_view head() const { return head_; }

  Result<size_t> Read(char* to, size_t size) override {
    if (given_ == head_.size()) return failure_.ok() ? rest_->Read(to, size) : failure_;
    const size_t count = std::min(size, head_.size() - given_);
    std::memcpy(to, head_.data() + given_, count);
    given_ += count;
    return count;
  }

  bool refused() const override { return rest_->refused(); }

 private:
  // A failure is told when it would have been.
  void Peek() {
    char bytes[4];
    while (head_.size() < sizeof(bytes)) {
      const Result<size_t> got = rest_->Read(bytes, sizeof(bytes) - head_.size());
      if (!got.ok()) failure_ = got.status();
      if (!got.ok() || *got == 0) return;
      head_.append(bytes, *got);
    }
  }

  std::unique_ptr<ByteSource> rest_;
  std::string head_;
  size_t given_ = 0;
  Status failure_;
};

}  // namespace

Result<std::unique_ptr<ByteSource>> UnpackNested(std::unique_ptr<ByteSource> bytes,
                                                 const std::string& name, int64_t file_bytes,
                                                 ByteLimits limits) {
  // Layers that each stay below the ratio must not multiply.
  const int64_t most = limits.free_bytes + std::max<int64_t>(file_bytes, 1) * limits.max_ratio;
  limits.max_bytes = std::min(limits.max_bytes, most);
  for (int layer = 0;; ++layer) {
    auto peeked = std::make_unique<PeekedSource>(std::move(bytes));
    const Packing packing = PackingOf(peeked->head().data(), peeked->head().size());
    if (packing == Packing::kPlain) return std::unique_ptr<ByteSource>(std::move(peeked));
    if (packing == Packing::kZip) {
      return BadDataError(name + ": an archive inside packed data; unpack it once first");
    }
    if (layer == kMostLayers) return BadDataError(name + ": packed too many times");
    bytes = packing == Packing::kGzip ? MakeGzipSource(std::move(peeked), name, limits)
                                      : MakeZstdSource(std::move(peeked), name, limits);
  }
}

}  // namespace tutti::collector::importers
