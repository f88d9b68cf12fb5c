// What programs register with NVTX and refer to by handle or number: domains, strings,
// category names, payload schemas, names of threads. Kept for the process's life, also in
// candidates: handles are taken before anybody knows whether the process is a rank.
//
// Append-only and lock-free; all functions may run on any number of threads at once. Entries
// that have a handle are never freed, so that it stays good in any order of destruction.
#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <new>
#include <string_view>

#include "tracer/core/entry.h"
#include "tracer/sources/nvtx/abi.h"

namespace tutti::tracer::nvtx {

// Text with its index in the segment's table, which is looked up once a session.
class RegisteredText {
 public:
  // Before others can see it. |text| is kept for ever by the caller.
  void Set(std::string_view text) noexcept { text_ = text; }

  std::string_view text() const noexcept { return text_; }
  uint32_t Index(Entry& entry) noexcept;

 private:
  std::string_view text_;
  std::atomic<uint64_t> interned_{0};  // epoch << 32 | index
};

struct CategoryName {
  CategoryName* next;
  uint32_t number;
  RegisteredText name;
};

// What a domain's events mean for the process.
enum class DomainRole : uint8_t {
  kPlain,
  kAnnotations,  // "tutti", annotate.h: its events make a process a rank, and are always kept
  kNccl,         // "NCCL": so does communicator activity
};

// The address stands for the domain in spans, and is the handle that programs get, unless a
// chained tool gave one.
struct Domain {
  static constexpr uint32_t kCategoryBuckets = 16;

  Domain* next = nullptr;
  RegisteredText name;
  DomainRole role = DomainRole::kPlain;
  nvtxDomainHandle_t handle = nullptr;
  std::atomic<CategoryName*> categories[kCategoryBuckets]{};

  uint64_t identity() const noexcept { return reinterpret_cast<uintptr_t>(this); }
};

struct String {
  String* next;
  String* next_by_handle;  // foreign handles only
  Domain* domain;
  uint64_t hash;
  RegisteredText text;
  nvtxStringHandle_t handle;
};

// The domain of that name, made if there is none; its handle is |chained_handle| if that is
// not null. Domains of one name are one. nullptr if there is no memory.
Domain* FindOrMakeDomain(std::string_view name, nvtxDomainHandle_t chained_handle) noexcept;

// The domain that |handle| stands for; the default domain for null and unknown handles.
Domain& DomainOf(nvtxDomainHandle_t handle) noexcept;
Domain& DefaultDomain() noexcept;

// The same for strings registered in a domain.
String* FindOrMakeString(Domain& domain, std::string_view text,
                         nvtxStringHandle_t chained_handle) noexcept;
String* StringOf(nvtxStringHandle_t handle) noexcept;  // nullptr if unknown

// Names a category from now on; the latest name counts.
void NameCategory(Domain& domain, uint32_t number, std::string_view name) noexcept;

// Index of a category's name, 0 if it has none or |number| is 0.
uint32_t CategoryIndex(Entry& entry, Domain& domain, uint32_t number) noexcept;

// Remembers and, in a rank, writes the name of a thread.
void NameThread(uint32_t tid, std::string_view name) noexcept;

// Writes the names of threads given before the process became a rank.
void EmitThreadNames() noexcept;

// A copy of |text| for ever; empty if there is no memory.
std::string_view CopyForEver(std::string_view text) noexcept;

// One more zeroed node for ever; nullptr if there is no memory.
template <typename Node>
Node* MakeForEver() noexcept {
  void* memory = std::malloc(sizeof(Node));
  if (memory == nullptr) return nullptr;
  return new (memory) Node{};
}

// Puts |node| at the head of |list|.
template <typename Node, Node* Node::*kNext = &Node::next>
void PushFront(std::atomic<Node*>& list, Node* node) noexcept {
  Node* head = list.load(std::memory_order_relaxed);
  do {
    node->*kNext = head;
  } while (!list.compare_exchange_weak(head, node, std::memory_order_release,
                                       std::memory_order_relaxed));
}

}  // namespace tutti::tracer::nvtx
