#include "collector/importers/kineto/event_parser.h"

#include <cstring>
#include <utility>

#include "collector/importers/kineto/json_text.h"
#include "collector/importers/kineto/json_tokens.h"
#include "collector/importers/kineto/number.h"

namespace tutti::collector::importers::kineto {
namespace {

// Compares with a literal without a call.
template <size_t kSize>
bool Equal(std::string_view text, const char (&literal)[kSize]) {
  return text.size() == kSize - 1 && std::memcmp(text.data(), literal, kSize - 1) == 0;
}

bool MayBeNonFinite(char first) {
  return first == 'N' || first == 'I' || first == 'i' || first == 'n' || first == '-';
}

// Takes an object; `take_value` takes the value of each key. False: it is not valid.
template <typename TakeValue>
bool TakeObject(JsonTokens& tokens, TakeValue&& take_value) {
  if (!tokens.Take('{')) return false;
  if (tokens.Take('}')) return true;
  do {
    std::string_view key;
    if (!tokens.TakeKey(key) || !take_value(key)) return false;
  } while (tokens.Take(','));
  return tokens.Take('}');
}

bool TakeArgs(JsonTokens& tokens, RawEvent& event) {
  return TakeObject(tokens, [&](std::string_view key) {
    std::string_view token;
    if (!tokens.TakeValue(token)) return false;
    if (MayBeNonFinite(token.front()) && IsNonFinite(token)) ++event.non_finite;
    const Arg arg = ArgOf(key);
    if (arg == Arg::kCount) {
      event.other_args.emplace_back(key, token);
    } else {
      event.Set(arg, token);
    }
    return true;
  });
}

// Where a part of an event is kept; null for one that is not used.
std::string_view* PartOf(std::string_view key, RawEvent& event) {
  switch (key.size()) {
    case 2:
      if (Equal(key, "ts")) return &event.time;
      if (Equal(key, "ph")) return &event.phase;
      if (Equal(key, "id")) return &event.id;
      if (Equal(key, "bp")) return &event.binding;
      break;
    case 3:
      if (Equal(key, "dur")) return &event.duration;
      if (Equal(key, "pid")) return &event.pid;
      if (Equal(key, "tid")) return &event.tid;
      if (Equal(key, "cat")) return &event.category;
      if (Equal(key, "id2")) return &event.id;  // Chrome's scoped ids
      break;
    case 4:
      if (Equal(key, "name")) return &event.name;
      break;
    case 5:
      if (Equal(key, "scope")) return &event.scope;
      break;
    default:
      break;
  }
  return nullptr;
}

bool TakeEvent(JsonTokens& tokens, RawEvent& event) {
  return TakeObject(tokens, [&](std::string_view key) {
    if (tokens.Is('{') && Equal(key, "args")) return TakeArgs(tokens, event);
    std::string_view token;
    if (!tokens.TakeValue(token)) return false;
    std::string_view* part = PartOf(key, event);
    if (part == nullptr) return true;
    if (part->data() != nullptr) ++event.duplicate_keys;
    *part = token;
    return true;
  });
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

EventParser::EventParser() : tokens_(std::make_unique<JsonTokens>()) {}
EventParser::~EventParser() = default;

EventParser::Batch EventParser::ParseBatch(char* data, size_t size, int64_t offset,
                                           const OnEvent& on_event) {
  const Overwritten front(data[-1], '[');
  const Overwritten back(data[size], ']');
  const std::string_view text(data - 1, size + 2);
  Batch batch;
  batch.failed = true;
  if (!tokens_->Scan(text) || !tokens_->Take('[')) return batch;
  do {
    const size_t begin = tokens_->Offset() - 1;  // in `data`
    if (tokens_->Is('{')) {
      event_.Clear();
      event_.offset = offset + static_cast<int64_t>(begin);
      if (!TakeEvent(*tokens_, event_)) {
        batch.parsed = begin;
        return batch;
      }
      on_event(event_);
    } else {
      std::string_view token;
      if (!tokens_->TakeValue(token)) return batch;
      ++batch.not_objects;
    }
    if (tokens_->AtEnd()) return batch;
    batch.parsed = tokens_->Offset() - 1;  // a comma, or the bracket after the last element
  } while (tokens_->Take(','));
  if (!tokens_->Take(']')) return batch;
  batch.failed = false;
  batch.array_ended = !tokens_->AtEnd();
  if (batch.array_ended) ++batch.parsed;  // its own ']'
  return batch;
}

bool EventParser::ParseOne(std::string_view object, int64_t offset, RawEvent& event) {
  event.Clear();
  event.offset = offset;
  return tokens_->Scan(object) && TakeEvent(*tokens_, event) && tokens_->AtEnd();
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
