// Numbers and names as they are written on the screen.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

namespace tutti::viewer {

// "850 ns", "12.35 µs", "4.568 ms", "1.234 s", "2 h 03 min": four digits.
std::string FormatNs(int64_t ns);
// A moment since the begin of the run, as fine as ticks `step_ns` apart need: "12.340 ms".
std::string FormatTime(int64_t since_begin_ns, int64_t step_ns);
// A change: "+12.3 %", "-4.0 %", "0.0 %".
std::string FormatShare(double share);
// What a finding costs a step, as the report says it: "saves 1.2 ms a step (4.0 %), at most 3 ms"
// where a replay has left its cause out, else "up to 3 ms a step (10.0 %)". `share` is the bound's.
std::string FormatSaving(int64_t bound_ns, double share, std::optional<int64_t> replayed_ns);
// "1,234,567"
std::string FormatCount(int64_t count);
// "3.5 MiB"
std::string FormatBytes(double bytes);
// A value with its unit: bytes as FormatBytes, others with SI prefixes.
std::string FormatValue(double value, std::string_view unit);

// What tells a kernel from others in few letters: without return type, namespaces, template
// arguments and parameters. "void at::native::elementwise_kernel<4, F>(int, F)" becomes
// "elementwise_kernel". Other names stay as they are.
std::string ShortName(std::string_view name);

}  // namespace tutti::viewer
