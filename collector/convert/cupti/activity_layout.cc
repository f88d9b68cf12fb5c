#include "collector/convert/cupti/activity_layout.h"

namespace tutti::collector::convert::cupti {
namespace {

// From release |since| on, records of |kind| are |bytes| long; 0: they no longer exist.
struct Length {
  uint16_t kind;
  uint32_t since;
  uint16_t bytes;
};

// By kind, then release. 22 is CUDA 12.4, 23 12.5, 24 12.6, 26 12.8, 28 12.9; from 13.0 on the
// number tells. Up to 13.1 these are the distances at which cuptiActivityGetNextRecord itself
// walks, after that (newer libraries walk only with a driver) those of the headers.
constexpr Length kLengths[] = {
    {1, 0, 88},        {1, 26, 96},       {1, 130400, 112},   // memcpy
    {2, 0, 88},        {2, 130400, 104},                      // memset
    {3, 0, 208},       {3, 130000, 216},  {3, 130100, 224},   // kernel
    {3, 130300, 232},  {3, 130400, 248},                      //
    {4, 0, 40},                                               // driver
    {5, 0, 40},                                               // runtime
    {6, 0, 24},        {6, 130000, 0},                        // event
    {7, 0, 24},        {7, 130000, 0},                        // metric
    {8, 0, 184},       {8, 130200, 192},                      // device
    {9, 0, 24},        {9, 23, 32},       {9, 130100, 40},    // context
    {10, 0, 208},      {10, 130000, 216}, {10, 130100, 224},  // concurrent kernel
    {10, 130300, 232}, {10, 130400, 248},                     //
    {11, 0, 32},                                              // name
    {12, 0, 56},                                              // marker
    {13, 0, 32},       {13, 130000, 40},                      // marker data
    {14, 0, 24},       {14, 130000, 0},                       // source locator
    {15, 0, 56},       {15, 130000, 0},                       // global access
    {16, 0, 40},       {16, 130000, 0},                       // branch
    {17, 0, 56},                                              // overhead
    {18, 0, 144},                                             // CDP kernel
    {19, 0, 40},                                              // preemption
    {20, 0, 40},                                              // environment
    {21, 0, 32},       {21, 130000, 0},                       // event instance
    {22, 0, 96},                                              // peer memcpy
    {23, 0, 32},       {23, 130000, 0},                       // metric instance
    {24, 0, 48},       {24, 130000, 0},                       // instructions
    {25, 0, 64},       {25, 26, 104},                         // unified memory
    {26, 0, 32},                                              // function
    {27, 0, 24},                                              // module
    {28, 0, 24},                                              // device attribute
    {29, 0, 56},       {29, 130000, 0},                       // shared access
    {30, 0, 40},       {30, 130000, 0},                       // PC sampling
    {31, 0, 32},       {31, 130000, 0},                       // its info
    {32, 0, 24},       {32, 130000, 0},                       // correlation
    {33, 0, 152},                                             // OpenACC data
    {34, 0, 152},                                             // OpenACC launch
    {35, 0, 120},                                             // OpenACC other
    {36, 0, 24},       {36, 26, 56},      {36, 130500, 80},   // CUDA event
    {37, 0, 24},                                              // stream
    {38, 0, 40},       {38, 26, 56},                          // synchronization
    {39, 0, 24},                                              // external id
    {40, 0, 136},      {40, 130200, 88},                      // NVLink
    {41, 0, 32},       {41, 130000, 0},                       // instantaneous …
    {42, 0, 32},       {42, 130000, 0},                       //
    {43, 0, 32},       {43, 130000, 0},                       //
    {44, 0, 32},       {44, 130000, 0},                       //
    {45, 0, 80},                                              // memory
    {46, 0, 168},                                             // PCIe
    {47, 0, 40},                                              // OpenMP
    {48, 0, 40},                                              // internal launch
    {49, 0, 120},      {49, 24, 128},                         // memory 2
    {50, 0, 72},       {50, 130000, 80},                      // memory pool
    {51, 0, 56},                                              // graph
    {52, 0, 72},                                              // JIT
    {53, 26, 56},                                             // device graph
    {54, 26, 64},                                             // decompression
    {55, 28, 32},                                             // key rotation
    {56, 130100, 56},                                         // graph host node
    {57, 130100, 24},                                         // engine switch
    {58, 130100, 48},                                         // host launch
    {59, 130200, 168}, {59, 130400, 304},                     // green context
};

}  // namespace

size_t RecordBytes(uint32_t kind, uint32_t version) {
  size_t bytes = 0;
  for (const Length& length : kLengths) {
    if (length.kind > kind) break;
    if (length.kind == kind && length.since <= version) bytes = length.bytes;
  }
  return bytes;
}

}  // namespace tutti::collector::convert::cupti
