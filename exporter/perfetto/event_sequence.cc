#include "exporter/perfetto/event_sequence.h"

#include <protozero/pbf_writer.hpp>
#include <variant>

namespace tutti::exporter::perfetto {
namespace {

using protozero::pbf_writer;

constexpr size_t kMostInterned = 1 << 16;
constexpr size_t kLongestInterned = 4096;

}  // namespace

uint64_t EventSequence::Interned::Number(std::string_view text, std::string& interned_data) {
  if (text.size() > kLongestInterned) return 0;
  const auto known = numbers_.find(std::string(text));
  if (known != numbers_.end()) return known->second;
  if (numbers_.size() >= kMostInterned) return 0;
  const uint64_t number = numbers_.size() + 1;
  numbers_.emplace(text, number);
  pbf_writer writer(interned_data);
  pbf_writer entry(writer, field_);
  entry.add_uint64(kEntryIid, number);
  entry.add_bytes(kEntryText, text.data(), text.size());
  return number;
}

std::string EventSequence::AnnotationMessage(const Annotation& annotation) {
  std::string message;
  pbf_writer writer(message);
  if (const uint64_t name = annotation_names_.Number(annotation.name, interned_data_)) {
    writer.add_uint64(kAnnotationNameIid, name);
  } else {
    writer.add_string(kAnnotationName, annotation.name.data(), annotation.name.size());
  }
  const schema::Value& value = **annotation.value;
  if (const auto* integer = std::get_if<int64_t>(&value)) {
    writer.add_int64(kAnnotationInt, *integer);
  } else if (const auto* real = std::get_if<double>(&value)) {
    writer.add_double(kAnnotationDouble, *real);
  } else {
    const auto* text = std::get_if<std::string>(&value);
    const std::string& bytes = text != nullptr ? *text : std::get<schema::Blob>(value).bytes;
    if (const uint64_t number = annotation_texts_.Number(bytes, interned_data_)) {
      writer.add_uint64(kAnnotationTextIid, number);
    } else {
      writer.add_string(kAnnotationText, bytes);
    }
  }
  return message;
}

std::string EventSequence::EventMessage(const Event& event) {
  std::string message;
  pbf_writer writer(message);
  writer.add_enum(kEventType, static_cast<int32_t>(event.type));
  if (event.track != track_) writer.add_uint64(kEventTrackUuid, event.track);
  if (event.type == EventType::kEnd) return message;
  if (event.type == EventType::kCounter) {
    if (const auto* integer = std::get_if<int64_t>(&event.value)) {
      writer.add_int64(kEventCounterValue, *integer);
    } else if (const auto* real = std::get_if<double>(&event.value)) {
      writer.add_double(kEventDoubleCounterValue, *real);
    }
    return message;
  }
  if (const uint64_t name = names_.Number(event.name, interned_data_)) {
    writer.add_uint64(kEventNameIid, name);
  } else {
    writer.add_string(kEventName, event.name.data(), event.name.size());
  }
  if (const uint64_t category = categories_.Number(event.category, interned_data_)) {
    writer.add_uint64(kEventCategoryIid, category);
  } else {
    writer.add_string(kEventCategory, event.category.data(), event.category.size());
  }
  for (const Annotation& annotation : event.annotations) {
    if (*annotation.value) writer.add_message(kEventAnnotation, AnnotationMessage(annotation));
  }
  for (const uint64_t flow : event.flows) writer.add_fixed64(kEventFlowId, flow);
  for (const uint64_t flow : event.terminated_flows) {
    writer.add_fixed64(kEventTerminatingFlowId, flow);
  }
  return message;
}

void EventSequence::Write(const Event& event) {
  interned_data_.clear();
  const std::string message = EventMessage(event);
  std::string packet;
  {
    pbf_writer writer(packet);
    writer.add_uint64(kPacketTimestamp, static_cast<uint64_t>(event.time_ns));
    writer.add_uint32(kPacketSequenceId, id_);
    writer.add_uint32(kPacketSequenceFlags,
                      kNeedsIncrementalState | (is_first_ ? kIncrementalStateCleared : 0));
    if (is_first_) {
      pbf_writer defaults(writer, kPacketDefaults);
      pbf_writer track_event(defaults, kDefaultsTrackEvent);
      track_event.add_uint64(kDefaultsTrackUuid, track_);
    }
    if (!interned_data_.empty()) writer.add_message(kPacketInternedData, interned_data_);
    writer.add_message(kPacketTrackEvent, message);
  }
  is_first_ = false;
  writer_.Write(packet);
}

}  // namespace tutti::exporter::perfetto
