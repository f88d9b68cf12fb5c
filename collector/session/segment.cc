#include "collector/session/segment.h"

#include <fcntl.h>
#include <sys/mman.h>
#include <sys/stat.h>

#include <cerrno>
#include <optional>
#include <string>
#include <utility>

#include "collector/os/files.h"

namespace tutti::collector::session {
namespace {

Result<wire::SegmentPlan> Plan(uint64_t bytes) {
  const std::optional<wire::SegmentPlan> plan = wire::PlanSegment(bytes);
  if (!plan) {
    return UsageError("a buffer of " + std::to_string(bytes) +
                      " bytes is not possible: 4 MiB to 64 GiB are");
  }
  return *plan;
}

}  // namespace

Result<Segment> Segment::Make(uint64_t bytes, wire::ClockKind clock_kind, uint32_t capture_mask) {
  TUTTI_ASSIGN_OR_RETURN(const wire::SegmentPlan plan, Plan(bytes));
  os::FileDescriptor memfd(::memfd_create("tutti", MFD_CLOEXEC | MFD_ALLOW_SEALING));
  if (!memfd.valid()) return os::ErrnoStatus("memfd_create", errno);
  const off_t size = static_cast<off_t>(plan.segment_bytes);
  if (const int error = ::posix_fallocate(memfd.get(), 0, size); error != 0) {
    return os::ErrnoStatus("a buffer of " + std::to_string(plan.segment_bytes >> 20) + " MiB",
                           error);
  }
  if (::fcntl(memfd.get(), F_ADD_SEALS, F_SEAL_SHRINK | F_SEAL_GROW | F_SEAL_SEAL) != 0) {
    return os::ErrnoStatus("sealing the buffer", errno);
  }
  TUTTI_ASSIGN_OR_RETURN(std::byte * base, Map(memfd.get(), plan.segment_bytes));
  wire::InitializeSegment(base, plan, clock_kind, capture_mask);
  return Segment(std::move(memfd), plan, base);
}

Result<Segment> Segment::Attach(os::FileDescriptor memfd, uint64_t bytes) {
  TUTTI_ASSIGN_OR_RETURN(const wire::SegmentPlan plan, Plan(bytes));
  struct stat info;
  if (::fstat(memfd.get(), &info) != 0 ||
      static_cast<uint64_t>(info.st_size) != plan.segment_bytes) {
    return BadDataError("a buffer that was handed over has another size than planned");
  }
  TUTTI_ASSIGN_OR_RETURN(std::byte * base, Map(memfd.get(), plan.segment_bytes));
  return Segment(std::move(memfd), plan, base);
}

Result<std::byte*> Segment::Map(int memfd, uint64_t bytes) {
  void* base = ::mmap(nullptr, bytes, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_POPULATE, memfd, 0);
  if (base == MAP_FAILED) return os::ErrnoStatus("mapping the buffer", errno);
  return static_cast<std::byte*>(base);
}

Segment::Segment(os::FileDescriptor memfd, const wire::SegmentPlan& plan, std::byte* base)
    : memfd_(std::move(memfd)), plan_(plan), base_(base) {
  uint64_t offset = plan.cells_offset;
  for (const wire::RingClass& ring_class : plan.shape.classes) {
    for (uint32_t i = 0; i < ring_class.count; ++i) {
      rings_.push_back({offset, ring_class.capacity_cells});
      offset += uint64_t{ring_class.capacity_cells} * wire::kCellBytes;
    }
  }
}

Segment::Segment(Segment&& other) noexcept
    : memfd_(std::move(other.memfd_)),
      plan_(other.plan_),
      base_(std::exchange(other.base_, nullptr)),
      rings_(std::move(other.rings_)) {}

Segment::~Segment() {
  if (base_ != nullptr) ::munmap(base_, plan_.segment_bytes);
}

wire::SegmentHeader& Segment::header() const {
  return *reinterpret_cast<wire::SegmentHeader*>(base_);
}

wire::RingHeader& Segment::ring(uint32_t index) const {
  return *reinterpret_cast<wire::RingHeader*>(base_ + plan_.ring_headers_offset +
                                              index * wire::kRingHeaderBytes);
}

std::span<const std::byte> Segment::cells(uint32_t index) const {
  return {base_ + rings_[index].cells_offset,
          size_t{rings_[index].capacity_cells} * wire::kCellBytes};
}

wire::StringEntry& Segment::string_entry(uint32_t index) const {
  return reinterpret_cast<wire::StringEntry*>(base_ + plan_.string_entries_offset)[index];
}

std::span<const std::byte> Segment::string_arena() const {
  return {base_ + plan_.string_arena_offset, plan_.shape.string_arena_bytes};
}

}  // namespace tutti::collector::session
