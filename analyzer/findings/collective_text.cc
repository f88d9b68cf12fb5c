#include "analyzer/findings/collective_text.h"

namespace tutti::analyzer {

Result<std::string> CollectiveName(RunContext& context, const schema::CollectiveRow& row) {
  std::string name = row.op;
  if (row.sequence) name += " #" + std::to_string(*row.sequence);
  if (!row.communicator_id) return name;
  TUTTI_ASSIGN_OR_RETURN(const auto rows, context.Read<schema::RunCommunicatorRow>(
                                              "WHERE id = ?1", *row.communicator_id));
  if (rows.empty()) return name;
  const schema::RunCommunicatorRow& group = rows.front();
  name += " of " + group.backend;
  if (group.description) {
    name += " group " + *group.description;
    TUTTI_ASSIGN_OR_RETURN(const auto namesakes, context.Read<schema::RunCommunicatorRow>(
                                                     "WHERE description = ?1", *group.description));
    if (namesakes.size() > 1 && group.uid) name += " (" + *group.uid + ")";
  } else if (group.uid) {
    name += " group " + *group.uid;
  }
  return name;
}

}  // namespace tutti::analyzer
