// One dump of `tutti record --live`: the files that the spools of a running recording consist of at
// this moment, made into a run of their own while the job goes on. They are linked, not copied, so
// that the recording may drop them meanwhile; from then on the dump is a recording like any other,
// which a killed drainer leaves to be salvaged. One thread; the conversion has its own.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "collector/drain/conversion_worker.h"
#include "collector/drain/drainer.h"
#include "collector/os/file_descriptor.h"
#include "common/status.h"

namespace tutti::collector::drain {

// A spool as it is at the moment, none of whose files is written any more.
struct DumpedSpool {
  uint32_t index = 0;
  std::string name = {};  // "p0003.spool"
  std::vector<std::string> files = {};
};

// What became of one.
struct DumpOutcome {
  Status status;  // not ok: there is none
  std::string path;
  int32_t ranks = 0;
  int64_t events = 0;
};

class Dump {
 public:
  // |path|: of the run to make, whose directory may be there, empty or with other recorders' part
  // of the same dump. |reason|: for people. |first_step|: no step before it is kept.
  static Result<std::unique_ptr<Dump>> Begin(const DrainerSettings& recording,
                                             const std::string& path, const std::string& reason,
                                             const std::vector<DumpedSpool>& spools,
                                             int64_t first_step);

  // Absent while it is being converted.
  std::optional<DumpOutcome> Poll();

 private:
  Dump(const DrainerSettings& recording, const std::string& path, int64_t first_step);
  Status LinkFiles(const DrainerSettings& recording, const std::vector<DumpedSpool>& spools);
  Status Convert(const std::vector<DumpedSpool>& spools);
  void OnResult(const ConversionResult& result);
  DumpOutcome Close();
  void Remove();

  std::string manifest_name_;
  std::string spool_path_;
  os::FileDescriptor lock_;
  DumpOutcome outcome_;
  size_t converting_ = 0;
  ConversionWorker worker_;
};

}  // namespace tutti::collector::drain
