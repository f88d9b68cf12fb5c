// gzip and raw deflate through ISA-L's igzip, which inflates about three times as fast as
// zlib and checks the CRC on the way.
#include <isa-l/crc.h>
#include <isa-l/igzip_lib.h>

#include <algorithm>
#include <array>
#include <limits>
#include <utility>
#include <vector>

#include "collector/importers/byte_source_streams.h"

namespace tutti::collector::importers {
namespace {

constexpr size_t kInputBytes = size_t{128} << 10;

class DeflateSource final : public ByteSource {
 public:
  DeflateSource(std::unique_ptr<ByteSource> packed, std::string name, const ByteLimits& limits,
                bool is_gzip)
      : packed_(std::move(packed)),
        guard_(std::move(name), limits),
        is_gzip_(is_gzip),
        input_(kInputBytes) {
    isal_inflate_init(&state_);
    state_.crc_flag = is_gzip ? ISAL_GZIP : ISAL_DEFLATE;
    state_.avail_in = 0;
  }

  Result<size_t> Read(char* to, size_t size) override {
    TUTTI_RETURN_IF_ERROR(failure_);
    size = std::min<size_t>(size, std::numeric_limits<uint32_t>::max() / 2);
    state_.next_out = reinterpret_cast<uint8_t*>(to);
    state_.avail_out = static_cast<uint32_t>(size);
    while (state_.avail_out == size) {
      if (state_.block_state == ISAL_BLOCK_FINISH) {
        TUTTI_ASSIGN_OR_RETURN(const bool goes_on, StartNextMember());
        if (!goes_on) return size_t{0};
      }
      failure_ = Inflate();
      // What was inflated before it is given first.
      if (!failure_.ok() && state_.avail_out == size) return failure_;
    }
    const size_t got = size - state_.avail_out;
    bytes_ += static_cast<int64_t>(got);
    TUTTI_RETURN_IF_ERROR(guard_.Check(packed_bytes_ - state_.avail_in, bytes_));
    return got;
  }

  bool refused() const override { return guard_.refused(); }

 private:
  Status Inflate() {
    if (state_.avail_in == 0) TUTTI_RETURN_IF_ERROR(FillInput());
    const bool no_input = state_.avail_in == 0;
    const uint32_t room = state_.avail_out;
    const int outcome = isal_inflate(&state_);
    if (outcome == ISAL_INCORRECT_CHECKSUM) return Damaged("wrong checksum");
    if (outcome < 0) return Damaged("not valid compressed data");
    if (outcome == ISAL_NEED_DICT) return Damaged("needs a dictionary");
    // Without input igzip still gives what it holds, and then nothing.
    const bool stuck = no_input && state_.avail_out == room;
    if (stuck && state_.block_state != ISAL_BLOCK_FINISH) return Cut();
    return OkStatus();
  }

  Status FillInput() {
    if (at_end_) return OkStatus();
    TUTTI_ASSIGN_OR_RETURN(const size_t got, packed_->Read(input_.data(), input_.size()));
    state_.next_in = reinterpret_cast<uint8_t*>(input_.data());
    state_.avail_in = static_cast<uint32_t>(got);
    packed_bytes_ += static_cast<int64_t>(got);
    at_end_ = got == 0;
    return OkStatus();
  }

  // gzip files may be several streams one after the other (as `cat` joins them), and tape
  // tools pad them with zeros.
  Result<bool> StartNextMember() {
    if (!is_gzip_) return false;
    while (true) {
      if (state_.avail_in == 0) TUTTI_RETURN_IF_ERROR(FillInput());
      if (state_.avail_in == 0) return false;
      if (*state_.next_in != 0) break;
      ++state_.next_in;
      --state_.avail_in;
    }
    if (*state_.next_in != 0x1f) return Status(Damaged("other bytes after the compressed data"));
    isal_inflate_reset(&state_);
    state_.crc_flag = ISAL_GZIP;
    return true;
  }

  Status Cut() const {
    return BadDataError(guard_.name() + ": cut off: the compressed data ends early, after " +
                        std::to_string(bytes_) + " bytes of contents");
  }
  Status Damaged(const char* what) const {
    return BadDataError(guard_.name() + ": damaged: " + what + " near byte " +
                        std::to_string(packed_bytes_ - state_.avail_in));
  }

  std::unique_ptr<ByteSource> packed_;
  GrowthGuard guard_;
  bool is_gzip_;
  std::vector<char> input_;
  inflate_state state_;
  int64_t packed_bytes_ = 0;  // read from below
  int64_t bytes_ = 0;
  bool at_end_ = false;
  Status failure_;  // comes after what has been given
};

class CheckedSource final : public ByteSource {
 public:
  CheckedSource(std::unique_ptr<ByteSource> bytes, std::string name, int64_t byte_count,
                uint32_t crc32)
      : source_(std::move(bytes)),
        name_(std::move(name)),
        expected_bytes_(byte_count),
        expected_crc_(crc32) {}

  Result<size_t> Read(char* to, size_t size) override {
    TUTTI_ASSIGN_OR_RETURN(const size_t got, source_->Read(to, size));
    crc_ = crc32_gzip_refl(crc_, reinterpret_cast<const unsigned char*>(to), got);
    bytes_ += static_cast<int64_t>(got);
    if (got != 0) return got;
    if (bytes_ != expected_bytes_)
      return Status(BadDataError(name_ + ": cut off or damaged: " + std::to_string(bytes_) +
                                 " bytes, its archive says " + std::to_string(expected_bytes_)));
    if (crc_ != expected_crc_) return Status(BadDataError(name_ + ": damaged: wrong checksum"));
    return got;
  }

  bool refused() const override { return source_->refused(); }

 private:
  std::unique_ptr<ByteSource> source_;
  std::string name_;
  int64_t expected_bytes_;
  uint32_t expected_crc_;
  int64_t bytes_ = 0;
  uint32_t crc_ = 0;
};

}  // namespace

GrowthGuard::GrowthGuard(std::string name, const ByteLimits& limits)
    : name_(std::move(name)), limits_(limits) {}

Status GrowthGuard::Check(int64_t packed_bytes, int64_t bytes) {
  const bool too_large = bytes > limits_.max_bytes;
  const bool too_dense =
      bytes > limits_.free_bytes && bytes / limits_.max_ratio > std::max<int64_t>(packed_bytes, 1);
  if (!too_large && !too_dense) return OkStatus();
  refused_ = true;
  return BadDataError(name_ + ": refused: " + std::to_string(packed_bytes) +
                      " compressed bytes have grown to " + std::to_string(bytes) +
                      (too_large ? ", more than is allowed" : ", as no trace does"));
}

std::unique_ptr<ByteSource> MakeGzipSource(std::unique_ptr<ByteSource> packed, std::string name,
                                           const ByteLimits& limits) {
  return std::make_unique<DeflateSource>(std::move(packed), std::move(name), limits, true);
}

std::unique_ptr<ByteSource> MakeDeflateSource(std::unique_ptr<ByteSource> packed, std::string name,
                                              const ByteLimits& limits) {
  return std::make_unique<DeflateSource>(std::move(packed), std::move(name), limits, false);
}

std::unique_ptr<ByteSource> MakeCheckedSource(std::unique_ptr<ByteSource> bytes, std::string name,
                                              int64_t byte_count, uint32_t crc32) {
  return std::make_unique<CheckedSource>(std::move(bytes), std::move(name), byte_count, crc32);
}

}  // namespace tutti::collector::importers
