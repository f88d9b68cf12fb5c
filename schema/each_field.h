// TUTTI_EACH_FIELD(what, Type, a, b, …) is what(Type, a), what(Type, b), …: 32 fields at
// most. Spelt out rather than recursive because not every tool's preprocessor knows
// __VA_OPT__. For row.h only.
#pragma once

// clang-format off
#define TUTTI_EACH_1(what, T, f) what(T, f)
#define TUTTI_EACH_2(what, T, f, ...) what(T, f), TUTTI_EACH_1(what, T, __VA_ARGS__)
#define TUTTI_EACH_3(what, T, f, ...) what(T, f), TUTTI_EACH_2(what, T, __VA_ARGS__)
#define TUTTI_EACH_4(what, T, f, ...) what(T, f), TUTTI_EACH_3(what, T, __VA_ARGS__)
#define TUTTI_EACH_5(what, T, f, ...) what(T, f), TUTTI_EACH_4(what, T, __VA_ARGS__)
#define TUTTI_EACH_6(what, T, f, ...) what(T, f), TUTTI_EACH_5(what, T, __VA_ARGS__)
#define TUTTI_EACH_7(what, T, f, ...) what(T, f), TUTTI_EACH_6(what, T, __VA_ARGS__)
#define TUTTI_EACH_8(what, T, f, ...) what(T, f), TUTTI_EACH_7(what, T, __VA_ARGS__)
#define TUTTI_EACH_9(what, T, f, ...) what(T, f), TUTTI_EACH_8(what, T, __VA_ARGS__)
#define TUTTI_EACH_10(what, T, f, ...) what(T, f), TUTTI_EACH_9(what, T, __VA_ARGS__)
#define TUTTI_EACH_11(what, T, f, ...) what(T, f), TUTTI_EACH_10(what, T, __VA_ARGS__)
#define TUTTI_EACH_12(what, T, f, ...) what(T, f), TUTTI_EACH_11(what, T, __VA_ARGS__)
#define TUTTI_EACH_13(what, T, f, ...) what(T, f), TUTTI_EACH_12(what, T, __VA_ARGS__)
#define TUTTI_EACH_14(what, T, f, ...) what(T, f), TUTTI_EACH_13(what, T, __VA_ARGS__)
#define TUTTI_EACH_15(what, T, f, ...) what(T, f), TUTTI_EACH_14(what, T, __VA_ARGS__)
#define TUTTI_EACH_16(what, T, f, ...) what(T, f), TUTTI_EACH_15(what, T, __VA_ARGS__)
#define TUTTI_EACH_17(what, T, f, ...) what(T, f), TUTTI_EACH_16(what, T, __VA_ARGS__)
#define TUTTI_EACH_18(what, T, f, ...) what(T, f), TUTTI_EACH_17(what, T, __VA_ARGS__)
#define TUTTI_EACH_19(what, T, f, ...) what(T, f), TUTTI_EACH_18(what, T, __VA_ARGS__)
#define TUTTI_EACH_20(what, T, f, ...) what(T, f), TUTTI_EACH_19(what, T, __VA_ARGS__)
#define TUTTI_EACH_21(what, T, f, ...) what(T, f), TUTTI_EACH_20(what, T, __VA_ARGS__)
#define TUTTI_EACH_22(what, T, f, ...) what(T, f), TUTTI_EACH_21(what, T, __VA_ARGS__)
#define TUTTI_EACH_23(what, T, f, ...) what(T, f), TUTTI_EACH_22(what, T, __VA_ARGS__)
#define TUTTI_EACH_24(what, T, f, ...) what(T, f), TUTTI_EACH_23(what, T, __VA_ARGS__)
#define TUTTI_EACH_25(what, T, f, ...) what(T, f), TUTTI_EACH_24(what, T, __VA_ARGS__)
#define TUTTI_EACH_26(what, T, f, ...) what(T, f), TUTTI_EACH_25(what, T, __VA_ARGS__)
#define TUTTI_EACH_27(what, T, f, ...) what(T, f), TUTTI_EACH_26(what, T, __VA_ARGS__)
#define TUTTI_EACH_28(what, T, f, ...) what(T, f), TUTTI_EACH_27(what, T, __VA_ARGS__)
#define TUTTI_EACH_29(what, T, f, ...) what(T, f), TUTTI_EACH_28(what, T, __VA_ARGS__)
#define TUTTI_EACH_30(what, T, f, ...) what(T, f), TUTTI_EACH_29(what, T, __VA_ARGS__)
#define TUTTI_EACH_31(what, T, f, ...) what(T, f), TUTTI_EACH_30(what, T, __VA_ARGS__)
#define TUTTI_EACH_32(what, T, f, ...) what(T, f), TUTTI_EACH_31(what, T, __VA_ARGS__)
#define TUTTI_EACH_PICK(_1, _2, _3, _4, _5, _6, _7, _8, _9, _10, _11, _12, _13, _14, _15, _16, \
                        _17, _18, _19, _20, _21, _22, _23, _24, _25, _26, _27, _28, _29, _30, \
                        _31, _32, name, ...) name
#define TUTTI_EACH_FIELD(what, T, ...) \
  TUTTI_EACH_PICK(__VA_ARGS__, TUTTI_EACH_32, TUTTI_EACH_31, TUTTI_EACH_30, TUTTI_EACH_29, \
      TUTTI_EACH_28, TUTTI_EACH_27, TUTTI_EACH_26, TUTTI_EACH_25, TUTTI_EACH_24, TUTTI_EACH_23, \
      TUTTI_EACH_22, TUTTI_EACH_21, TUTTI_EACH_20, TUTTI_EACH_19, TUTTI_EACH_18, TUTTI_EACH_17, \
      TUTTI_EACH_16, TUTTI_EACH_15, TUTTI_EACH_14, TUTTI_EACH_13, TUTTI_EACH_12, TUTTI_EACH_11, \
      TUTTI_EACH_10, TUTTI_EACH_9, TUTTI_EACH_8, TUTTI_EACH_7, TUTTI_EACH_6, TUTTI_EACH_5, \
      TUTTI_EACH_4, TUTTI_EACH_3, TUTTI_EACH_2, TUTTI_EACH_1, unused)(what, T, __VA_ARGS__)
// clang-format on
