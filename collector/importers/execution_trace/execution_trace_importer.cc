#include "collector/importers/execution_trace/execution_trace_importer.h"

#include <algorithm>
#include <cstdint>
#include <optional>

namespace tutti::collector::importers {
namespace {

constexpr char kFirstField = 0x0a;   // field 1, length-delimited
constexpr char kSecondField = 0x12;  // field 2, the same

std::optional<uint64_t> TakeVarint(std::string_view& bytes) {
  uint64_t value = 0;
  for (unsigned shift = 0; shift < 64 && !bytes.empty(); shift += 7) {
    const auto byte = static_cast<uint8_t>(bytes.front());
    bytes.remove_prefix(1);
    value |= static_cast<uint64_t>(byte & 0x7f) << shift;
    if ((byte & 0x80) == 0) return value;
  }
  return std::nullopt;
}

// A length-delimited field with this tag at the start; its contents as far as they are there.
std::optional<std::string_view> TakeField(std::string_view& bytes, char tag) {
  if (bytes.empty() || bytes.front() != tag) return std::nullopt;
  bytes.remove_prefix(1);
  const std::optional<uint64_t> size = TakeVarint(bytes);
  if (!size) return std::nullopt;
  const std::string_view contents = bytes.substr(0, *size);
  bytes.remove_prefix(contents.size());
  return contents;
}

bool IsVersion(std::string_view text) {
  return text.size() >= 3 && text.size() <= 32 && text.front() >= '0' && text.front() <= '9' &&
         text.find('.') != std::string_view::npos &&
         std::all_of(text.begin(), text.end(), [](char c) { return c > ' ' && c < 0x7f; });
}

class ExecutionTrace : public Importer {
 public:
  std::string_view format() const override { return "execution_trace"; }

  bool Recognizes(const InputFile& file) const override {
    return IsChakraProtobuf(file.plain_head) || IsExecutionTraceJson(file.plain_head);
  }

  Status Import(const InputFile& file, ImportTarget& /*target*/) const override {
    return BadDataError(file.name +
                        ": an execution trace (Chakra); tutti does not read these: give it the "
                        "PyTorch profiler's JSON of the same run");
  }
};

}  // namespace

bool IsChakraProtobuf(std::string_view head) {
  const std::optional<uint64_t> size = TakeVarint(head);
  if (!size || *size < 4) return false;
  std::string_view message = head.substr(0, *size);
  if (const auto version = TakeField(message, kFirstField)) return IsVersion(*version);
  auto attribute = TakeField(message, kSecondField);
  const auto name = attribute ? TakeField(*attribute, kFirstField) : std::nullopt;
  return name == "schema";
}

bool IsExecutionTraceJson(std::string_view head) {
  const size_t first = head.find_first_not_of(" \t\r\n");
  if (first == std::string_view::npos || head[first] != '{') return false;
  const auto has = [&](std::string_view key) { return head.find(key) != std::string_view::npos; };
  return has("\"schema\"") && has("\"nodes\"") && !has("\"traceEvents\"") &&
         (has("\"ctrl_deps\"") || has("\"rf_id\"") || has("\"fw_parent\""));
}

const Importer& ExecutionTraceImporter() {
  static const ExecutionTrace importer;
  return importer;
}

}  // namespace tutti::collector::importers
