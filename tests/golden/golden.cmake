# SPDX-License-Identifier: BSD-3-Clause
# cmake -DPROGRAM=chameleon -DARGUMENTS="print x.cham" -DEXPECTED=file [-DAPPROVE=1] -P golden.cmake
# Runs the command and compares what it prints with a file; with APPROVE writes that file.
# What depends on the compression library is taken out: sizes of files.
separate_arguments(ARGUMENTS)
execute_process(COMMAND ${CMAKE_COMMAND} -E env NO_COLOR=1 ${PROGRAM} ${ARGUMENTS}
                OUTPUT_VARIABLE output ERROR_VARIABLE output RESULT_VARIABLE status)
string(REGEX REPLACE "(trace +[^,\n]*), [^,\n]*," "\\1, SIZE," output "${output}")
string(REGEX REPLACE "nodes and [^:\n]*:" "nodes and SIZE:" output "${output}")
string(REGEX REPLACE "[0-9.e+-]+ bytes a call" "N bytes a call" output "${output}")
string(REGEX REPLACE "\"bytes\": [0-9]+" "\"bytes\": SIZE" output "${output}")
string(APPEND output "exit status ${status}\n")
if(APPROVE)
  file(WRITE ${EXPECTED} "${output}")
  return()
endif()
file(READ ${EXPECTED} expected)
if(NOT output STREQUAL expected)
  message(FATAL_ERROR "${ARGUMENTS}: printed\n${output}\nexpected (${EXPECTED})\n${expected}\n"
                      "If it is right, build the target approve.")
endif()
