# SPDX-License-Identifier: BSD-3-Clause
# Library, header, Fortran module, CMake package and pkg-config file. The programs install
# themselves (tools/, replay/) into the bin folder, from where they find the library.
include(CMakePackageConfigHelpers)

set(package_dir ${CMAKE_INSTALL_LIBDIR}/cmake/chameleon)
set(public_targets chameleon)
install(FILES ${PROJECT_SOURCE_DIR}/libchameleon/include/chameleon/chameleon.h
              ${PROJECT_SOURCE_DIR}/libchameleon/fortran/chameleon.f90
        DESTINATION ${CMAKE_INSTALL_INCLUDEDIR}/chameleon)
if(CHAMELEON_FORTRAN)
  list(APPEND public_targets chameleon_fortran)
  install(FILES ${PROJECT_BINARY_DIR}/fortran/chameleon.mod
          DESTINATION ${CMAKE_INSTALL_INCLUDEDIR}/chameleon)
endif()
# Those for other MPIs are preloaded, never linked.
if(CHAMELEON_PRELOADED)
  install(TARGETS ${CHAMELEON_PRELOADED} LIBRARY DESTINATION ${CMAKE_INSTALL_LIBDIR})
endif()
install(TARGETS ${public_targets} EXPORT chameleonTargets
        LIBRARY DESTINATION ${CMAKE_INSTALL_LIBDIR}
        ARCHIVE DESTINATION ${CMAKE_INSTALL_LIBDIR})

install(EXPORT chameleonTargets NAMESPACE chameleon:: DESTINATION ${package_dir})
# Reading traces needs neither MPI nor the rest: a component of its own, that can be installed alone.
install(TARGETS chameleon_trace_reader EXPORT chameleonTraceReaderTargets
        LIBRARY DESTINATION ${CMAKE_INSTALL_LIBDIR} COMPONENT trace_reader)
install(FILES ${PROJECT_SOURCE_DIR}/libchameleon/include/chameleon/facts.inc
              ${PROJECT_SOURCE_DIR}/libchameleon/include/chameleon/trace_reader.h
        DESTINATION ${CMAKE_INSTALL_INCLUDEDIR}/chameleon COMPONENT trace_reader)
install(EXPORT chameleonTraceReaderTargets NAMESPACE chameleon::
        DESTINATION ${package_dir} COMPONENT trace_reader)
install(DIRECTORY ${PROJECT_SOURCE_DIR}/tools/python/chameleon_trace
        DESTINATION ${CMAKE_INSTALL_DATADIR}/chameleon/python COMPONENT trace_reader
        FILES_MATCHING PATTERN *.py)
install(FILES ${PROJECT_SOURCE_DIR}/tools/python/pyproject.toml
              ${PROJECT_SOURCE_DIR}/tools/python/README.md
        DESTINATION ${CMAKE_INSTALL_DATADIR}/chameleon/python COMPONENT trace_reader)

configure_package_config_file(
  ${PROJECT_SOURCE_DIR}/cmake/chameleonConfig.cmake.in
  ${PROJECT_BINARY_DIR}/chameleonConfig.cmake INSTALL_DESTINATION ${package_dir})
write_basic_package_version_file(
  ${PROJECT_BINARY_DIR}/chameleonConfigVersion.cmake COMPATIBILITY SameMinorVersion)
foreach(component Unspecified trace_reader)
  install(FILES ${PROJECT_BINARY_DIR}/chameleonConfig.cmake
                ${PROJECT_BINARY_DIR}/chameleonConfigVersion.cmake
          DESTINATION ${package_dir} COMPONENT ${component})
endforeach()

# Relative to the file itself, so that an installed tree can be moved.
file(RELATIVE_PATH pc_prefix /${CMAKE_INSTALL_LIBDIR}/pkgconfig /)
configure_file(${PROJECT_SOURCE_DIR}/cmake/chameleon.pc.in ${PROJECT_BINARY_DIR}/chameleon.pc @ONLY)
install(FILES ${PROJECT_BINARY_DIR}/chameleon.pc DESTINATION ${CMAKE_INSTALL_LIBDIR}/pkgconfig)
configure_file(${PROJECT_SOURCE_DIR}/cmake/chameleon-trace-reader.pc.in
               ${PROJECT_BINARY_DIR}/chameleon-trace-reader.pc @ONLY)
install(FILES ${PROJECT_BINARY_DIR}/chameleon-trace-reader.pc
        DESTINATION ${CMAKE_INSTALL_LIBDIR}/pkgconfig COMPONENT trace_reader)
