// The events of one lane as one packet sequence: what repeats (names, categories, texts) is
// written once and referred to by number. Times must not go back. Bounded memory: when very
// many texts are known, further ones are written out. One thread.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "exporter/perfetto/fields.h"
#include "exporter/perfetto/packet_writer.h"
#include "schema/value.h"

namespace tutti::exporter::perfetto {

struct Annotation {
  std::string_view name;
  const schema::NullableValue* value;  // NULL is left out
};

enum class EventType { kBegin = 1, kEnd = 2, kInstant = 3, kCounter = 4 };

struct Event {
  EventType type = EventType::kInstant;
  uint64_t track = 0;
  int64_t time_ns = 0;
  std::string_view name = {};                   // of kBegin and kInstant
  std::string_view category = {};               // the same
  std::vector<Annotation> annotations = {};     // the same
  std::vector<uint64_t> flows = {};             // that go on from here
  std::vector<uint64_t> terminated_flows = {};  // that end here
  schema::Value value = int64_t{0};             // of kCounter, a number
};

class EventSequence {
 public:
  // Most events are on |track|.
  EventSequence(PacketWriter& writer, uint64_t track)
      : writer_(writer), id_(writer.NewSequence()), track_(track) {}

  void Write(const Event& event);

 private:
  // Texts of one kind that were written with a number.
  class Interned {
   public:
    explicit Interned(uint32_t field) : field_(field) {}
    // The text's number, added to |interned_data| where it is new; 0: write the text out.
    uint64_t Number(std::string_view text, std::string& interned_data);

   private:
    uint32_t field_;
    std::unordered_map<std::string, uint64_t> numbers_;
  };

  std::string EventMessage(const Event& event);
  std::string AnnotationMessage(const Annotation& annotation);

  PacketWriter& writer_;
  uint32_t id_;
  uint64_t track_;
  bool is_first_ = true;
  std::string interned_data_;  // new in the packet that is being made
  Interned names_{kInternedEventName};
  Interned categories_{kInternedCategory};
  Interned annotation_names_{kInternedAnnotationName};
  Interned annotation_texts_{kInternedAnnotationText};
};

}  // namespace tutti::exporter::perfetto
