// What the fake libcupti is told to do wrong: TUTTI_FAKE_CUPTI="name=value,name=value".
#pragma once

#include <cstdint>
#include <string>

namespace tutti::fake_cupti {

struct Options {
  uint32_t version = 0;         // cuptiGetVersion(); 0: that of the headers
  int subscribe_result = 0;     // of cuptiSubscribe(_v2)
  std::string subscriber;       // who has CUPTI already
  int enable_result = 0;        // of cuptiActivityEnable …
  int enable_kind = -1;         // … of this kind; -1: of all
  bool hangs_in_flush = false;  // the forced flush never returns
  bool swaps_buffers = false;   // gives the first full buffer back after the second
  int drops_records = 0;        // this many are not recorded, and counted
};

Options ReadOptions();

}  // namespace tutti::fake_cupti
