// The parts of the report for a terminal that are about GPUs. Empty where none was traced.
// Pure functions; callable from any thread.
#pragma once

#include <string>

#include "analyzer/report/painter.h"
#include "analyzer/report/report_data.h"

namespace tutti::analyzer {

// How busy, what for, why idle, whether launching is the limit; what kernels do; copies.
std::string DeviceSection(const ReportData& data, const Painter& paint);
// The kernels that take most time in the steps that count.
std::string KernelSection(const ReportData& data, const Painter& paint);

// One or two sentences on the same, for any format: "busy 57.3 % of the steps (…), idle …".
std::string DeviceSummary(const ReportData& data);
// "12 % of the steps the GPU has nothing to do because …", and whether launching itself is the
// reason; "" unless host-bound time takes at least 10 %.
std::string HostBound(const ReportData& data);

}  // namespace tutti::analyzer
