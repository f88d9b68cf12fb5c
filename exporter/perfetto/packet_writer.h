// Packets of a Perfetto trace, written as they come, and the tracks that they name. One thread.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "common/output_file.h"

namespace tutti::exporter::perfetto {

// A track that has a name and a place below another. Uuids are given by PacketWriter.
struct TrackDescription {
  std::string name = {};
  uint64_t parent = 0;  // uuid, 0 none
  int64_t order = 0;    // place among its siblings
};

struct ProcessDescription {
  int64_t pid = 0;
  std::string name = {};
  std::string label = {};
  int64_t order = 0;
};

class PacketWriter {
 public:
  explicit PacketWriter(OutputFile& output) : output_(output) {}

  // One packet's bytes, without the trace's framing.
  void Write(std::string_view packet);

  uint32_t NewSequence() { return ++sequences_; }

  // Times are nanoseconds since the Unix epoch; viewers may show them as such.
  void SetWallClock(int64_t time_ns);

  // Each returns the new track's uuid.
  uint64_t AddTrack(const TrackDescription& track);
  uint64_t AddProcess(const ProcessDescription& process);
  uint64_t AddThread(int64_t pid, int64_t tid, const std::string& name);
  // |unit| as in the table `counter`.
  uint64_t AddCounter(const TrackDescription& track, std::string_view unit);

 private:
  // |special| is the message in field |field| that makes it a process, thread or counter.
  uint64_t WriteDescriptor(const TrackDescription& track, std::optional<uint32_t> field,
                           const std::string& special);

  OutputFile& output_;
  uint64_t tracks_ = 0;
  uint32_t sequences_ = 1;  // the first is the descriptors'
  bool has_descriptors_ = false;
};

}  // namespace tutti::exporter::perfetto
