# Says what a program was built from, for `ecosort --version`: written anew by every build, and only if it changed.
#   cmake -DSOURCE=... -DOUTPUT=... -DCOMPILER=... -DFLAGS=... -P build_info.cmake
set(commit "unknown")
find_program(GIT git)
if(DEFINED ENV{ECOSORT_COMMIT})  # of a source tree that is no checkout
  set(commit "$ENV{ECOSORT_COMMIT}")
elseif(GIT)
  execute_process(COMMAND ${GIT} -C ${SOURCE} describe --always --abbrev=40 --exclude=* --dirty=\ with\ changes
                  OUTPUT_VARIABLE found OUTPUT_STRIP_TRAILING_WHITESPACE ERROR_QUIET RESULT_VARIABLE failed)
  if(NOT failed)
    set(commit "${found}")
  endif()
endif()
string(REGEX REPLACE "-f(file|debug)-prefix-map=[^ ]*|-idirafter [^ ]*" "" flags "${FLAGS}")  # where it was built says nothing
string(REGEX REPLACE " +" " " flags "${flags}")
string(STRIP "${flags}" flags)
string(REPLACE "\"" "\\\"" flags "${flags}")
file(CONFIGURE OUTPUT ${OUTPUT} @ONLY CONTENT [[
// Written by build_info.cmake.
#pragma once
#define ECOSORT_COMMIT "@commit@"
#define ECOSORT_COMPILER "@COMPILER@"
#define ECOSORT_FLAGS "@flags@"
]])
