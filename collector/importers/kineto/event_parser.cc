#include "collector/importers/kineto/event_parser.h"

#include <simdjson.h>

#include <algorithm>
#include <bit>
#include <cstdint>
#include <cstring>
#include <utility>

#include "collector/importers/kineto/json_text.h"
#include "collector/importers/kineto/number.h"
#include "collector/importers/kineto/window.h"

namespace tutti::collector::importers::kineto {
namespace {

namespace ondemand = simdjson::ondemand;

static_assert(Window::kPadding >= simdjson::SIMDJSON_PADDING);

std::string_view Trimmed(std::string_view token) {
  while (!token.empty() && IsJsonSpace(token.back())) token.remove_suffix(1);
  return token;
}

// A bit in each byte of `word` that is `c`, exact up to the lowest of them
// (https://graphics.stanford.edu/~seander/bithacks.html#ZeroInWord).
uint64_t BytesThatAre(char c, uint64_t word) {
  constexpr uint64_t kOnes = 0x0101010101010101;
  const uint64_t zeros = word ^ (kOnes * static_cast<unsigned char>(c));
  return (zeros - kOnes) & ~zeros & (kOnes << 7);
}

// The key at `raw`, which follows the opening quote; the parser has seen the closing one.
std::string_view KeyText(const char* raw) {
  static_assert(std::endian::native == std::endian::little);
  static_assert(Window::kPadding >= sizeof(uint64_t));
  for (const char* at = raw;;) {
    uint64_t word = 0;
    std::memcpy(&word, at, sizeof(word));
    const uint64_t ends = BytesThatAre('"', word) | BytesThatAre('\\', word);
    if (ends == 0) {
      at += sizeof(word);
      continue;
    }
    at += std::countr_zero(ends) / 8;
    if (*at == '"') return {raw, static_cast<size_t>(at - raw)};
    at += 2;
  }
}

// The token of a value: for an array or object all of its text. Absent: not valid.
bool TokenOf(ondemand::value& value, std::string_view& token) {
  const std::string_view first = value.raw_json_token();
  if (first.front() == '[') {
    ondemand::array array;
    return value.get_array().get(array) == simdjson::SUCCESS &&
           array.raw_json().get(token) == simdjson::SUCCESS;
  }
  if (first.front() == '{') {
    ondemand::object object;
    return value.get_object().get(object) == simdjson::SUCCESS &&
           object.raw_json().get(token) == simdjson::SUCCESS;
  }
  token = Trimmed(first);
  return true;
}

bool MayBeNonFinite(char first) {
  return first == 'N' || first == 'I' || first == 'i' || first == 'n' || first == '-';
}

bool ReadArgs(ondemand::object args, RawEvent& event) {
  for (auto result : args) {
    ondemand::field field;
    if (std::move(result).get(field) != simdjson::SUCCESS) return false;
    const std::string_view key = KeyText(field.key().raw());
    std::string_view token;
    if (!TokenOf(field.value(), token)) return false;
    if (MayBeNonFinite(token.front()) && IsNonFinite(token)) ++event.non_finite;
    const Arg arg = ArgOf(key);
    if (arg == Arg::kCount) {
      event.other_args.emplace_back(key, token);
    } else {
      event.Set(arg, token);
    }
  }
  return true;
}

// Where a part of an event is kept; null for one that is not used.
std::string_view* PartOf(std::string_view key, RawEvent& event) {
  switch (key.size()) {
    case 2:
      if (key == "ts") return &event.time;
      if (key == "ph") return &event.phase;
      if (key == "id") return &event.id;
      if (key == "bp") return &event.binding;
      break;
    case 3:
      if (key == "dur") return &event.duration;
      if (key == "pid") return &event.pid;
      if (key == "tid") return &event.tid;
      if (key == "cat") return &event.category;
      if (key == "id2") return &event.id;  // Chrome's scoped ids
      break;
    case 4:
      if (key == "name") return &event.name;
      break;
    case 5:
      if (key == "scope") return &event.scope;
      break;
    default:
      break;
  }
  return nullptr;
}

bool ReadEvent(ondemand::object object, RawEvent& event) {
  for (auto result : object) {
    ondemand::field field;
    if (std::move(result).get(field) != simdjson::SUCCESS) return false;
    const std::string_view key = KeyText(field.key().raw());
    ondemand::value& value = field.value();
    if (key == "args") {
      ondemand::object args;
      if (value.raw_json_token().front() != '{') continue;
      if (value.get_object().get(args) != simdjson::SUCCESS || !ReadArgs(args, event)) return false;
      continue;
    }
    std::string_view* part = PartOf(key, event);
    if (part == nullptr) continue;
    if (part->data() != nullptr) ++event.duplicate_keys;
    if (!TokenOf(value, *part)) return false;
  }
  return true;
}

// Puts a character into a text and the old one back.
class Overwritten {
 public:
  Overwritten(char& place, char c) : place_(place), old_(std::exchange(place, c)) {}
  ~Overwritten() { place_ = old_; }
  Overwritten(const Overwritten&) = delete;
  Overwritten& operator=(const Overwritten&) = delete;

