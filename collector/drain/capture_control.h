// What `tutti ctl` asks of a running recording: a file in its spool directory, which the drainer
// looks for, obeys and puts away; an answer is that it is gone. A drainer that takes over from a
// killed one goes on as that was told. One thread.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "collector/convert/spool_scan.h"
#include "common/status.h"

namespace tutti::collector::drain {

// Names in the spool directory: what is asked for, and what was asked for last.
inline constexpr char kControlFile[] = "control";
inline constexpr char kControlledFile[] = "controlled";

struct CaptureWish {
  enum class Kind { kStart, kStop, kSteps };
  Kind kind = Kind::kStart;
  convert::StepRange steps = {};  // kSteps: recorded in whole, and up to one step around
};

// "start", "stop" or "steps A:B".
std::string ToText(const CaptureWish& wish);
std::optional<CaptureWish> ParseWish(std::string_view text);

// The sources that a process whose recording is of |full| (wire::CaptureBit) shall record while
// its step |step| runs; absent: none was seen yet. Outside a window of steps it is the program's
// ranges alone, which tell the steps.
uint32_t MaskFor(const CaptureWish& wish, uint32_t full, std::optional<int64_t> step);

class CaptureControl {
 public:
  explicit CaptureControl(std::string spool_path);

  // Looks for a new wish; true if there was one.
  bool Look();

  const CaptureWish& wish() const { return wish_; }
  bool watches_steps() const { return wish_.kind == CaptureWish::Kind::kSteps; }

 private:
  std::string spool_path_;
  CaptureWish wish_;
};

}  // namespace tutti::collector::drain
