# Makes a build quicker and changes nothing in it: a precompiled header, sources that are compiled together, a compiler cache.
# -DECOSORT_FASTER_BUILDS=OFF compiles each source by itself, as a tool that reads the sources one by one wants it.
option(ECOSORT_FASTER_BUILDS "a precompiled header and several sources per object" ON)

find_program(ECOSORT_CCACHE ccache)
if(ECOSORT_CCACHE AND NOT CMAKE_CXX_COMPILER_LAUNCHER)
  # It must not expand the precompiled header again, and has to know that its contents show every change. Paths of the checkout are
  # those of any other one: files that include several sources name them so.
  get_filename_component(root ${CMAKE_CURRENT_LIST_DIR} DIRECTORY)
  set(CMAKE_CXX_COMPILER_LAUNCHER ${CMAKE_COMMAND} -E env CCACHE_SLOPPINESS=pch_defines,time_macros CCACHE_BASEDIR=${root}
      CCACHE_NOHASHDIR=1 ${ECOSORT_CCACHE})
  add_compile_options($<$<CXX_COMPILER_ID:GNU>:-fpch-preprocess>)
endif()

# The headers that most sources of the target include; further ones are given.
function(ecosort_precompile target)
  if(ECOSORT_FASTER_BUILDS)
    target_precompile_headers(${target} PRIVATE <algorithm> <array> <atomic> <bit> <cerrno> <charconv> <chrono> <cstddef> <cstdint>
      <cstring> <exception> <filesystem> <functional> <limits> <memory> <mutex> <optional> <span> <string> <string_view> <thread>
      <utility> <variant> <vector> <fmt/format.h> ${ARGN})
  endif()
endfunction()

# The sources of a folder become few objects. No object has more than so many: after an edit one of them is compiled.
set(ECOSORT_UNITED 16)
function(ecosort_unite target)
  if(NOT ECOSORT_FASTER_BUILDS)
    return()
  endif()
  # A source that is included is no header: coroutines that use its anonymous namespace are right.
  target_compile_options(${target} PRIVATE $<$<CXX_COMPILER_ID:GNU>:-Wno-subobject-linkage>)
  set_target_properties(${target} PROPERTIES UNITY_BUILD ON UNITY_BUILD_MODE GROUP)
  get_target_property(sources ${target} SOURCES)
  list(SORT sources)
  set(folders)
  foreach(source ${sources})
    get_source_file_property(stays_alone ${source} SKIP_UNITY_BUILD_INCLUSION)
    if(NOT stays_alone)
      get_filename_component(folder ${source} DIRECTORY)
      string(MD5 folder ${folder})
      list(APPEND folders ${folder})
      list(APPEND sources_${folder} ${source})
    endif()
  endforeach()
  list(REMOVE_DUPLICATES folders)
  foreach(folder ${folders})
    list(LENGTH sources_${folder} count)
    math(EXPR parts "(${count} + ${ECOSORT_UNITED} - 1) / ${ECOSORT_UNITED}")
    set(number 0)
    foreach(source ${sources_${folder}})
      math(EXPR part "${number} * ${parts} / ${count}")  # of like sizes
      set_source_files_properties(${source} PROPERTIES UNITY_GROUP ${folder}_${part})
      math(EXPR number "${number} + 1")
    endforeach()
  endforeach()
endfunction()
