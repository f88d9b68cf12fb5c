// One analysis: reads raw rows and derived tables, calls pure functions
// (analyzer/metrics), writes its own derived tables. Passes never call or include one
// another: they meet in tables, in the order of pass_list.cc.
#pragma once

#include <span>
#include <string_view>

#include "analyzer/run_context.h"
#include "common/status.h"

namespace tutti::analyzer {

// A statement about the tables that must hold after the pass ran.
struct PassCheck {
  std::string_view claim;      // in words
  std::string_view violation;  // SQL that counts what violates it: one integer, 0 if it holds
};

// What a pass needs to be right.
enum class PassScope {
  kRun,   // everything that it reads of the run, in one process
  kRank,  // nothing but ForEachRank: what it writes of a rank follows from the rank's trace, from
          // rows of that rank, and from tables of kRun passes that have no column `rank`. It may
          // run in a process of its own for every rank, which has no other rows
};

struct Pass {
  std::string_view name;  // its file in analyzer/passes
  Status (*run)(RunContext& context);
  std::span<const PassCheck> checks = {};
  PassScope scope = PassScope::kRun;
};

// All passes in the order in which they run: each reads only tables that an earlier one
// wrote.
std::span<const Pass> AllPasses();

}  // namespace tutti::analyzer
