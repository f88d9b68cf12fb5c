// A file being written: to a temporary name, renamed when it is complete, mode 0600, and
// never over an existing file unless told so. Buffered. Not thread-safe.
#pragma once

#include <string>
#include <string_view>

#include "common/status.h"

namespace tutti {

class OutputFile {
 public:
  // kIo if `path` exists and may not be replaced, or can't be made.
  static Result<OutputFile> Create(const std::string& path, bool replace);
  // Without Finish nothing is left.
  ~OutputFile();
  OutputFile(OutputFile&& other) noexcept;
  OutputFile& operator=(OutputFile&&) = delete;

  // Failures are remembered until Finish.
  void Write(std::string_view bytes);
  Status Finish();

 private:
  OutputFile(std::string path, int descriptor) : path_(std::move(path)), descriptor_(descriptor) {}
  void Flush();
  std::string PartPath() const { return path_ + ".part"; }

  std::string path_;
  int descriptor_ = -1;  // < 0: finished, or moved from
  std::string buffer_;
  Status status_;
};

// Makes a folder, and those above it, for files of mode 0600.
Status MakeFolder(const std::string& path);

}  // namespace tutti
