#include "exporter/tensorboard/event_file.h"

#include <isa-l/crc.h>

#include <array>
#include <protozero/pbf_writer.hpp>

namespace tutti::exporter::tensorboard {
namespace {

using protozero::pbf_writer;

// Fields of Event, Summary and Summary.Value.
constexpr uint32_t kEventWallTime = 1;
constexpr uint32_t kEventStep = 2;
constexpr uint32_t kEventFileVersion = 3;
constexpr uint32_t kEventSummary = 5;
constexpr uint32_t kSummaryValue = 1;
constexpr uint32_t kValueTag = 1;
constexpr uint32_t kValueSimple = 2;

uint32_t MaskedCrc(std::string_view bytes) {
  // The library takes its input as not constant, but only reads it.
  std::string copy(bytes);
  const uint32_t crc = ~crc32_iscsi(reinterpret_cast<unsigned char*>(copy.data()),
                                    static_cast<int>(copy.size()), ~uint32_t{0});
  return ((crc >> 15) | (crc << 17)) + 0xa282ead8u;
}

// Little-endian.
template <typename Number>
std::string Bytes(Number number) {
  std::string bytes;
  for (size_t i = 0; i < sizeof number; ++i) {
    bytes += static_cast<char>(static_cast<uint64_t>(number) >> (8 * i) & 0xff);
  }
  return bytes;
}

}  // namespace

std::string Record(std::string_view bytes) {
  const std::string length = Bytes(static_cast<uint64_t>(bytes.size()));
  std::string record = length + Bytes(MaskedCrc(length));
  record += bytes;
  return record + Bytes(MaskedCrc(bytes));
}

Result<EventFile> EventFile::Create(const std::string& folder, bool replace) {
  TUTTI_RETURN_IF_ERROR(MakeFolder(folder));
  std::string path = folder + "/events.out.tfevents.tutti";
  TUTTI_ASSIGN_OR_RETURN(OutputFile output, OutputFile::Create(path, replace));
  EventFile file(std::move(path), std::move(output));
  std::string event;
  pbf_writer(event).add_string(kEventFileVersion, "brain.Event:2");
  file.WriteRecord(event);
  return file;
}

void EventFile::WriteRecord(std::string_view event) { output_.Write(Record(event)); }

void EventFile::Write(int64_t step, int64_t wall_ns, const std::vector<Scalar>& scalars) {
  if (scalars.empty()) return;
  std::string event;
  {
    pbf_writer writer(event);
    writer.add_double(kEventWallTime, static_cast<double>(wall_ns) / 1e9);
    writer.add_int64(kEventStep, step);
    pbf_writer summary(writer, kEventSummary);
    for (const Scalar& scalar : scalars) {
      pbf_writer value(summary, kSummaryValue);
      value.add_string(kValueTag, scalar.tag.data(), scalar.tag.size());
      value.add_float(kValueSimple, static_cast<float>(scalar.value));
    }
  }
  scalars_ += static_cast<int64_t>(scalars.size());
  WriteRecord(event);
}

}  // namespace tutti::exporter::tensorboard
