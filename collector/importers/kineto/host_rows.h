// Events on threads -> cpu_op, python_call, api_call, range, overhead, and the conventions
// of names (step, phase, data_wait) beside them. One thread.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "collector/importers/kineto/context.h"

namespace tutti::collector::importers::kineto {

// A range, however it was written.
struct RangeSpan {
  size_t track = 0;
  std::optional<size_t> end_track;  // where it ended, if on another
  const char* kind = "push_pop";
  int64_t domain_id = 0;
  std::string_view name;  // token
  HostTimes times;
  std::optional<int64_t> depth = {};  // where it is known already
};

class HostRows {
 public:
  explicit HostRows(Context& context) : context_(context) {}

  void OnOp(const RawEvent& event);
  void OnAnnotation(const RawEvent& event);
  void OnPythonCall(const RawEvent& event);
  // `api` as in api_call.api.
  void OnApiCall(const RawEvent& event, const char* api);
  void OnOverhead(const RawEvent& event);
  // A complete event of another category, kept as a range of that domain.
  void OnOther(const RawEvent& event, int64_t domain_id);
  void OnMark(const RawEvent& event, int64_t domain_id);

  void AddRange(const RangeSpan& span);

 private:
  void AddMeaning(const Name& name, std::string_view token, Track& track, const HostTimes& times);
  int64_t ScopeOf(const RawEvent& event, const Name& name) const;
  int64_t ShapesOf(const RawEvent& event);

  Context& context_;
};

}  // namespace tutti::collector::importers::kineto
