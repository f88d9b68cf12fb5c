// What collectives move, as arguments of the operators and kernels that they are (the names
// are those of torch's ParamCommsDebugInfo). One thread.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <tuple>
#include <unordered_map>

#include "common/status.h"
#include "exporter/chrome/event_text.h"
#include "exporter/text_table.h"
#include "schema/database.h"
#include "schema/rows.h"

namespace tutti::exporter::chrome {

class CollectiveArgs {
 public:
  static Result<CollectiveArgs> Read(schema::Database& trace, TextTable& texts);

  // Adds the arguments of the collective that is this event, if there is one; each is
  // added once.
  void AddToHost(EventText& event, int64_t tid, int64_t begin_ns, std::optional<int64_t> end_ns);
  void AddToKernel(EventText& event, const schema::KernelRow& kernel);

  // Collectives that were added to no event so far.
  int64_t unplaced() const {
    return static_cast<int64_t>(host_.size() + kernels_.size()) + without_event_;
  }

 private:
  struct Collective {
    schema::CollectiveSourceRow row;
    std::string op;
    std::string dtype;
  };
  using HostKey = std::tuple<int64_t, int64_t, int64_t>;  // tid, begin, end
  using KernelKey = std::pair<int64_t, int64_t>;          // device, correlation

  void Add(EventText& event, const Collective& collective) const;
  void AddElements(EventText& event, const Collective& collective,
                   const schema::CommunicatorRow* group) const;

  std::map<HostKey, Collective> host_;
  std::map<KernelKey, Collective> kernels_;
  std::unordered_map<int64_t, schema::CommunicatorRow> groups_;
  int64_t without_event_ = 0;
};

// Bytes of an element, by the name of collective_source.dtype_id; 0 unknown.
int64_t ElementBytes(std::string_view dtype);

}  // namespace tutti::exporter::chrome
