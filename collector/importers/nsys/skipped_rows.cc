#include "collector/importers/nsys/skipped_rows.h"

namespace tutti::collector::importers::nsys {

SkipText TextOf(SkipReason reason) {
  switch (reason) {
    case SkipReason::kMissingValue:
      return {"row_incomplete", "data_loss", "rows without a value that they need", true};
    case SkipReason::kEndBeforeStart:
      return {"negative_duration", "data_loss", "rows that end before they start", true};
    case SkipReason::kTimeOutOfRange:
      return {"time_out_of_range", "data_loss", "rows with times past 64 bits", true};
    case SkipReason::kNegativeSize:
      return {"negative_size", "data_loss", "rows with a size below 0", true};
    case SkipReason::kNotARank:
      return {"not_a_rank", "info", "rows of processes that are no ranks", true};
    case SkipReason::kUnknownType:
      return {"unknown_event", "notice", "rows of a kind that this build doesn't know", true};
    case SkipReason::kOddValue:
      return {"odd_value", "notice", "rows with a value of a wrong type, left empty", false};
    case SkipReason::kNotMain:
      return {"os_call_not_kept", "info",
              "calls on threads that neither called CUDA nor marked a range", true};
  }
  return {"unknown_event", "notice", "rows", true};
}

}  // namespace tutti::collector::importers::nsys
