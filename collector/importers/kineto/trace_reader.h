// The text of a Chrome trace, from its bytes to RawEvents: finds the events and what stands
// beside them, in constant memory whatever the size, and goes on after what is broken.
//
// Shapes taken: {"traceEvents": [...], other keys before and after}, a bare array, several
// documents one after the other, one event a line. A text that ends anywhere is read up to
// there. An event that no parser takes is repaired where that is safe (raw control bytes,
// bytes that are not UTF-8); otherwise reading goes on at the next event object.
// One thread.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>

#include "collector/importers/byte_source.h"
#include "collector/importers/kineto/event_parser.h"
#include "collector/importers/kineto/raw_event.h"
#include "collector/importers/kineto/window.h"

namespace tutti::collector::importers::kineto {

enum class Problem {
  kMalformedEvent,     // passed over
  kControlBytes,       // raw control bytes in strings: escaped
  kInvalidUtf8,        // replaced by U+FFFD
  kNotAnObject,        // an element of the events that is no event
  kTruncated,          // the text ends inside of it
  kMalformedDocument,  // text between events or documents that is no JSON
  kLongValue,          // a key beside the events whose value was too long to keep
};
inline constexpr int kProblemCount = 7;

class TraceHandler {
 public:
  virtual ~TraceHandler() = default;
  virtual void OnEvent(const RawEvent& event) = 0;
  // A key beside the events, with the JSON text of its value ('' where that was too long).
  virtual void OnKey(std::string_view key, std::string_view value, int64_t offset) = 0;
  // `count` times something, first at `offset` of the document.
  virtual void OnProblem(Problem problem, int64_t count, int64_t offset) = 0;
};

struct ReaderOptions {
  size_t window_bytes = size_t{256} << 10;
  size_t max_event_bytes = size_t{16} << 20;  // a longer one is malformed
  size_t max_value_bytes = size_t{4} << 20;   // of a key beside the events
};

class TraceReader {
 public:
  TraceReader(ByteSource& source, TraceHandler& handler, const ReaderOptions& options = {});

  // Reads all of the source. Not ok: the source failed (its status), after everything
  // before that was delivered.
  Status Read();

  int64_t documents() const { return documents_; }
  int64_t bytes() const { return window_.offset(); }

 private:
  bool Available();  // at least one character is there
  int Peek();        // next character that is no space; -1 at the end
  void Advance(size_t bytes) { window_.Consume(bytes); }
  void Report(Problem problem, int64_t offset) { handler_.OnProblem(problem, 1, offset); }

  void ReadDocument();
  void SkipMarkOfByteOrder();
  bool StartsWithEventKey();
  void ReadObject();
  bool ReadMember();
  bool CaptureValue(std::string& value, size_t limit);
  void ReadEvents();
  bool ReadElements();
  bool ReadBatch();
  void ReadOneElement();
  bool ParseElement(size_t length);
  bool FindElement(size_t& length);
  size_t ResumeAfter() const;
  void Resynchronise();
  size_t FindNextElement(size_t from);

  TraceHandler& handler_;
  ReaderOptions options_;
  Window window_;
  EventParser parser_;
  EventParser::OnEvent on_event_;
  RawEvent event_;
  std::string repaired_;
  int64_t documents_ = 0;
  int64_t one_by_one_until_ = 0;  // offset up to which batches have failed
  int64_t wasted_bytes_ = 0;      // looked at in vain, for ends of broken elements
  bool ends_in_string_ = false;   // how the last search for an element's end failed
  bool truncated_ = false;        // said already
};

}  // namespace tutti::collector::importers::kineto
