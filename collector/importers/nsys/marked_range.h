// An NVTX event of one rank as the parts that find meaning in it see it.
#pragma once

#include <cstdint>
#include <nlohmann/json_fwd.hpp>
#include <optional>
#include <string>
#include <string_view>

namespace tutti::collector::importers::nsys {

struct MarkedRange {
  int64_t global_tid = 0;
  int64_t tid = 0;  // the value for tid columns
  std::string_view name;
  int64_t category = 0;
  int64_t begin_ns = 0;
  std::optional<int64_t> end_ns = {};  // empty: still open when the capture ended
  int64_t depth = 0;
  std::optional<int64_t> integer = {};  // payload, where it is one
  std::optional<double> real = {};
  const nlohmann::ordered_json* payload = nullptr;  // extended payload, null none
};

}  // namespace tutti::collector::importers::nsys
