// zstd streams; libzstd checks the checksum of a frame that has one.
#include <zstd.h>

#include <algorithm>
#include <utility>
#include <vector>

#include "collector/importers/byte_source_streams.h"

namespace tutti::collector::importers {
namespace {

struct ZstdFree {
  void operator()(ZSTD_DCtx* context) const { ZSTD_freeDCtx(context); }
};

class ZstdSource final : public ByteSource {
 public:
  ZstdSource(std::unique_ptr<ByteSource> packed, std::string name, const ByteLimits& limits)
      : packed_(std::move(packed)),
        guard_(std::move(name), limits),
        context_(ZSTD_createDCtx()),
        input_(ZSTD_DStreamInSize()) {}

  Result<size_t> Read(char* to, size_t size) override {
    TUTTI_RETURN_IF_ERROR(failure_);
    ZSTD_outBuffer out{to, size, 0};
    while (out.pos == 0) {
      if (in_.pos == in_.size && !at_end_) TUTTI_RETURN_IF_ERROR(FillInput());
      const bool no_input = in_.pos == in_.size;
      if (no_input && frame_is_done_) return size_t{0};
      const size_t outcome = ZSTD_decompressStream(context_.get(), &out, &in_);
      if (ZSTD_isError(outcome) != 0) {
        failure_ = Damaged(ZSTD_getErrorName(outcome));
        if (out.pos == 0) return failure_;
        break;  // what was unpacked before it is given first
      }
      frame_is_done_ = outcome == 0;
      if (no_input && out.pos == 0 && !frame_is_done_) return Status(Cut());
    }
    bytes_ += static_cast<int64_t>(out.pos);
    TUTTI_RETURN_IF_ERROR(guard_.Check(packed_bytes_, bytes_));
    return out.pos;
  }

  bool refused() const override { return guard_.refused(); }

 private:
  Status FillInput() {
    TUTTI_ASSIGN_OR_RETURN(const size_t got, packed_->Read(input_.data(), input_.size()));
    in_ = {input_.data(), got, 0};
    packed_bytes_ += static_cast<int64_t>(got);
    at_end_ = got == 0;
    return OkStatus();
  }
  Status Cut() const {
    return BadDataError(guard_.name() + ": cut off: the compressed data ends early, after " +
                        std::to_string(bytes_) + " bytes of contents");
  }
  Status Damaged(const char* what) const {
    return BadDataError(guard_.name() + ": damaged: " + what + " near byte " +
                        std::to_string(packed_bytes_ - static_cast<int64_t>(in_.size - in_.pos)));
  }

  std::unique_ptr<ByteSource> packed_;
  GrowthGuard guard_;
  std::unique_ptr<ZSTD_DCtx, ZstdFree> context_;
  std::vector<char> input_;
  ZSTD_inBuffer in_{nullptr, 0, 0};
  int64_t packed_bytes_ = 0;
  int64_t bytes_ = 0;
  bool at_end_ = false;
  Status failure_;             // comes after what has been given
  bool frame_is_done_ = true;  // before the first frame and between frames
};

}  // namespace

std::unique_ptr<ByteSource> MakeZstdSource(std::unique_ptr<ByteSource> packed, std::string name,
                                           const ByteLimits& limits) {
  return std::make_unique<ZstdSource>(std::move(packed), std::move(name), limits);
}

}  // namespace tutti::collector::importers
