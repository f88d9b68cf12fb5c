#include "tracer/sources/cupti/testing/fake_options.h"

#include <cstdlib>
#include <sstream>

namespace tutti::fake_cupti {

Options ReadOptions() {
  Options options;
  const char* text = std::getenv("TUTTI_FAKE_CUPTI");
  std::stringstream list(text != nullptr ? text : "");
  for (std::string item; std::getline(list, item, ',');) {
    const size_t equals = item.find('=');
    const std::string name = item.substr(0, equals);
    const std::string value = equals == std::string::npos ? "1" : item.substr(equals + 1);
    const int number = std::atoi(value.c_str());
    if (name == "version") options.version = static_cast<uint32_t>(number);
    if (name == "subscribe") options.subscribe_result = number;
    if (name == "subscriber") options.subscriber = value;
    if (name == "enable") options.enable_result = number;
    if (name == "enable_kind") options.enable_kind = number;
    if (name == "hang") options.hangs_in_flush = true;
    if (name == "swap") options.swaps_buffers = true;
    if (name == "drop") options.drops_records = number;
  }
  return options;
}

}  // namespace tutti::fake_cupti
