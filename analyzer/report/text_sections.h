// The parts of the report for a terminal, each with its heading; "" where there is nothing to say.
// Those about GPUs are in text_device.h. Pure functions; callable from any thread.
#pragma once

#include <cstddef>
#include <string>

#include "analyzer/report/painter.h"
#include "analyzer/report/report_data.h"

namespace tutti::analyzer {

inline constexpr size_t kColumns = 100;

// Why the job stands still or computes nonsense: nothing else matters then, so it comes
// first and with all its evidence.
std::string Stopped(const ReportData& data, const Painter& paint);
// Data that is missing.
std::string Quality(const ReportData& data, const Painter& paint);
// How long a step takes, and rates.
std::string StepLine(const ReportData& data, const Painter& paint);
// The parts of a step, as shares of all steps that count.
std::string WhereItGoes(const ReportData& data, const Painter& paint);
// What to do about it, most saved first.
std::string Findings(const ReportData& data, const Painter& paint);
std::string Ranks(const ReportData& data, const Painter& paint);
std::string Collectives(const ReportData& data, const Painter& paint);
std::string Memory(const ReportData& data, const Painter& paint);
std::string Operators(const ReportData& data, const Painter& paint);
// What the figures rest on, and notices.
std::string Trust(const ReportData& data, const Painter& paint);

}  // namespace tutti::analyzer
