# tutti_add_test(NAME source... [LIBS library...] [TIMEOUT seconds] [SERIAL])
#
# A GoogleTest program; every TEST in it becomes a ctest test, labelled with its folder
# (`ctest -L collector`). TIMEOUT is per test case (default 120 s; no test is timed
# otherwise). SERIAL keeps its cases from running beside any other test.

if(TUTTI_BUILD_TESTS)
  enable_testing()
  find_package(GTest REQUIRED)
  include(GoogleTest)
endif()

function(tutti_add_test name)
  cmake_parse_arguments(PARSE_ARGV 1 arg "SERIAL" "TIMEOUT" "LIBS")
  if(NOT TUTTI_BUILD_TESTS)
    return()
  endif()
  if(NOT arg_TIMEOUT)
    set(arg_TIMEOUT 120)
  endif()
  add_executable(${name} ${arg_UNPARSED_ARGUMENTS})
  target_link_libraries(${name} PRIVATE ${arg_LIBS} GTest::gmock GTest::gtest_main Threads::Threads)
  list(GET arg_UNPARSED_ARGUMENTS 0 first_source)
  cmake_path(ABSOLUTE_PATH first_source BASE_DIRECTORY ${CMAKE_CURRENT_SOURCE_DIR})
  cmake_path(GET first_source PARENT_PATH label)
  cmake_path(RELATIVE_PATH label BASE_DIRECTORY ${PROJECT_SOURCE_DIR})
  set(properties LABELS "${label}" TIMEOUT ${arg_TIMEOUT})
  if(arg_SERIAL)
    list(APPEND properties RUN_SERIAL ON)
  endif()
  # Asking the program for its cases when ctest starts, not when it is linked, keeps a test
  # that cannot start (a missing library) from breaking the build of everything else.
  gtest_discover_tests(${name} DISCOVERY_MODE PRE_TEST DISCOVERY_TIMEOUT 60
    PROPERTIES ${properties})
endfunction()
