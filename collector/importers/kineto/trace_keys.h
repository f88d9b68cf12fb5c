// The keys beside the events: base time, who the rank is, its devices and process groups,
// and what wrote the trace. One thread.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "collector/importers/kineto/collective_rows.h"
#include "collector/importers/kineto/context.h"
#include "collector/importers/kineto/device_rows.h"

namespace tutti::collector::importers::kineto {

class TraceKeys {
 public:
  TraceKeys(Context& context, DeviceRows& devices, CollectiveRows& collectives);
  ~TraceKeys();

  void OnKey(std::string_view key, std::string_view value, int64_t offset);

  std::optional<int64_t> base_time_ns() const { return base_time_ns_; }
  // Chrome's DevTools say so.
  bool is_of_browser() const { return is_of_browser_; }
  std::optional<std::string> format_version() const { return format_version_; }
  // "PyTorch Kineto; CUPTI 28; …"; empty if nothing tells.
  std::string Producer() const;

 private:
  struct Parser;

  void ReadDistributedInfo(std::string_view value, int64_t offset);
  void ReadDevices(std::string_view value, int64_t offset);

  Context& context_;
  DeviceRows& devices_;
  CollectiveRows& collectives_;
  std::unique_ptr<Parser> parser_;
  std::optional<int64_t> base_time_ns_;
  std::optional<std::string> format_version_;
  bool is_kineto_ = false;
  bool is_of_browser_ = false;
  std::vector<std::string> versions_;
};

}  // namespace tutti::collector::importers::kineto
