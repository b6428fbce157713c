# SPDX-License-Identifier: BSD-3-Clause
# `cpack` makes a .deb and a .tar.gz of what is installed.
set(CPACK_GENERATOR TGZ)
find_program(CHAMELEON_DPKG dpkg)
if(CHAMELEON_DPKG)
  list(APPEND CPACK_GENERATOR DEB)
endif()
set(CPACK_PACKAGE_NAME chameleon-mpi)  # Debian has another chameleon
set(CPACK_PACKAGE_VENDOR "Chameleon")
set(CPACK_PACKAGE_CONTACT "Chameleon <chameleon@localhost>")
set(CPACK_PACKAGE_DESCRIPTION_SUMMARY "${PROJECT_DESCRIPTION}")
set(CPACK_RESOURCE_FILE_LICENSE ${PROJECT_SOURCE_DIR}/LICENSE)
set(CPACK_RESOURCE_FILE_README ${PROJECT_SOURCE_DIR}/README.md)
set(CPACK_MONOLITHIC_INSTALL ON)
set(CPACK_STRIP_FILES ON)

set(CPACK_DEBIAN_FILE_NAME DEB-DEFAULT)
set(CPACK_DEBIAN_PACKAGE_SECTION devel)
set(CPACK_DEBIAN_PACKAGE_DEPENDS "mpich")
set(CPACK_DEBIAN_PACKAGE_SUGGESTS "python3-pandas, binutils")
find_program(CHAMELEON_SHLIBDEPS dpkg-shlibdeps)
if(CHAMELEON_SHLIBDEPS)
  set(CPACK_DEBIAN_PACKAGE_SHLIBDEPS ON)
  # Whatever library of MPICH's ABI there is brings it.
  set(CPACK_DEBIAN_PACKAGE_SHLIBDEPS_PRIVATE_DIRS ${PROJECT_BINARY_DIR}/libchameleon/mpich-abi)
endif()
include(CPack)
