#include "exporter/text_table.h"

#include <utility>

namespace tutti::exporter {

Result<TextTable> TextTable::Open(schema::Database& database) {
  TUTTI_ASSIGN_OR_RETURN(schema::Statement lookup,
                         database.Prepare("SELECT text FROM string WHERE id = ?1"));
  return TextTable(std::move(lookup));
}

Result<const std::string*> TextTable::Find(int64_t id) {
  const auto known = texts_.find(id);
  if (known != texts_.end()) return &known->second;
  lookup_.Reset();
  TUTTI_RETURN_IF_ERROR(lookup_.Bind(1, id));
  TUTTI_ASSIGN_OR_RETURN(const bool found, lookup_.Step());
  std::string text;
  if (found) {
    TUTTI_ASSIGN_OR_RETURN(text, lookup_.Get<std::string>(0));
  }
  lookup_.Reset();
  return &texts_.emplace(id, std::move(text)).first->second;
}

}  // namespace tutti::exporter
