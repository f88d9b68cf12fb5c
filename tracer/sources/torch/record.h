// A RecordFunction as the callbacks see it. Reads fields by layout.h, owns nothing; valid
// while the RecordFunction is (inputs only in a start callback).
#pragma once

#include <cstdint>
#include <string_view>

#include "tracer/sources/torch/layout.h"

namespace tutti::tracer::torch {

class Record {
 public:
  explicit Record(const void* record_function) noexcept : object_(record_function) {}

  // How spans and tables name it. Unique among the RecordFunctions that are alive.
  uint64_t identity() const noexcept { return reinterpret_cast<uintptr_t>(object_); }
  const void* address() const noexcept { return object_; }

  // True: the name is that of an operator's schema, which stays where it is for as long as
  // the operator is registered. False: the name dies with the RecordFunction.
  bool HasSchema() const noexcept { return Load<uint8_t>(record_function::kNameIsSchema) == 1; }

  // The operator's or range's name; zero-terminated behind its end.
  std::string_view Name() const noexcept {
    return HasSchema() ? SchemaName()
                       : StringAt(static_cast<const char*>(object_) + record_function::kName);
  }
  // The same where HasSchema().
  std::string_view SchemaName() const noexcept {
    return StringAt(Load<const char*>(record_function::kName) + function_schema::kName);
  }

  uint8_t ScopeNumber() const noexcept { return Load<uint8_t>(record_function::kScope); }
  bool IsAsync() const noexcept { return Load<uint8_t>(record_function::kIsAsync) != 0; }
  int64_t SequenceNr() const noexcept { return Load<int64_t>(record_function::kSequenceNr); }
  uint64_t ThreadId() const noexcept { return Load<uint64_t>(record_function::kThreadId); }
  uint64_t ForwardThreadId() const noexcept {
    return Load<uint64_t>(record_function::kForwardThreadId);
  }

  // An array of IValues of ivalue::kBytes each; empty unless a callback of its scope asks
  // for inputs.
  const char* Inputs() const noexcept { return Load<const char*>(record_function::kInputs); }
  uint64_t InputCount() const noexcept { return Load<uint64_t>(record_function::kInputCount); }

 private:
  static std::string_view StringAt(const char* text) noexcept {
    return {LoadField<const char*>(text, std_string::kData),
            LoadField<uint64_t>(text, std_string::kLength)};
  }

  template <typename T>
  T Load(size_t offset) const noexcept {
    return LoadField<T>(object_, offset);
  }

  const void* object_;
};

}  // namespace tutti::tracer::torch
