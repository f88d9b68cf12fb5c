#include "collector/importers/kineto/trace_keys.h"

#include <simdjson.h>

#include <algorithm>
#include <utility>

#include "collector/importers/kineto/json_text.h"
#include "collector/importers/kineto/number.h"

namespace tutti::collector::importers::kineto {
namespace {

namespace dom = simdjson::dom;

constexpr size_t kDeepest = 64;

struct Version {
  std::string_view key;
  std::string_view name;
};
constexpr Version kVersions[] = {
    {"cupti_version", "CUPTI"},
    {"cuda_runtime_version", "CUDA runtime"},
    {"cuda_driver_version", "CUDA driver"},
    {"roctracer_version", "roctracer"},
    {"rocprofiler_version", "rocprofiler"},
    {"hip_runtime_version", "HIP runtime"},
    {"hip_driver_version", "HIP driver"},
    {"pytorch_version", "PyTorch"},
};

// Known and of no use here.
constexpr std::string_view kIgnored[] = {
    "displayTimeUnit", "traceName",    "trace_id",       "record_shapes", "with_stack",
    "with_flops",      "with_modules", "profile_memory", "traceEvents",
};

std::optional<int64_t> IntegerAt(dom::object object, std::string_view key) {
  dom::element element;
  if (object.at_key(key).get(element) != simdjson::SUCCESS) return std::nullopt;
  int64_t integer = 0;
  if (element.get(integer) == simdjson::SUCCESS) return integer;
  std::string_view text;
  if (element.get(text) == simdjson::SUCCESS) return ParseInteger(text);
  return std::nullopt;
}

std::string TextAt(dom::object object, std::string_view key) {
  dom::element element;
  if (object.at_key(key).get(element) != simdjson::SUCCESS) return {};
  std::string_view text;
  if (element.get(text) == simdjson::SUCCESS) return std::string(text);
  int64_t integer = 0;
  return element.get(integer) == simdjson::SUCCESS ? std::to_string(integer) : std::string();
}

// "[0, 1, 2]" of an array or of a text; "..." for members that are no numbers.
std::string RanksAt(dom::object object, std::string_view key) {
  dom::array array;
  if (object.at_key(key).get(array) != simdjson::SUCCESS) return TextAt(object, key);
  std::string ranks = "[";
  for (const dom::element element : array) {
    if (ranks.size() > 1) ranks += ", ";
    int64_t rank = 0;
    ranks += element.get(rank) == simdjson::SUCCESS ? std::to_string(rank) : "...";
  }
  return ranks + "]";
}

GroupFacts GroupOf(dom::object object) {
  GroupFacts facts;
  facts.name = TextAt(object, "pg_name");
  facts.description = TextAt(object, "pg_desc");
  facts.backend = TextAt(object, "backend_config");
  if (facts.backend.empty()) facts.backend = TextAt(object, "backend");
  facts.ranks = RanksAt(object, "ranks");
  facts.size = IntegerAt(object, "pg_size");
  return facts;
}

// The first of several spellings.
std::optional<int64_t> FirstOf(dom::object object, std::initializer_list<std::string_view> keys) {
  for (const std::string_view key : keys) {
    if (const auto integer = IntegerAt(object, key)) return integer;
  }
  return std::nullopt;
}

std::optional<schema::DeviceRow> DeviceOf(dom::object object) {
  const std::optional<int64_t> id = IntegerAt(object, "id");
  if (!id) return std::nullopt;
  schema::DeviceRow row;
  row.id = *id;
  row.name = TextAt(object, "name");
  row.sm_count = FirstOf(object, {"numSms", "multiProcessorCount"});
  row.memory_bytes = IntegerAt(object, "totalGlobalMem");
  const auto major = FirstOf(object, {"computeMajor", "major"});
  const auto minor = FirstOf(object, {"computeMinor", "minor"});
  if (major && minor) {
    row.compute_capability = std::to_string(*major) + "." + std::to_string(*minor);
  }
  row.warp_size = IntegerAt(object, "warpSize");
  row.max_threads_per_sm =
      FirstOf(object, {"maxThreadsPerMultiprocessor", "maxThreadsPerMultiProcessor"});
  row.registers_per_sm = FirstOf(object, {"regsPerMultiprocessor", "regsPerMultiProcessor"});
  row.shared_bytes_per_sm =
      FirstOf(object, {"sharedMemPerMultiprocessor", "sharedMemPerMultiProcessor",
                       "maxSharedMemoryPerMultiProcessor"});
  return row;
}

}  // namespace

struct TraceKeys::Parser {
  dom::parser parser;

