# cmake --install build/release [--prefix DIR]: the command, the library that it preloads (found
# by its place beside the command), the viewer, the header for programs that mark their steps,
# manual pages.

include(GNUInstallDirs)

if(TARGET tutti)
  # Libraries of its own, where it travels with them (tools/setup/bundle.sh).
  set_target_properties(tutti PROPERTIES INSTALL_RPATH "$ORIGIN/../lib/tutti")
  install(TARGETS tutti RUNTIME DESTINATION ${CMAKE_INSTALL_BINDIR})
  install(DIRECTORY ${PROJECT_SOURCE_DIR}/docs/man/ DESTINATION ${CMAKE_INSTALL_MANDIR}/man1
    FILES_MATCHING PATTERN "*.1")
endif()
if(TARGET tutti_tracer)
  # Not CMAKE_INSTALL_LIBDIR, which differs between systems: the command looks in ../lib/tutti.
  install(TARGETS tutti_tracer LIBRARY DESTINATION lib/tutti)
endif()
if(TARGET tutti_viewer)
  # Where it was not built, `tutti view` says so.
  install(TARGETS tutti_viewer LIBRARY DESTINATION lib/tutti OPTIONAL)
endif()
install(FILES ${PROJECT_SOURCE_DIR}/tracer/annotate.h
  DESTINATION ${CMAKE_INSTALL_INCLUDEDIR}/tutti)
