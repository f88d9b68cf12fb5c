// Tells a running recording what to record from now on (`tutti ctl`).
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

#include "common/status.h"

namespace tutti::collector {

// |wish|: "start", "stop" or "steps A:B". Hands it to every recorder of |run_path| that is seen to
// record, and waits up to |timeout_ns| until they have taken it; returns how many did. kUsage: no
// such wish; kBadData: nobody records there; kIo: one did not answer.
Result<int> ControlRecording(const std::string& run_path, std::string_view wish,
                             int64_t timeout_ns);

// Asks the recorders of |run_path| that keep a window (`tutti record --live`) to dump it; the
// directory of the dump, once all have begun. kBadData: none does.
Result<std::string> DumpWindow(const std::string& run_path, int64_t timeout_ns);

}  // namespace tutti::collector
