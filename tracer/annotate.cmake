# tutti::annotate: the public header annotate.h. Needs no tracer, so programs that are to be
# traced can use it in a build without one.

if(NOT TUTTI_NVTX_FOUND)
  return()
endif()
add_library(tutti_annotate INTERFACE)
add_library(tutti::annotate ALIAS tutti_annotate)
target_include_directories(tutti_annotate INTERFACE ${PROJECT_SOURCE_DIR})
target_link_libraries(tutti_annotate INTERFACE tutti::nvtx3)

if(TUTTI_BUILD_TESTS)
  tutti_add_test(annotate_untraced_test
    tracer/annotate_untraced_test.cc
    tracer/annotate_every_call.c
    LIBS tutti::annotate)
  tutti_add_test(annotate_traced_test
    tracer/annotate_traced_test.cc
    tracer/annotate_every_call.c
    LIBS tutti::annotate)
endif()
