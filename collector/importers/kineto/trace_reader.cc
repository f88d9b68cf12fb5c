#include "collector/importers/kineto/trace_reader.h"

#include <algorithm>
#include <cstring>

#include "collector/importers/kineto/json_text.h"

namespace tutti::collector::importers::kineto {
namespace {

constexpr size_t kLookBehind = 256;
constexpr std::string_view kByteOrderMark = "\xef\xbb\xbf";

// True if `text`, from the '{' of an object, begins with a key that events have.
bool HasEventKeyFirst(std::string_view text) {
  size_t at = SkipSpace(text, 1);
  if (at >= text.size() || text[at] != '"') return false;
  const size_t end = text.find('"', ++at);
  if (end == std::string_view::npos) return false;
  const std::string_view key = text.substr(at, end - at);
  at = SkipSpace(text, end + 1);
  if (at >= text.size() || text[at] != ':') return false;
  for (const std::string_view known :
       {"ph", "name", "cat", "pid", "tid", "ts", "dur", "args", "id", "bp", "s", "tts"}) {
    if (key == known) return true;
  }
  return false;
}

// The ']' that ends the events, if `text` ends with it and at most one '}'.
size_t ClosingBracket(std::string_view text) {
  size_t end = text.size();
  const auto skip_space = [&] {
    while (end > 0 && IsJsonSpace(text[end - 1])) --end;
  };
  skip_space();
  if (end > 0 && text[end - 1] == '}') --end;
  skip_space();
  return end > 0 && text[end - 1] == ']' ? end - 1 : std::string_view::npos;
}

}  // namespace

TraceReader::TraceReader(ByteSource& source, TraceHandler& handler, const ReaderOptions& options)
    : handler_(handler),
      options_(options),
      window_(source, options.window_bytes, options.max_event_bytes),
      on_event_([this](const RawEvent& event) { handler_.OnEvent(event); }) {}

Status TraceReader::Read() {
  SkipMarkOfByteOrder();
  while (Peek() != -1) ReadDocument();
  return window_.failure();
}

bool TraceReader::Available() { return window_.size() != 0 || window_.Fill(); }

int TraceReader::Peek() {
  while (Available()) {
    const size_t space = SkipSpace(window_.text(), 0);
    Advance(space);
    if (window_.size() != 0) return static_cast<unsigned char>(window_.text().front());
  }
  return -1;
}

void TraceReader::SkipMarkOfByteOrder() {
  window_.Fill();
  if (window_.text().starts_with(kByteOrderMark)) Advance(kByteOrderMark.size());
}

bool TraceReader::StartsWithEventKey() {
  if (window_.size() < 64) window_.Fill();
  return HasEventKeyFirst(window_.text());
}

void TraceReader::ReadDocument() {
  const int first = Peek();
  if (first == '[') {
    ++documents_;
    Advance(1);
    ReadEvents();
  } else if (first == '{' && StartsWithEventKey()) {
    documents_ = std::max<int64_t>(documents_, 1);  // one event a line: one document
    ReadOneElement();
  } else if (first == '{') {
    ++documents_;
    Advance(1);
    ReadObject();
  } else {
    const int64_t offset = window_.offset();
    if (first != ',') Report(Problem::kMalformedDocument, offset);
    do {
      const std::string_view text = window_.text();
      Advance(std::min(text.find_first_of("{[", 1), text.size()));
    } while (window_.size() == 0 && window_.Fill() && window_.text().find_first_of("{[") != 0);
  }
}

void TraceReader::ReadObject() {
  while (true) {
    const int next = Peek();
    if (next == -1) {
      if (!truncated_) Report(Problem::kTruncated, window_.offset());
      truncated_ = true;
      return;
    }
    if (next == ',') {
      Advance(1);
    } else if (next == '}') {
      Advance(1);
      return;
    } else if (next != '"' || !ReadMember()) {
      Report(Problem::kMalformedDocument, window_.offset());
      return;  // the caller looks for the next document
    }
  }
}

// A key and its value; false if it is no such pair.
bool TraceReader::ReadMember() {
  std::string key;
  if (!CaptureValue(key, 1024)) return true;  // the end of the text: seen by the caller
  if (Peek() != ':') return Peek() == -1;
  Advance(1);
  key = DecodeString(key);
  const int first = Peek();
  if (first == '[' && key == "traceEvents") {
    Advance(1);
    ReadEvents();
    return true;
  }
  if (first == ',' || first == '}' || first == ']') return false;
  const int64_t offset = window_.offset();
  std::string value;
  if (!CaptureValue(value, options_.max_value_bytes)) return true;
  handler_.OnKey(key, value, offset);
  return true;
}

// The text of the value that begins here, empty if it is longer than `limit`; false if the
// text ends before it does.
bool TraceReader::CaptureValue(std::string& value, size_t limit) {
  ValueScanner scanner;
  const int64_t offset = window_.offset();
  bool is_too_long = false;
  while (!scanner.done()) {
    if (!Available()) return false;
    const std::string_view text = window_.text();
    const size_t length = scanner.Feed(text);
    is_too_long = is_too_long || value.size() + length > limit;
    if (!is_too_long) value.append(text.substr(0, length));
    Advance(length);
  }
  if (is_too_long) {
    value.clear();
    Report(Problem::kLongValue, offset);
  }
  return true;
}

void TraceReader::ReadEvents() {
  if (ReadElements()) return;
  if (!truncated_) Report(Problem::kTruncated, window_.offset());
  truncated_ = true;
}

// Up to the array's end; false if the text ends before.
bool TraceReader::ReadElements() {
  while (true) {
    switch (Peek()) {
      case -1:
        return false;
      case ',':
        Advance(1);
        break;
      case ']':
        Advance(1);
        return true;
      case '}':  // of the object around: the bracket is missing
        Report(Problem::kMalformedDocument, window_.offset());
        return true;
      case '{':
        if (window_.offset() >= one_by_one_until_) {
          if (ReadBatch()) return true;
        } else {
          ReadOneElement();
        }
        break;
      default: {
        Report(Problem::kNotAnObject, window_.offset());
        std::string ignored;
        const size_t before = window_.size();
        if (!CaptureValue(ignored, 0)) return false;
        if (window_.size() == before) Advance(1);  // never stand still
      }
    }
  }
}

// Reads as many elements as the window holds; true if the array ended with them.
bool TraceReader::ReadBatch() {
  window_.Fill();
  const size_t end = EndOfLastElement(window_.text());
  const int64_t offset = window_.offset();
  if (end == 0) {
    one_by_one_until_ = offset + static_cast<int64_t>(window_.size());
    ReadOneElement();
    return false;
  }
  const EventParser::Batch batch = parser_.ParseBatch(window_.data(), end, offset, on_event_);
  if (batch.not_objects != 0) handler_.OnProblem(Problem::kNotAnObject, batch.not_objects, offset);
  Advance(batch.parsed);
  if (batch.failed) one_by_one_until_ = offset + static_cast<int64_t>(end);
  return batch.array_ended;
}

void TraceReader::ReadOneElement() {
  size_t length = 0;
  if (FindElement(length) && ParseElement(length)) {
    Advance(length);
    return;
  }
  wasted_bytes_ += static_cast<int64_t>(length);
  Resynchronise();
}

// Length of the object that begins here, growing the window for it; false if it doesn't end
// in the text or is too long, and then how much was looked at.
bool TraceReader::FindElement(size_t& length) {
  ValueScanner scanner;
  size_t scanned = 0;
  ends_in_string_ = false;
  while (true) {
    scanned += scanner.Feed(window_.text().substr(scanned));
    length = scanned;
    if (scanner.done()) return true;
    if (!window_.Fill() && !window_.Grow()) {
      ends_in_string_ = scanner.in_string();
      return false;
    }
  }
}

bool TraceReader::ParseElement(size_t length) {
  const std::string_view object = window_.text().substr(0, length);
  if (parser_.ParseOne(object, window_.offset(), event_)) {
    handler_.OnEvent(event_);
    return true;
  }
  Repairs repairs;
  repaired_ = Repair(object, repairs);
  const size_t size = repaired_.size();
  repaired_.append(Window::kPadding, '\0');
  if (repairs.control_strings + repairs.utf8_strings == 0) return false;
  if (!parser_.ParseOne({repaired_.data(), size}, window_.offset(), event_)) return false;
  if (repairs.control_strings != 0) {
    handler_.OnProblem(Problem::kControlBytes, repairs.control_strings, window_.offset());
  }
  if (repairs.utf8_strings != 0) {
    handler_.OnProblem(Problem::kInvalidUtf8, repairs.utf8_strings, window_.offset());
  }
  handler_.OnEvent(event_);
  return true;
}

// How far to go on before the next event is looked for. Broken elements inside of one
// another are each looked at up to their end; text that is made of them would take forever,
// so looking is limited to a multiple of what was read.
size_t TraceReader::ResumeAfter() const {
  constexpr int64_t kFreeBytes = int64_t{32} << 20;
  constexpr int64_t kTimes = 20;
  const int64_t excess = wasted_bytes_ - kFreeBytes - kTimes * window_.offset();
  if (excess <= 0) return 1;
  return std::min(window_.size(), static_cast<size_t>(excess / kTimes) + 1);
}

// Passes over the broken element here, to the next that is an event or to the end.
void TraceReader::Resynchronise() {
  const int64_t offset = window_.offset();
  size_t from = ResumeAfter();
  while (true) {
    const size_t next = FindNextElement(from);
    if (next != std::string_view::npos) {
      Advance(next);
      Report(Problem::kMalformedEvent, offset);
      return;
    }
    if (window_.at_end()) break;
    if (window_.size() < 4 * kLookBehind && window_.Grow()) continue;
    // The beginning of an element, and what stands before it, may be cut by the window's end.
    Advance(window_.size() - std::min(window_.size() / 2, kLookBehind));
    from = 0;
    window_.Fill();
  }
  // Nothing readable follows: the text was cut off inside of this element, or it is the
  // last one and has one quote too many, which makes all that follows a string.
  const size_t end = ends_in_string_ ? ClosingBracket(window_.text()) : std::string_view::npos;
  if (end != std::string_view::npos) {
    Report(Problem::kMalformedEvent, offset);
    Advance(end);
    return;
  }
  if (!truncated_) Report(Problem::kTruncated, offset);
  truncated_ = true;
  Advance(window_.size());
}

// The next '{' that begins an event: after a comma, bracket, brace or line break, with a key
// of events, and closed and valid as far as the window shows.
size_t TraceReader::FindNextElement(size_t from) {
  const std::string_view text = window_.text();
  for (size_t at = text.find('{', from); at != std::string_view::npos;
       at = text.find('{', at + 1)) {
    size_t before = at;
    while (before > 0 && IsJsonSpace(text[before - 1])) --before;
    const bool follows_line =
        before != at && text.substr(before, at - before).find('\n') != std::string_view::npos;
    const bool follows_mark = before > 0 && (text[before - 1] == ',' || text[before - 1] == '[' ||
                                             text[before - 1] == '}');
    if ((!follows_line && !follows_mark) || !HasEventKeyFirst(text.substr(at))) continue;
    return at;
  }
  return std::string_view::npos;
}

}  // namespace tutti::collector::importers::kineto
