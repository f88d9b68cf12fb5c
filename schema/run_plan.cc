#include "schema/run_plan.h"

#include <sqlite3.h>

#include <algorithm>
#include <charconv>
#include <sstream>

namespace tutti::schema {
namespace {

constexpr const CatalogColumn* kNoColumn = nullptr;

std::string_view OperatorOf(int constraint) {
  switch (constraint) {
    case SQLITE_INDEX_CONSTRAINT_EQ:
      return "=";
    case SQLITE_INDEX_CONSTRAINT_LT:
      return "<";
    case SQLITE_INDEX_CONSTRAINT_LE:
      return "<=";
    case SQLITE_INDEX_CONSTRAINT_GT:
      return ">";
    case SQLITE_INDEX_CONSTRAINT_GE:
      return ">=";
    case SQLITE_INDEX_CONSTRAINT_NE:
      return "<>";
    default:
      return "";
  }
}

// A comparison that the files can make as well as SQLite would here. Not one under
// another collation, nor of the rowid, which these tables don't have.
bool CanHandDown(sqlite3_index_info* info, int i) {
  const auto& constraint = info->aConstraint[i];
  if (!constraint.usable || constraint.iColumn < 0) return false;
  if (OperatorOf(constraint.op).empty()) return false;
  return std::string_view(sqlite3_vtab_collation(info, i)) == "BINARY";
}

bool HasEquality(const RunPlan& plan, int column) {
  return std::any_of(plan.terms.begin(), plan.terms.end(),
                     [&](const RunTerm& term) { return term.column == column && term.op == "="; });
}

// Is the order asked for that of the files (rank, attempt) and of the key within one?
bool ComesOrdered(const RunColumns& columns, const RunPlan& plan, bool one_attempt,
                  const sqlite3_index_info& info) {
  std::vector<int> order = {columns.key};
  if (columns.per_rank) order = {RunColumns::kRank, RunColumns::kAttempt, columns.key};
  size_t next = 0;
  for (int i = 0; i < info.nOrderBy; ++i) {
    const auto& wanted = info.aOrderBy[i];
    if (HasEquality(plan, wanted.iColumn)) continue;
    const auto is_constant = [&](int column) {
      return HasEquality(plan, column) ||
             (columns.per_rank && column == RunColumns::kAttempt && one_attempt);
    };
    while (next < order.size() && order[next] != wanted.iColumn && is_constant(order[next])) ++next;
    if (next == order.size() || order[next] != wanted.iColumn || wanted.desc) return false;
    ++next;
  }
  return true;
}

void Estimate(const RunColumns& columns, const RunPlan& plan, int64_t files, int64_t rows,
              sqlite3_index_info* info) {
  if (columns.per_rank && HasEquality(plan, RunColumns::kRank)) files = 1;
  double read = static_cast<double>(rows);
  double returned = read;
  for (const RunTerm& term : plan.terms) {
    if (columns.column(term.column) == kNoColumn) continue;
    returned /= term.op == "=" ? 10 : 3;
    if (term.op == "=" && term.column == columns.key) read = returned = 1;
  }
  info->estimatedRows =
      std::max<sqlite3_int64>(1, static_cast<sqlite3_int64>(returned * static_cast<double>(files)));
  info->estimatedCost = static_cast<double>(files) * (10 + read);
}

std::string Quoted(const std::string& name) { return "\"" + name + "\""; }

}  // namespace

RunColumns::RunColumns(const CatalogTable& source, bool is_per_rank)
    : table(source), per_rank(is_per_rank) {
  if (per_rank) columns = {kNoColumn, kNoColumn};
  int keys = 0;
  for (const CatalogColumn& column : source.columns) {
    if (per_rank && (column.name == "rank" || column.name == "attempt")) continue;
    // A view shows the key of its first table as `id`.
    const bool is_key = column.primary_key || (source.is_view && column.name == "id");
    if (is_key && ++keys == 1) key = static_cast<int>(columns.size());
    columns.push_back(&column);
  }
  if (keys != 1) key = -1;
}

std::string RunColumns::Declaration() const {
  std::string sql = per_rank ? "CREATE TABLE x (rank INTEGER, attempt INTEGER" : "CREATE TABLE x (";
  for (const CatalogColumn* column : columns) {
    if (column == kNoColumn) continue;
    if (sql.back() != '(') sql += ", ";
    sql += Quoted(column->name) + " " + (column->type == "ANY" ? "" : column->type);
  }
  return sql + ")";
}

std::string RunPlan::ToText() const {
  std::string text = std::to_string(used) + " " + (by_key ? "1" : "0");
  for (const RunTerm& term : terms) text += " " + std::to_string(term.column) + " " + term.op;
  return text;
}

RunPlan RunPlan::FromText(std::string_view text) {
  std::istringstream stream{std::string(text)};
  RunPlan plan;
  stream >> plan.used >> plan.by_key;
  for (RunTerm term{}; stream >> term.column >> term.op;) plan.terms.push_back(term);
  return plan;
}

std::string RunPlan::Sql(const RunColumns& columns) const {
  std::string list;
  for (int number = 0; number < static_cast<int>(columns.columns.size()); ++number) {
    const CatalogColumn* column = columns.column(number);
    if (column == kNoColumn) continue;
    list += (list.empty() ? "" : ", ") + (Uses(number) ? Quoted(column->name) : "NULL");
  }
  const CatalogTable& table = columns.table;
  std::string sql = "SELECT " + list + " FROM " +
                    (table.is_view ? "(" + table.select + "\n)" : Quoted(table.name));
  int parameter = 0;
  for (const RunTerm& term : terms) {
    if (columns.column(term.column) == kNoColumn) continue;
    sql += parameter == 0 ? " WHERE " : " AND ";
    sql += Quoted(columns.column(term.column)->name) + " " + term.op + " ?" +
           std::to_string(++parameter);
  }
  if (by_key) sql += " ORDER BY " + Quoted(columns.column(columns.key)->name);
  return sql;
}

RunPlan ChoosePlan(const RunColumns& columns, int64_t files, int64_t rows, bool one_attempt,
                   sqlite3_index_info* info) {
  RunPlan plan;
  plan.used = info->colUsed;
  for (int i = 0; i < info->nConstraint; ++i) {
    if (!CanHandDown(info, i)) continue;
    const auto& constraint = info->aConstraint[i];
    plan.terms.push_back({constraint.iColumn, std::string(OperatorOf(constraint.op))});
    // SQLite compares again itself (no `omit`): it alone knows every rule of affinity.
    info->aConstraintUsage[i].argvIndex = static_cast<int>(plan.terms.size());
  }
  if (info->nOrderBy > 0 && ComesOrdered(columns, plan, one_attempt, *info)) {
    info->orderByConsumed = 1;
    plan.by_key = columns.key >= 0;
  }
  Estimate(columns, plan, files, rows, info);
  return plan;
}

}  // namespace tutti::schema
