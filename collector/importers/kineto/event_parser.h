// JSON text to RawEvents, in batches as large as possible. Nothing in here recurses, so depth
// costs nothing.
// One thread; memory is kept between calls.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <string_view>

#include "collector/importers/kineto/raw_event.h"

namespace tutti::collector::importers::kineto {

class JsonTokens;

class EventParser {
 public:
  EventParser();
  ~EventParser();

  using OnEvent = std::function<void(const RawEvent&)>;

  struct Batch {
    size_t parsed = 0;         // characters of complete elements and what separates them
    bool array_ended = false;  // the array's ']' is the last of these characters
    bool failed = false;       // what comes after them can't be parsed in a batch
    int64_t not_objects = 0;   // elements that are no objects: passed over
  };

  // Parses `size` characters at `data`: elements of an array with their commas, the first
  // at its front, the last complete. The characters before and after them are overwritten
  // and restored; Window::kPadding more must be readable. `offset` is that of data[0] in
  // the document. Elements may have been given to `on_event` although the batch failed.
  Batch ParseBatch(char* data, size_t size, int64_t offset, const OnEvent& on_event);

  // Parses one object; false if it is not valid.
  bool ParseOne(std::string_view object, int64_t offset, RawEvent& event);

 private:
  std::unique_ptr<JsonTokens> tokens_;
  RawEvent event_;
};

// Where the last element ends in the front of an array's text of which the rest is yet to
// come: after its '}' before a comma and the next '{"'. 0 if there is none. It may be wrong
// (an array of objects inside an element looks alike); parsing finds out then.
size_t EndOfLastElement(std::string_view text);

}  // namespace tutti::collector::importers::kineto
