#include "collector/importers/pickle/value.h"

#include <algorithm>
#include <charconv>
#include <cstring>
#include <limits>

namespace tutti::collector::importers::pickle {
namespace {

// Storage of a list, tuple, set or object (items) or a dict (keys and values in turn).
struct Container {
  Value* items;
  uint64_t size;
  uint64_t capacity;
};

struct TextData {
  const char* data;
  uint64_t size;
};

bool IsSequence(ValueKind kind) {
  return kind == ValueKind::kList || kind == ValueKind::kTuple || kind == ValueKind::kSet ||
         kind == ValueKind::kObject;
}

void Grow(Arena& arena, Container& container, size_t added) {
  if (container.capacity - container.size >= added) return;
  // The first growth takes what is asked for: most lists are written at once.
  const uint64_t needed = container.size + added;
  const uint64_t capacity =
      container.capacity == 0 ? needed : std::max(needed, 2 * container.capacity);
  Value* const items = arena.Allocate<Value>(capacity);
  if (container.size > 0) std::memcpy(items, container.items, container.size * sizeof(Value));
  container.items = items;
  container.capacity = capacity;
}

void Add(Arena& arena, Container& container, std::span<const Value> items) {
  if (items.empty()) return;
  Grow(arena, container, items.size());
  std::memcpy(container.items + container.size, items.data(), items.size_bytes());
  container.size += items.size();
}

}  // namespace

// An integer that fits the payload is in it; a wider one is behind a pointer. The lowest
// bit tells them apart: storage is aligned, so a pointer has none.
std::optional<int64_t> Value::Int() const {
  if (kind() == ValueKind::kBool) return static_cast<int64_t>(bits_ & 1);
  if (kind() != ValueKind::kInt) return std::nullopt;
  if ((bits_ & 1) == 0) return *Pointer<int64_t>();
  return std::bit_cast<int64_t>(bits_ << (64 - kPayloadBits)) >> (64 - kPayloadBits + 1);
}

std::optional<bool> Value::Bool() const {
  if (kind() != ValueKind::kBool) return std::nullopt;
  return (bits_ & 1) != 0;
}

std::optional<double> Value::Number() const {
  if (kind() == ValueKind::kReal) return *Pointer<double>();
  const std::optional<int64_t> integer = Int();
  if (integer) return static_cast<double>(*integer);
  return std::nullopt;
}

std::optional<int64_t> Value::Bits64() const {
  if (kind() != ValueKind::kBigInt) return Int();
  const std::string_view text = *Text();
  uint64_t bits = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), bits);
  if (error != std::errc() || end != text.data() + text.size()) return std::nullopt;
  return std::bit_cast<int64_t>(bits);
}

std::optional<std::string_view> Value::Text() const {
  if (kind() != ValueKind::kText && kind() != ValueKind::kBytes && kind() != ValueKind::kBigInt) {
    return std::nullopt;
  }
  const TextData& text = *Pointer<TextData>();
  return std::string_view(text.data, text.size);
}

std::span<const Value> Value::Items() const {
  if (!IsSequence(kind())) return {};
  const Container& container = *Pointer<Container>();
  return {container.items, container.size};
}

std::span<const DictEntry> Value::Entries() const {
  static_assert(sizeof(DictEntry) == 2 * sizeof(Value) && alignof(DictEntry) == alignof(Value));
  if (kind() != ValueKind::kDict) return {};
  const Container& container = *Pointer<Container>();
  return {reinterpret_cast<const DictEntry*>(container.items), container.size / 2};
}

Value Value::Get(std::string_view key) const {
  const std::span<const DictEntry> entries = Entries();
  for (size_t i = entries.size(); i > 0; --i) {
    if (entries[i - 1].key.Text() == key) return entries[i - 1].value;
  }
  return {};
}

bool Value::Has(std::string_view key) const {
  for (const DictEntry& entry : Entries()) {
    if (entry.key.Text() == key) return true;
  }
  return false;
}

Value ValueBuilder::PackPointer(ValueKind kind, const void* pointer) {
  return Pack(kind, reinterpret_cast<uintptr_t>(pointer));
}

Value ValueBuilder::Int(int64_t value) {
  constexpr int64_t kLargest = (int64_t{1} << (Value::kPayloadBits - 2)) - 1;
  if (value >= -kLargest && value <= kLargest) {
    return Pack(ValueKind::kInt, (std::bit_cast<uint64_t>(value) << 1) | 1);
  }
  int64_t* const wide = arena_.Allocate<int64_t>(1);
  *wide = value;
  return PackPointer(ValueKind::kInt, wide);
}

Value ValueBuilder::Real(double value) {
  double* const real = arena_.Allocate<double>(1);
  *real = value;
  return PackPointer(ValueKind::kReal, real);
}

Value ValueBuilder::Text(ValueKind kind, std::string_view text) {
  TextData* const data = arena_.Allocate<TextData>(1);
  *data = {text.data(), text.size()};
  return PackPointer(kind, data);
}

Value ValueBuilder::Sequence(ValueKind kind, std::span<const Value> items) {
  Container* const container = arena_.Allocate<Container>(1);
  *container = {nullptr, 0, 0};
  Add(arena_, *container, items);
  return PackPointer(kind, container);
}

Value ValueBuilder::EmptyDict() {
  Container* const container = arena_.Allocate<Container>(1);
  *container = {nullptr, 0, 0};
  return PackPointer(ValueKind::kDict, container);
}

void ValueBuilder::Append(Value sequence, std::span<const Value> items) {
  Add(arena_, *const_cast<Container*>(sequence.Pointer<Container>()), items);
}

void ValueBuilder::SetItems(Value dict, std::span<const Value> keys_and_values) {
  Add(arena_, *const_cast<Container*>(dict.Pointer<Container>()), keys_and_values);
}

void ValueBuilder::SetItem(Value sequence, size_t index, Value item) {
  sequence.Pointer<Container>()->items[index] = item;
}

}  // namespace tutti::collector::importers::pickle