 private:
  char& place_;
  char old_;
};

}  // namespace

struct EventParser::Parsers {
  ondemand::parser batch;
  ondemand::parser one;
};

EventParser::EventParser() : parsers_(std::make_unique<Parsers>()) {}
EventParser::~EventParser() = default;

EventParser::Batch EventParser::ParseBatch(char* data, size_t size, int64_t offset,
                                           const OnEvent& on_event) {
  const Overwritten front(data[-1], '[');
  const Overwritten back(data[size], ']');
  Batch batch;
  batch.failed = true;
  ondemand::document document;
  ondemand::array array;
  const simdjson::padded_string_view text(data - 1, size + 2, size + 2 + Window::kPadding);
  if (parsers_->batch.iterate(text).get(document) != simdjson::SUCCESS ||
      document.get_array().get(array) != simdjson::SUCCESS) {
    return batch;
  }
  for (auto element : array) {
    ondemand::value value;
    if (std::move(element).get(value) != simdjson::SUCCESS) return batch;
    const char* const begin = value.raw_json_token().data();
    if (*begin == '{') {
      ondemand::object object;
      event_.Clear();
      event_.offset = offset + (begin - data);
      if (value.get_object().get(object) != simdjson::SUCCESS || !ReadEvent(object, event_)) {
        batch.parsed = static_cast<size_t>(begin - data);
        return batch;
      }
      on_event(event_);
    } else {
      std::string_view token;
      if (!TokenOf(value, token)) return batch;
      ++batch.not_objects;
    }
    // The next token: a comma, or the bracket after the last element.
    const char* next = nullptr;
    if (document.current_location().get(next) != simdjson::SUCCESS) return batch;
    batch.parsed = static_cast<size_t>(next - data);
  }
  const char* next = nullptr;
  const bool ended_here = document.current_location().get(next) != simdjson::SUCCESS;
  batch.failed = false;
  batch.array_ended = !ended_here;
  if (batch.array_ended) ++batch.parsed;  // its own ']'
  return batch;
}

bool EventParser::ParseOne(std::string_view object, int64_t offset, RawEvent& event) {
  event.Clear();
  event.offset = offset;
  ondemand::document document;
  ondemand::object fields;
  const simdjson::padded_string_view text(object.data(), object.size(),
                                          object.size() + Window::kPadding);
  return parsers_->one.iterate(text).get(document) == simdjson::SUCCESS &&
         document.get_object().get(fields) == simdjson::SUCCESS && ReadEvent(fields, event);
}

size_t EndOfLastElement(std::string_view text) {
  for (size_t at = text.size(); at-- > 0;) {
    const void* const found = ::memrchr(text.data(), '{', at + 1);
    if (found == nullptr) return 0;
    at = static_cast<size_t>(static_cast<const char*>(found) - text.data());
    const size_t inside = SkipSpace(text, at + 1);
    if (inside == text.size() || text[inside] != '"') continue;
    const auto back = [&text](size_t from) {
      while (from > 0 && IsJsonSpace(text[from - 1])) --from;
      return from;
    };
    const size_t comma = back(at);
    if (comma == 0 || text[comma - 1] != ',') continue;
    const size_t end = back(comma - 1);
    if (end > 0 && text[end - 1] == '}') return end;
  }
  return 0;
}

}  // namespace tutti::collector::importers::kineto
