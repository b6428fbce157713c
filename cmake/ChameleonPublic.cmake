# SPDX-License-Identifier: BSD-3-Clause
# What programs see of Chameleon: the header, and the Fortran module.
target_include_directories(chameleon INTERFACE
  $<BUILD_INTERFACE:${PROJECT_SOURCE_DIR}/libchameleon/include>
  $<INSTALL_INTERFACE:${CMAKE_INSTALL_INCLUDEDIR}>)

# Nothing in a Fortran program refers to the library by name: MPI_* are called from MPI's own
# Fortran library. A linker that drops libraries "as needed" would drop it.
target_link_options(chameleon INTERFACE LINKER:--no-as-needed)

if(CHAMELEON_FORTRAN)
  add_library(chameleon_fortran STATIC ${PROJECT_SOURCE_DIR}/libchameleon/fortran/chameleon.f90)
  add_library(chameleon::fortran ALIAS chameleon_fortran)
  set_target_properties(chameleon_fortran PROPERTIES
    EXPORT_NAME fortran Fortran_MODULE_DIRECTORY ${PROJECT_BINARY_DIR}/fortran)
  target_include_directories(chameleon_fortran INTERFACE
    $<BUILD_INTERFACE:${PROJECT_BINARY_DIR}/fortran>
    $<INSTALL_INTERFACE:${CMAKE_INSTALL_INCLUDEDIR}/chameleon>)
endif()
