// Trace files of a run kept open between uses, at most so many at a time: a run can have
// more ranks than a process may have open files. For the schema folder only.
// Not thread-safe.
#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <memory>
#include <set>
#include <string>
#include <unordered_map>
#include <vector>

#include "common/status.h"
#include "schema/catalog.h"
#include "schema/database.h"

namespace tutti::schema {

// One open file with the statements that were prepared on it before.
class PooledFile {
 public:
  explicit PooledFile(Database database) : database_(std::move(database)) {}

  // A statement for `sql`, ready to be bound; an unused one of earlier, if there is one.
  Result<Statement> Take(const std::string& sql);
  void GiveBack(const std::string& sql, Statement statement);
  // CheckTable for each, once per table.
  Status Check(const std::vector<const CatalogTable*>& tables);

 private:
  friend class FilePool;
  Database database_;
  std::unordered_map<std::string, std::vector<Statement>> idle_;
  std::set<const CatalogTable*> checked_;
  int users_ = 0;
  uint64_t last_use_ = 0;
};

class FilePool {
 public:
  // Keeps at most `capacity` files open that nobody uses; those in use come on top.
  explicit FilePool(size_t capacity) : capacity_(capacity) {}

  // Opens the file or shares it. Every Acquire needs its Release. A `.part` file that was
  // finished meanwhile is found under its final name.
  Result<PooledFile*> Acquire(const std::string& path);
  void Release(PooledFile* file);

  size_t open_files() const { return files_.size(); }

 private:
  void CloseLeastRecent();

  size_t capacity_;
  uint64_t clock_ = 0;
  std::map<std::string, std::unique_ptr<PooledFile>> files_;
};

}  // namespace tutti::schema
