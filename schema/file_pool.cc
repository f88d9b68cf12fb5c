#include "schema/file_pool.h"

#include <utility>

#include "schema/trace_file.h"

namespace tutti::schema {
namespace {

constexpr ReadOptions kNoFullCheck{.quick_check = false};  // damage is found when it is read
constexpr std::string_view kPart = ".part";

Result<Database> OpenIdentified(const std::string& path) {
  Result<Database> database = Database::OpenReadOnly(path, kNoFullCheck);
  if (database.status().code() == StatusCode::kNotFound && path.ends_with(kPart)) {
    database = Database::OpenReadOnly(path.substr(0, path.size() - kPart.size()), kNoFullCheck);
  }
  if (!database.ok()) return database.status();
  TUTTI_RETURN_IF_ERROR(CheckIdentity(*database));
  return database;
}

}  // namespace

Result<Statement> PooledFile::Take(const std::string& sql) {
  const auto found = idle_.find(sql);
  if (found == idle_.end() || found->second.empty()) return database_.Prepare(sql);
  Statement statement = std::move(found->second.back());
  found->second.pop_back();
  return statement;
}

void PooledFile::GiveBack(const std::string& sql, Statement statement) {
  statement.Reset();
  idle_[sql].push_back(std::move(statement));
}

Status PooledFile::Check(const std::vector<const CatalogTable*>& tables) {
  for (const CatalogTable* table : tables) {
    if (checked_.contains(table)) continue;
    TUTTI_RETURN_IF_ERROR(CheckTable(database_, *table));
    checked_.insert(table);
  }
  return OkStatus();
}

Result<PooledFile*> FilePool::Acquire(const std::string& path) {
  std::unique_ptr<PooledFile>& file = files_[path];
  if (file == nullptr) {
    Result<Database> database = OpenIdentified(path);
    if (!database.ok()) {
      files_.erase(path);
      return database.status();
    }
    file = std::make_unique<PooledFile>(std::move(database).value());
  }
  ++file->users_;
  file->last_use_ = ++clock_;
  PooledFile* result = file.get();
  if (files_.size() > capacity_) CloseLeastRecent();
  return result;
}

void FilePool::Release(PooledFile* file) {
  --file->users_;
  if (files_.size() > capacity_) CloseLeastRecent();
}

void FilePool::CloseLeastRecent() {
  auto oldest = files_.end();
  for (auto it = files_.begin(); it != files_.end(); ++it) {
    if (it->second->users_ > 0) continue;
    if (oldest == files_.end() || it->second->last_use_ < oldest->second->last_use_) oldest = it;
  }
  if (oldest != files_.end()) files_.erase(oldest);
}

}  // namespace tutti::schema
