#include "tracer/sources/nvtx/registry.h"

#include <cstring>

#include "tracer/core/string_table.h"

namespace tutti::tracer::nvtx {
namespace {

struct ThreadName {
  ThreadName* next;
  uint32_t tid;
  std::string_view name;
};

struct Registry {
  static constexpr uint32_t kStringBuckets = 256;

  static inline constinit Domain default_domain{};
  static inline constinit std::atomic<Domain*> domains{nullptr};
  static inline constinit std::atomic<String*> strings[kStringBuckets]{};
  static inline constinit std::atomic<String*> strings_by_handle[kStringBuckets]{};
  static inline constinit std::atomic<ThreadName*> thread_names{nullptr};
  // Some handles are a chained tool's: they have to be looked up.
  static inline constinit std::atomic<bool> foreign_handles{false};
};

std::atomic<String*>& HandleBucket(nvtxStringHandle_t handle) noexcept {
  const auto bits = reinterpret_cast<uintptr_t>(handle);
  return Registry::strings_by_handle[(bits >> 4 ^ bits >> 12) % Registry::kStringBuckets];
}

DomainRole RoleOf(std::string_view name) noexcept {
  if (name == "tutti") return DomainRole::kAnnotations;
  if (name == "NCCL") return DomainRole::kNccl;
  return DomainRole::kPlain;
}

Domain* FindDomain(std::string_view name) noexcept {
  Domain* domain = Registry::domains.load(std::memory_order_acquire);
  while (domain != nullptr && domain->name.text() != name) domain = domain->next;
  return domain;
}

String* FindString(const std::atomic<String*>& bucket, const Domain& domain, uint64_t hash,
                   std::string_view text) noexcept {
  String* string = bucket.load(std::memory_order_acquire);
  while (string != nullptr &&
         (string->hash != hash || string->domain != &domain || string->text.text() != text)) {
    string = string->next;
  }
  return string;
}

void EmitThreadName(uint32_t tid, std::string_view name) noexcept {
  Entry entry(wire::kCaptureNvtx);
  if (!entry) return;
  entry.Emit(wire::ThreadNameRecord{
      .header = HeaderOf(wire::RecordKind::kThreadName, entry.InternText(name)),
      .ticks = entry.Now(),
      .tid = tid,
      .reserved0 = 0,
      .reserved = {}});
}

}  // namespace

uint32_t RegisteredText::Index(Entry& entry) noexcept {
  const uint64_t known = interned_.load(std::memory_order_relaxed);
  if (known >> 32 == entry.epoch()) return static_cast<uint32_t>(known);
  const uint32_t index = entry.InternText(text_);
  if (index != wire::kNoString) {
    interned_.store(uint64_t{entry.epoch()} << 32 | index, std::memory_order_relaxed);
  }
  return index;
}

std::string_view CopyForEver(std::string_view text) noexcept {
  auto* copy = static_cast<char*>(std::malloc(text.size() + 1));
  if (copy == nullptr) return {};
  std::memcpy(copy, text.data(), text.size());
  copy[text.size()] = '\0';
  return {copy, text.size()};  // NOLINT(clang-analyzer-unix.Malloc): kept for ever
}

Domain& DefaultDomain() noexcept { return Registry::default_domain; }

Domain* FindOrMakeDomain(std::string_view name, nvtxDomainHandle_t chained_handle) noexcept {
  if (Domain* domain = FindDomain(name)) return domain;
  auto* made = MakeForEver<Domain>();
  if (made == nullptr) return nullptr;
  made->name.Set(CopyForEver(name));
  made->role = RoleOf(name);
  made->handle = reinterpret_cast<nvtxDomainHandle_t>(made);
  if (chained_handle != nullptr) {
    made->handle = chained_handle;
    Registry::foreign_handles.store(true, std::memory_order_release);
  }
  Domain* head = Registry::domains.load(std::memory_order_acquire);
  do {
    // Another thread may have put the same one there meanwhile.
    if (Domain* domain = FindDomain(name)) return domain;
    made->next = head;
  } while (!Registry::domains.compare_exchange_strong(head, made, std::memory_order_acq_rel));
  return made;
}

Domain& DomainOf(nvtxDomainHandle_t handle) noexcept {
  if (handle == nullptr) return Registry::default_domain;
  if (!Registry::foreign_handles.load(std::memory_order_acquire)) {
    return *reinterpret_cast<Domain*>(handle);
  }
  Domain* domain = Registry::domains.load(std::memory_order_acquire);
  while (domain != nullptr && domain->handle != handle) domain = domain->next;
  return domain != nullptr ? *domain : Registry::default_domain;
}

String* FindOrMakeString(Domain& domain, std::string_view text,
                         nvtxStringHandle_t chained_handle) noexcept {
  const uint64_t hash = HashText(text) ^ domain.identity();
  std::atomic<String*>& bucket = Registry::strings[hash % Registry::kStringBuckets];
  if (String* string = FindString(bucket, domain, hash, text)) return string;
  auto* made = MakeForEver<String>();
  if (made == nullptr) return nullptr;
  made->domain = &domain;
  made->hash = hash;
  made->text.Set(CopyForEver(text));
  made->handle = reinterpret_cast<nvtxStringHandle_t>(made);
  if (chained_handle != nullptr) {
    made->handle = chained_handle;
    PushFront<String, &String::next_by_handle>(HandleBucket(chained_handle), made);
    Registry::foreign_handles.store(true, std::memory_order_release);
  }
  PushFront(bucket, made);
  return made;
}

String* StringOf(nvtxStringHandle_t handle) noexcept {
  if (handle == nullptr) return nullptr;
  if (!Registry::foreign_handles.load(std::memory_order_acquire)) {
    return reinterpret_cast<String*>(handle);
  }
  String* string = HandleBucket(handle).load(std::memory_order_acquire);
  while (string != nullptr && string->handle != handle) string = string->next_by_handle;
  return string;
}

void NameCategory(Domain& domain, uint32_t number, std::string_view name) noexcept {
  auto* made = MakeForEver<CategoryName>();
  if (made == nullptr) return;
  made->number = number;
  made->name.Set(CopyForEver(name));
  PushFront(domain.categories[number % Domain::kCategoryBuckets], made);
}

uint32_t CategoryIndex(Entry& entry, Domain& domain, uint32_t number) noexcept {
  if (number == 0) return wire::kNoString;
  CategoryName* category =
      domain.categories[number % Domain::kCategoryBuckets].load(std::memory_order_acquire);
  while (category != nullptr && category->number != number) category = category->next;
  return category != nullptr ? category->name.Index(entry) : wire::kNoString;
}

void NameThread(uint32_t tid, std::string_view name) noexcept {
  if (Active()) return EmitThreadName(tid, name);
  if (!IsCandidate()) return;
  if (auto* made = MakeForEver<ThreadName>()) {
    made->tid = tid;
    made->name = CopyForEver(name);
    PushFront(Registry::thread_names, made);
  }
}

void EmitThreadNames() noexcept {
  // Newest first; of a thread's names the latest must come last.
  ThreadName* in_order = nullptr;
  ThreadName* name = Registry::thread_names.exchange(nullptr, std::memory_order_acquire);
  while (name != nullptr) {
    ThreadName* next = name->next;
    name->next = in_order;
    in_order = name;
    name = next;
  }
  while (in_order != nullptr) {
    ThreadName* next = in_order->next;
    EmitThreadName(in_order->tid, in_order->name);
    std::free(const_cast<char*>(in_order->name.data()));
    std::free(in_order);
    in_order = next;
  }
}

}  // namespace tutti::tracer::nvtx
