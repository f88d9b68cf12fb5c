// The page of the HTML report around its data: analyzer/report/html/ as one text, made at build
// time by tools/cmake/embed_report.py.
#pragma once

namespace tutti::analyzer {

extern const char* const kPageBeforeData;
extern const char* const kPageAfterData;

}  // namespace tutti::analyzer