  // The value is copied: the parser reads beyond its end.
  bool Parse(std::string_view value, dom::element& element) {
    return parser.allocate(value.size() + 1, kDeepest) == simdjson::SUCCESS &&
           parser.parse(value.data(), value.size()).get(element) == simdjson::SUCCESS;
  }
};

TraceKeys::TraceKeys(Context& context, DeviceRows& devices, CollectiveRows& collectives)
    : context_(context),
      devices_(devices),
      collectives_(collectives),
      parser_(std::make_unique<Parser>()) {}
TraceKeys::~TraceKeys() = default;

void TraceKeys::OnKey(std::string_view key, std::string_view value, int64_t offset) {
  if (key == "schemaVersion") {
    is_kineto_ = true;
    format_version_ = DecodeString(value);
  } else if (key == "baseTimeNanoseconds") {
    is_kineto_ = true;
    base_time_ns_ = ParseInteger(value);
    if (!base_time_ns_) context_.ledger.Count(odd::kBadKey, offset, {}, 1, key);
  } else if (key == "distributedInfo") {
    ReadDistributedInfo(value, offset);
  } else if (key == "deviceProperties" || key == "computeProperties") {
    is_kineto_ = true;
    ReadDevices(value, offset);
  } else if (key == "metadata" && value.find("\"DevTools\"") != std::string_view::npos) {
    is_of_browser_ = true;
  } else if (key == "host_name" || key == "hostname") {
    context_.sink.identity.host = DecodeString(value);
  } else if (const auto version = std::find_if(std::begin(kVersions), std::end(kVersions),
                                               [key](const Version& v) { return v.key == key; });
             version != std::end(kVersions)) {
    is_kineto_ = true;
    versions_.push_back(std::string(version->name) + " " + DecodeString(value));
    if (key == "pytorch_version") context_.sink.identity.torch_version = DecodeString(value);
  } else if (std::find(std::begin(kIgnored), std::end(kIgnored), key) == std::end(kIgnored)) {
    context_.ledger.Count(odd::kUnknownKey, offset, {}, 1, key);
  }
}

void TraceKeys::ReadDistributedInfo(std::string_view value, int64_t offset) {
  dom::element element;
  dom::object info;
  if (!parser_->Parse(value, element) || element.get(info) != simdjson::SUCCESS) {
    context_.ledger.Count(odd::kBadKey, offset, {}, 1, "distributedInfo");
    return;
  }
  TraceIdentity& identity = context_.sink.identity;
  if (const auto rank = IntegerAt(info, "rank"); rank && *rank >= 0) {
    identity.rank = rank;
    identity.rank_source = "distributedInfo";
  }
  if (const auto size = IntegerAt(info, "world_size"); size && *size > 0)
    identity.world_size = size;
  collectives_.groups().SetDefaultBackend(TextAt(info, "backend"));
  dom::array groups;
  if (info.at_key("pg_config").get(groups) != simdjson::SUCCESS) return;
  for (const dom::element group : groups) {
    dom::object facts;
    if (group.get(facts) == simdjson::SUCCESS) collectives_.groups().Add(GroupOf(facts));
  }
}

void TraceKeys::ReadDevices(std::string_view value, int64_t offset) {
  dom::element element;
  dom::array devices;
  if (!parser_->Parse(value, element) || element.get(devices) != simdjson::SUCCESS) {
    context_.ledger.Count(odd::kBadKey, offset, {}, 1, "deviceProperties");
    return;
  }
  for (const dom::element device : devices) {
    dom::object facts;
    if (device.get(facts) != simdjson::SUCCESS) continue;
    if (auto row = DeviceOf(facts)) devices_.AddDevice(std::move(*row));
  }
}

std::string TraceKeys::Producer() const {
  std::string producer = is_kineto_ ? "PyTorch Kineto" : "";
  for (const std::string& version : versions_) {
    producer += (producer.empty() ? "" : "; ") + version;
  }
  return producer;
}

}  // namespace tutti::collector::importers::kineto
