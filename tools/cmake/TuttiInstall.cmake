# cmake --install build/release [--prefix DIR] [--component NAME]. The components are the packages
# that TuttiPackage.cmake makes of them:
#   tutti        the command and manual pages
#   tracer       the library that the command preloads (found by its place beside the command)
#                and the header for programs that mark their steps
#   mpi          the analysis by several processes, linked with the MPI of this machine
#   viewer       the timeline, which the command loads; without it `tutti view` says so
#   dev          the library that reads runs, for find_package(tutti)
#   libraries    what the command needs that not every system has; only if asked for by name

include(GNUInstallDirs)
include(CMakePackageConfigHelpers)

if(TARGET tutti)
  # Libraries of its own, where they travel with it.
  set_target_properties(tutti PROPERTIES INSTALL_RPATH "$ORIGIN/../lib/tutti")
  install(TARGETS tutti RUNTIME_DEPENDENCY_SET tutti_needs
    RUNTIME DESTINATION ${CMAKE_INSTALL_BINDIR} COMPONENT tutti)
  install(RUNTIME_DEPENDENCY_SET tutti_needs
    PRE_EXCLUDE_REGEXES "^lib(c|m|gcc_s|stdc\\+\\+)\\.so" "^ld-linux"
    LIBRARY DESTINATION lib/tutti COMPONENT libraries EXCLUDE_FROM_ALL)
  foreach(section IN ITEMS 1 5)
    install(DIRECTORY ${PROJECT_SOURCE_DIR}/docs/man/
      DESTINATION ${CMAKE_INSTALL_MANDIR}/man${section} COMPONENT tutti
      FILES_MATCHING PATTERN "*.${section}" PATTERN tutti-analyze-mpi.1 EXCLUDE)
  endforeach()
endif()
if(TARGET tutti-analyze-mpi)
  install(TARGETS tutti-analyze-mpi
    RUNTIME DESTINATION ${CMAKE_INSTALL_BINDIR} COMPONENT mpi)
  install(FILES ${PROJECT_SOURCE_DIR}/docs/man/tutti-analyze-mpi.1
    DESTINATION ${CMAKE_INSTALL_MANDIR}/man1 COMPONENT mpi)
endif()
if(TARGET tutti_tracer)
  # Not CMAKE_INSTALL_LIBDIR, which differs between systems: the command looks in ../lib/tutti.
  install(TARGETS tutti_tracer LIBRARY DESTINATION lib/tutti COMPONENT tracer)
endif()
if(TARGET tutti_viewer)
  install(TARGETS tutti_viewer LIBRARY DESTINATION lib/tutti COMPONENT viewer OPTIONAL)
endif()
install(FILES ${PROJECT_SOURCE_DIR}/tracer/annotate.h
  DESTINATION ${CMAKE_INSTALL_INCLUDEDIR}/tutti COMPONENT tracer)

# tutti::schema of an installed package; headers are included by the names that they have here.
install(TARGETS tutti_common tutti_schema EXPORT tutti_targets
  ARCHIVE DESTINATION lib/tutti COMPONENT dev)
foreach(folder IN ITEMS common schema)
  install(DIRECTORY ${PROJECT_SOURCE_DIR}/${folder}
    DESTINATION ${CMAKE_INSTALL_INCLUDEDIR}/tutti COMPONENT dev
    FILES_MATCHING PATTERN "*.h" PATTERN testing EXCLUDE PATTERN wire EXCLUDE)
endforeach()
set(package_folder lib/cmake/tutti)
install(EXPORT tutti_targets NAMESPACE tutti:: DESTINATION ${package_folder}
  COMPONENT dev)
configure_package_config_file(${CMAKE_CURRENT_LIST_DIR}/tuttiConfig.cmake.in
  ${PROJECT_BINARY_DIR}/tuttiConfig.cmake INSTALL_DESTINATION ${package_folder})
write_basic_package_version_file(${PROJECT_BINARY_DIR}/tuttiConfigVersion.cmake
  COMPATIBILITY SameMinorVersion)
install(FILES ${PROJECT_BINARY_DIR}/tuttiConfig.cmake
  ${PROJECT_BINARY_DIR}/tuttiConfigVersion.cmake
  DESTINATION ${package_folder} COMPONENT dev)

# Each package says under which terms it may be used. Terms of libraries that are compiled in (of
# headers alone, or static) are those of the systems' own packages of them.
foreach(component IN ITEMS tutti tracer mpi viewer dev)
  string(REGEX REPLACE "^tutti-tutti$" "tutti" package tutti-${component})
  set(folder ${CMAKE_INSTALL_DATAROOTDIR}/doc/${package})
  install(FILES ${PROJECT_SOURCE_DIR}/LICENSE DESTINATION ${folder} RENAME copyright
    COMPONENT ${component})
endforeach()
foreach(package IN ITEMS libcli11-dev nlohmann-json3-dev libboost-math-dev libprotozero-dev)
  install(FILES /usr/share/doc/${package}/copyright OPTIONAL RENAME ${package}.copyright
    DESTINATION ${CMAKE_INSTALL_DATAROOTDIR}/doc/tutti COMPONENT tutti)
endforeach()
if(TARGET tutti_viewer)
  install(FILES ${TUTTI_CACHE_DIR}/imgui/LICENSE OPTIONAL RENAME imgui.copyright
    DESTINATION ${CMAKE_INSTALL_DATAROOTDIR}/doc/tutti-viewer COMPONENT viewer)
endif()
