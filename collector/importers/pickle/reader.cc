#include "collector/importers/pickle/reader.h"

#include <utility>

#include "collector/importers/pickle/machine.h"
#include "collector/importers/pickle/opcodes.h"

namespace tutti::collector::importers::pickle {

Result<Document> Read(std::string_view bytes) {
  if (bytes.empty()) return BadDataError("the file is empty");
  Document document;
  std::string refusal;
  {
    Machine machine(bytes, document);
    machine.Run();
    refusal = machine.refusal();
  }
  if (!refusal.empty()) return BadDataError(std::move(refusal));
  const bool has_nothing = document.root.Items().empty() && document.root.Entries().empty();
  if (!document.problem.ok() && has_nothing) return document.problem;
  return document;
}

bool LooksLikePickle(std::string_view head) {
  if (head.size() < 2) return false;
  const auto first = static_cast<uint8_t>(head[0]);
  if (first == kProto) return head[1] >= 2 && head[1] <= 5;
  // Protocols 0 and 1 begin with what they build: "(dp0\n", "(lp0\n", "}q\0", "]q\0".
  if (first == kMark) return head[1] == kDict || head[1] == kList;
  return (first == kEmptyDict || first == kEmptyList) && (head[1] == kBinPut || head[1] == kMark);
}

}  // namespace tutti::collector::importers::pickle
