#include "tests/gpu/truth.h"

#include <cstdlib>

namespace tutti::gpu {
namespace {

// Names here are ours: none has a quote or a backslash in it.
std::string Quoted(const std::string& text) { return '"' + text + '"'; }

void Add(std::string& object, const std::string& name, const std::string& value) {
  if (object.back() != '{') object += ',';
  object += Quoted(name) + ':' + value;
}

void Add(std::string& object, const std::string& name, const std::optional<int64_t>& value) {
  if (value) Add(object, name, std::to_string(*value));
}

std::string ToJson(const Expectation& expectation) {
  std::string where = "{";
  for (const auto& [column, value] : expectation.texts) Add(where, column, Quoted(value));
  for (const auto& [column, value] : expectation.numbers) Add(where, column, std::to_string(value));
  std::string object = "{";
  Add(object, "what", Quoted(expectation.what));
  Add(object, "table", Quoted(expectation.table));
  Add(object, "where", where + "}");
  Add(object, "count", std::to_string(expectation.count));
  Add(object, "bytes", expectation.bytes);
  Add(object, "least_ns", expectation.least_ns);
  Add(object, "most_ns", expectation.most_ns);
  return object + "}";
}

}  // namespace

void Truth::ExpectCalls(const std::string& function, int64_t count, int64_t result) {
  Expectation calls{.what = "calls of " + function, .table = "api_call"};
  calls.texts = {{"name", function}, {"api", "runtime"}};
  calls.numbers = {{"return_value", result}};
  calls.count = count;
  Expect(std::move(calls));
}

std::string Truth::Json() const {
  const char* rank = std::getenv("RANK");
  std::string list;
  for (const Expectation& expectation : expectations_) {
    list += (list.empty() ? "" : ",") + ToJson(expectation);
  }
  return "{\"program\":" + Quoted(program_) + ",\"rank\":" + (rank != nullptr ? rank : "0") +
         ",\"expect\":[" + list + "]}";
}

}  // namespace tutti::gpu
