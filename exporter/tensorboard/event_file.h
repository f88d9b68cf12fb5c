// A TensorBoard event file: TFRecords (tensorflow/core/lib/io/record_writer.h: length, masked
// CRC-32C of it, bytes, masked CRC-32C of these), each a tensorflow.Event
// (tensorboard/compat/proto/event.proto). One thread.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "common/output_file.h"
#include "common/status.h"

namespace tutti::exporter::tensorboard {

struct Scalar {
  std::string_view tag;
  double value = 0;  // the format holds 32-bit floats
};

class EventFile {
 public:
  // In |folder|, which is made; always under the same name, so that an export that replaces
  // another leaves nothing of it.
  static Result<EventFile> Create(const std::string& folder, bool replace);

  void Write(int64_t step, int64_t wall_ns, const std::vector<Scalar>& scalars);
  Status Finish() { return output_.Finish(); }

  const std::string& path() const { return path_; }
  int64_t scalars() const { return scalars_; }

 private:
  EventFile(std::string path, OutputFile output)
      : path_(std::move(path)), output_(std::move(output)) {}
  void WriteRecord(std::string_view event);

  std::string path_;
  OutputFile output_;
  int64_t scalars_ = 0;
};

// The frame of one record around |bytes|.
std::string Record(std::string_view bytes);

}  // namespace tutti::exporter::tensorboard
