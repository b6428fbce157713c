# SPDX-License-Identifier: BSD-3-Clause
# The MPI libraries to build for, each found by names of its own: once two are installed, plain
# mpicc may belong to either. CHAMELEON_MPIS lists them. The first one, MPICH where it is installed,
# is the one of libchameleon.so, of the replayer, the examples and the tests: its targets are
# chameleon_mpi_c, _cxx and _fortran as well. For each family F, as mpich or openmpi:
#   chameleon_F_c, chameleon_F_cxx, chameleon_F_fortran   what programs are compiled and linked with
#   CHAMELEON_F_INCLUDE, CHAMELEON_F_LIBRARY              folder of mpi.h, the library
#   CHAMELEON_F_HEADER                                    the header with the functions
#   CHAMELEON_F_MPICC, CHAMELEON_F_MPIEXEC, CHAMELEON_F_MPIFORT
set(CHAMELEON_MPICH AUTO CACHE STRING "Build for MPICH: ON, OFF, or AUTO (if it is installed)")
# Open MPI's runtime takes two minutes of a processor to build: beside MPICH only if asked for.
set(CHAMELEON_OPENMPI OFF CACHE STRING
    "Build for Open MPI too: ON, OFF (only without MPICH), or AUTO (if it is installed)")
set(CHAMELEON_ABI OFF CACHE STRING
    "Build for the standard ABI of MPI 5 too: ON, OFF, or AUTO (if an MPI that has it is installed)")

# chameleon_mpi_flags(WRAPPER OUT): what a compiler wrapper adds; nothing if it fails.
function(chameleon_mpi_flags wrapper out)
  execute_process(COMMAND ${wrapper} -show OUTPUT_VARIABLE line RESULT_VARIABLE failed
                  OUTPUT_STRIP_TRAILING_WHITESPACE ERROR_QUIET)
  set(words "")
  if(NOT failed)
    separate_arguments(words UNIX_COMMAND "${line}")
    list(POP_FRONT words)
  endif()
  set(${out} ${words} PARENT_SCOPE)
endfunction()

# chameleon_only(OUT PREFIX WORDS...): those of the words that begin so, without it.
function(chameleon_only out prefix)
  set(words ${ARGN})
  list(FILTER words INCLUDE REGEX "^${prefix}")
  list(TRANSFORM words REPLACE "^${prefix}" "")
  set(${out} ${words} PARENT_SCOPE)
endfunction()

# chameleon_find_mpi(FAMILY MARK LIBRARY [HEADER name] MPICC names... MPIEXEC names... MPIFORT names...):
# looks for a library whose header, mpi.h, defines MARK, and adds it to CHAMELEON_MPIS.
function(chameleon_find_mpi family mark library)
  cmake_parse_arguments(names "" "HEADER" "MPICC;MPIEXEC;MPIFORT" ${ARGN})
  if(NOT names_HEADER)
    set(names_HEADER mpi.h)
  endif()
  string(TOUPPER CHAMELEON_${family} prefix)
  find_program(${prefix}_MPICC NAMES ${names_MPICC})
  find_program(${prefix}_MPIEXEC NAMES ${names_MPIEXEC})
  find_program(${prefix}_MPIFORT NAMES ${names_MPIFORT})
  if(NOT ${prefix}_MPICC OR NOT ${prefix}_MPIEXEC)
    return()
  endif()
  chameleon_mpi_flags(${${prefix}_MPICC} words)
  chameleon_only(include_dirs -I ${words})
  chameleon_only(library_dirs -L ${words})
  find_path(${prefix}_INCLUDE ${names_HEADER} HINTS ${include_dirs} NO_DEFAULT_PATH)
  find_library(${prefix}_LIBRARY NAMES ${library} HINTS ${library_dirs} NO_DEFAULT_PATH)
  if(NOT ${prefix}_INCLUDE OR NOT ${prefix}_LIBRARY)
    return()
  endif()
  set(${prefix}_HEADER ${${prefix}_INCLUDE}/${names_HEADER} PARENT_SCOPE)
  file(STRINGS ${${prefix}_INCLUDE}/${names_HEADER} marked REGEX "define ${mark}")
  if(NOT marked)
    return()
  endif()
  foreach(language c cxx)
    add_library(chameleon_${family}_${language} INTERFACE)
    target_include_directories(chameleon_${family}_${language} SYSTEM INTERFACE ${include_dirs})
    target_link_libraries(chameleon_${family}_${language} INTERFACE ${${prefix}_LIBRARY})
  endforeach()
  target_compile_definitions(chameleon_${family}_cxx INTERFACE MPICH_SKIP_MPICXX OMPI_SKIP_MPICXX)

  if(CHAMELEON_FORTRAN AND ${prefix}_MPIFORT)
    chameleon_mpi_flags(${${prefix}_MPIFORT} words)
    chameleon_only(include_dirs -I ${words})
    chameleon_only(library_dirs -L ${words})
    chameleon_only(libraries -l ${words})
    list(FILTER libraries INCLUDE REGEX "^mpi")
    list(REMOVE_ITEM libraries ${library})
    set(found "")
    foreach(name IN LISTS libraries)
      find_library(${prefix}_LIBRARY_${name} NAMES ${name} HINTS ${library_dirs})
      list(APPEND found ${${prefix}_LIBRARY_${name}})
    endforeach()
    add_library(chameleon_${family}_fortran INTERFACE)
    target_include_directories(chameleon_${family}_fortran SYSTEM INTERFACE ${include_dirs})
    target_link_libraries(chameleon_${family}_fortran INTERFACE ${found} ${${prefix}_LIBRARY})
    set(${prefix}_FORTRAN_LIBRARIES ${found} PARENT_SCOPE)
  endif()
  set(CHAMELEON_MPIS ${CHAMELEON_MPIS} ${family} PARENT_SCOPE)
