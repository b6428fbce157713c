# SPDX-License-Identifier: BSD-3-Clause
# First settings (`cmake -C`) of a build that holds contracts of the source rather than runs fast:
# - link-time optimization sees all translation units at once, and so two types or two functions
#   of one name (-Wodr, -Wlto-type-mismatch);
# - without optimization the linker's choice of an inline function shows, where -O2 hides it;
# - a warning is an error.
set(CHAMELEON_CONTRACTS ON CACHE BOOL "Unit tests without optimization")
set(CMAKE_BUILD_TYPE Debug CACHE STRING "")
foreach(language IN ITEMS C CXX)
  set(CMAKE_${language}_FLAGS_DEBUG -O0 CACHE STRING "")
endforeach()
set(CMAKE_INTERPROCEDURAL_OPTIMIZATION ON CACHE BOOL "")
set(CMAKE_COMPILE_WARNING_AS_ERROR ON CACHE BOOL "")
# Several files of a room at a time: a third of the time, and what clashes is an error still.
set(CMAKE_UNITY_BUILD ON CACHE BOOL "")
set(CMAKE_UNITY_BUILD_BATCH_SIZE 12 CACHE STRING "")
foreach(kind IN ITEMS EXE SHARED)
  set(CMAKE_${kind}_LINKER_FLAGS "-Werror=odr -Werror=lto-type-mismatch" CACHE STRING "")
endforeach()
