// The 41 causes of lost time that Tutti looks for, by the number that rules and tests name them
// with, and what engineers usually advise: where each is told. Both are part of docs/findings.md;
// catalogue_list_test.cc compares them with the rules and with the tests that there are.
// Immutable; callable from any thread.
#pragma once

#include <span>
#include <string>
#include <string_view>

namespace tutti::analyzer {

struct CatalogueEntry {
  int number = 0;
  std::string_view cause;
  std::string_view kinds;  // FindingKind::kind of what tells it, separated by ", "
  std::string_view value;  // what title and advice compute from the trace
  std::string_view test;   // a GoogleTest that fails without it
};
std::span<const CatalogueEntry> Catalogue();

struct GeneralAdvice {
  std::string_view advice;
  std::string_view when;  // which finding gives it, or why none does
};
std::span<const GeneralAdvice> AllGeneralAdvice();

// Both as Markdown tables.
std::string CatalogueTables();

}  // namespace tutti::analyzer