endfunction()

foreach(what IN ITEMS MPICC MPIEXEC MPIFORT)
  if(DEFINED CACHE{CHAMELEON_${what}})
    message(FATAL_ERROR "CHAMELEON_${what} is now CHAMELEON_MPICH_${what} or "
                        "CHAMELEON_OPENMPI_${what}")
  endif()
endforeach()
set(CHAMELEON_MPIS "")
if(CHAMELEON_MPICH)
  chameleon_find_mpi(mpich MPICH_VERSION mpich MPICC mpicc.mpich mpicc
                     MPIEXEC mpiexec.mpich mpiexec.hydra mpiexec MPIFORT mpifort.mpich mpif90.mpich)
  if(NOT CHAMELEON_MPICH STREQUAL "AUTO" AND NOT CHAMELEON_MPIS)
    message(FATAL_ERROR "CHAMELEON_MPICH: no MPICH found: set CHAMELEON_MPICH_MPICC to its mpicc")
  endif()
endif()
if(CHAMELEON_OPENMPI OR NOT CHAMELEON_MPIS)
  chameleon_find_mpi(openmpi OMPI_MAJOR_VERSION mpi MPICC mpicc.openmpi mpicc
                     MPIEXEC mpiexec.openmpi mpiexec MPIFORT mpifort.openmpi mpifort)
  if(CHAMELEON_OPENMPI AND NOT CHAMELEON_OPENMPI STREQUAL "AUTO"
     AND NOT "openmpi" IN_LIST CHAMELEON_MPIS)
    message(FATAL_ERROR "CHAMELEON_OPENMPI: no Open MPI found (Debian's libopenmpi-dev)")
  endif()
endif()
if(CHAMELEON_ABI AND CHAMELEON_MPIS)
  chameleon_find_mpi(abi MPI_ABI_VERSION mpi_abi HEADER mpi_abi.h MPICC mpicc_abi MPIEXEC mpiexec)
  if(NOT CHAMELEON_ABI STREQUAL "AUTO" AND NOT "abi" IN_LIST CHAMELEON_MPIS)
    message(FATAL_ERROR "CHAMELEON_ABI: no MPI of the standard ABI found: set CHAMELEON_ABI_MPICC to "
                        "its mpicc_abi, and CHAMELEON_ABI_MPIEXEC to its launcher")
  endif()
endif()
if("abi" IN_LIST CHAMELEON_MPIS)
  foreach(language c cxx)
    target_compile_definitions(chameleon_abi_${language} INTERFACE MPI_ABI CHAMELEON_STANDARD_ABI)
  endforeach()
endif()
if(NOT CHAMELEON_MPIS)
  message(FATAL_ERROR "No MPI found: install MPICH (Debian's libmpich-dev) or Open MPI "
                      "(libopenmpi-dev), or set CHAMELEON_MPICH_MPICC to the mpicc of MPICH")
endif()
if("openmpi" IN_LIST CHAMELEON_MPIS)
  foreach(language c cxx)  # it has functions that MPI-3 removed, and programs call them
    target_compile_definitions(chameleon_openmpi_${language} INTERFACE OMPI_OMIT_MPI1_COMPAT_DECLS=0)
    target_compile_options(chameleon_openmpi_${language} INTERFACE
      $<$<NOT:$<COMPILE_LANGUAGE:Fortran>>:-Wno-deprecated-declarations>)
  endforeach()
endif()

set(CHAMELEON_OTHER_MPIS ${CHAMELEON_MPIS})
list(POP_FRONT CHAMELEON_OTHER_MPIS CHAMELEON_MPI)
string(TOUPPER CHAMELEON_${CHAMELEON_MPI} first)
message(STATUS "Built for ${CHAMELEON_MPIS}; ${CHAMELEON_MPI} is what libchameleon.so is for")
foreach(what IN ITEMS INCLUDE LIBRARY HEADER)
  set(CHAMELEON_MPI_${what} ${${first}_${what}})
endforeach()
foreach(what IN ITEMS MPICC MPIEXEC MPIFORT)
  set(CHAMELEON_${what} ${${first}_${what}})
endforeach()
foreach(language c cxx)
  add_library(chameleon_mpi_${language} ALIAS chameleon_${CHAMELEON_MPI}_${language})
endforeach()

if(CHAMELEON_FORTRAN)
  include(CheckLanguage)
  check_language(Fortran)
  if(TARGET chameleon_${CHAMELEON_MPI}_fortran AND CMAKE_Fortran_COMPILER)
    enable_language(Fortran)
    add_library(chameleon_mpi_fortran ALIAS chameleon_${CHAMELEON_MPI}_fortran)
  else()
    message(STATUS "No Fortran compiler for MPI: Fortran parts are left out")
    set(CHAMELEON_FORTRAN OFF)
  endif()
endif()
