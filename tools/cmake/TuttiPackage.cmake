# cpack --config build/release/CPackConfig.cmake (./dev package): a Debian package of each component
# of TuttiInstall.cmake, and one archive that brings the libraries along which the command needs.

set(CPACK_GENERATOR "DEB;TGZ")
set(CPACK_PACKAGE_VENDOR "Tutti")
set(CPACK_PACKAGE_CONTACT "the authors of Tutti <tutti@localhost>")
set(CPACK_PACKAGE_DESCRIPTION_SUMMARY ${PROJECT_DESCRIPTION})
set(CPACK_RESOURCE_FILE_LICENSE ${PROJECT_SOURCE_DIR}/LICENSE)
set(CPACK_PACKAGE_DIRECTORY ${PROJECT_BINARY_DIR}/packages)
set(CPACK_PACKAGE_FILE_NAME "tutti-${PROJECT_VERSION}-linux-${CMAKE_SYSTEM_PROCESSOR}")
set(CPACK_STRIP_FILES ON)
set(CPACK_PROJECT_CONFIG_FILE ${CMAKE_CURRENT_LIST_DIR}/package_kinds.cmake)

set(CPACK_COMPONENTS_ALL tutti tracer dev)
if(TARGET tutti_viewer)
  list(APPEND CPACK_COMPONENTS_ALL viewer)
endif()
if(TARGET tutti-analyze-mpi)
  list(APPEND CPACK_COMPONENTS_ALL mpi)
endif()
set(CPACK_COMPONENT_TUTTI_DESCRIPTION
  "Record distributed training jobs, and report where the time of their steps goes")
set(CPACK_COMPONENT_TRACER_DESCRIPTION
  "What Tutti loads into the ranks of a training job, and a header for marking steps")
set(CPACK_COMPONENT_MPI_DESCRIPTION "Analyze Tutti's recordings with many processes (Open MPI)")
set(CPACK_COMPONENT_VIEWER_DESCRIPTION "Tutti's timeline of all ranks")
set(CPACK_COMPONENT_DEV_DESCRIPTION "Library that reads what Tutti recorded")

set(CPACK_DEB_COMPONENT_INSTALL ON)
set(CPACK_DEBIAN_FILE_NAME DEB-DEFAULT)
set(CPACK_DEBIAN_PACKAGE_SHLIBDEPS ON)
set(CPACK_DEBIAN_PACKAGE_SECTION devel)
set(CPACK_DEBIAN_TUTTI_PACKAGE_NAME tutti)
set(CPACK_DEBIAN_TRACER_PACKAGE_NAME tutti-tracer)
set(CPACK_DEBIAN_MPI_PACKAGE_NAME tutti-mpi)
set(CPACK_DEBIAN_VIEWER_PACKAGE_NAME tutti-viewer)
set(CPACK_DEBIAN_DEV_PACKAGE_NAME tutti-dev)
# The command and what it loads are of one version: they talk to each other.
set(CPACK_DEBIAN_TUTTI_PACKAGE_DEPENDS "tutti-tracer (= ${PROJECT_VERSION})")
set(CPACK_DEBIAN_TUTTI_PACKAGE_RECOMMENDS "tutti-viewer (= ${PROJECT_VERSION})")
set(CPACK_DEBIAN_TUTTI_PACKAGE_SUGGESTS "libmicrohttpd12")
set(CPACK_DEBIAN_MPI_PACKAGE_RECOMMENDS "tutti (= ${PROJECT_VERSION}), openmpi-bin")
set(CPACK_DEBIAN_VIEWER_PACKAGE_DEPENDS "tutti (= ${PROJECT_VERSION})")
set(CPACK_DEBIAN_VIEWER_PACKAGE_RECOMMENDS "fonts-roboto-unhinted, fonts-jetbrains-mono")
set(CPACK_DEBIAN_DEV_PACKAGE_DEPENDS "libsqlite3-dev")

include(CPack)
