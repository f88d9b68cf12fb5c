// Outcomes of operations that can fail for reasons outside the program: a file,
// a peer, a full disk. Not for programmer errors (assert) and not for what can be
// worked around (a trace_stat row). A message is one plain line for the user:
// which file, where in it, what was found, what to do.
// Value types; safe to move between threads.
#pragma once

#include <cassert>
#include <optional>
#include <string>
#include <utility>
#include <variant>

namespace tutti {

enum class StatusCode {
  kOk,
  kUsage,        // the caller asked for something that can't be (exit 2)
  kBadData,      // a file or database that can't be read (exit 3)
  kNotFound,     // no such file, table or rank (exit 3)
  kIo,           // the system refused: permissions, full disk, … (exit 3)
  kUnavailable,  // a part that this machine lacks
};

class [[nodiscard]] Status {
 public:
  Status() = default;
  Status(StatusCode code, std::string message) : code_(code), message_(std::move(message)) {
    assert(code != StatusCode::kOk);
  }

  bool ok() const { return code_ == StatusCode::kOk; }
  StatusCode code() const { return code_; }
  const std::string& message() const { return message_; }

 private:
  StatusCode code_ = StatusCode::kOk;
  std::string message_;
};

inline Status OkStatus() { return {}; }
inline Status UsageError(std::string message) { return {StatusCode::kUsage, std::move(message)}; }
inline Status BadDataError(std::string message) {
  return {StatusCode::kBadData, std::move(message)};
}
inline Status NotFoundError(std::string message) {
  return {StatusCode::kNotFound, std::move(message)};
}
inline Status IoError(std::string message) { return {StatusCode::kIo, std::move(message)}; }
inline Status UnavailableError(std::string message) {
  return {StatusCode::kUnavailable, std::move(message)};
}

// A T or the reason why there is none. value() requires ok().
template <typename T>
class [[nodiscard]] Result {
 public:
  Result(T value) : state_(std::move(value)) {}        // NOLINT(google-explicit-constructor)
  Result(Status status) : state_(std::move(status)) {  // NOLINT(google-explicit-constructor)
    assert(!std::get<Status>(state_).ok());
  }

  bool ok() const { return std::holds_alternative<T>(state_); }
  Status status() const { return ok() ? OkStatus() : std::get<Status>(state_); }

  T& value() & { return std::get<T>(state_); }
  const T& value() const& { return std::get<T>(state_); }
  T&& value() && { return std::get<T>(std::move(state_)); }
  T& operator*() & { return value(); }
  const T& operator*() const& { return value(); }
  T&& operator*() && { return std::move(*this).value(); }
  T* operator->() { return &value(); }
  const T* operator->() const { return &value(); }

 private:
  std::variant<Status, T> state_;
};

}  // namespace tutti

// Returns the status of `expression` from the enclosing function if it is not ok.
#define TUTTI_RETURN_IF_ERROR(expression)                                                        \
  do {                                                                                           \
    if (::tutti::Status tutti_status_ = (expression); !tutti_status_.ok()) return tutti_status_; \
  } while (false)

#define TUTTI_CONCAT_INNER(a, b) a##b
#define TUTTI_CONCAT(a, b) TUTTI_CONCAT_INNER(a, b)
// Declares `lhs` as the value of a Result, or returns its status.
#define TUTTI_ASSIGN_OR_RETURN(lhs, expression) \
  TUTTI_ASSIGN_OR_RETURN_IMPL(TUTTI_CONCAT(tutti_result_, __LINE__), lhs, expression)
#define TUTTI_ASSIGN_OR_RETURN_IMPL(result, lhs, expression) \
  auto result = (expression);                                \
  if (!result.ok()) return result.status();                  \
  lhs = std::move(result).value()
