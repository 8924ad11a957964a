# Kernels that need more than plain x86-64 live in files of their own and are chosen at run time. Takes out of the list of sources
# `list` those that the processor does not have, and gives the others their instruction sets.
function(ecosort_set_up_kernels list)
  set(sources ${${list}})
  if(NOT CMAKE_SYSTEM_PROCESSOR MATCHES "x86_64|AMD64")
    list(FILTER sources EXCLUDE REGEX "_(avx2|avx512)\\.cpp$")
  endif()
  if(NOT CMAKE_SYSTEM_PROCESSOR MATCHES "aarch64|arm64")
    list(FILTER sources EXCLUDE REGEX "_neon\\.cpp$")
  endif()
  set(${list} ${sources} PARENT_SCOPE)
  foreach(source ${sources})
    if(source MATCHES "_avx2\\.cpp$")
      set_source_files_properties(${source} PROPERTIES COMPILE_OPTIONS "-mavx2;-mbmi2;-mpclmul")
    elseif(source MATCHES "_avx512\\.cpp$")
      # The intrinsics of gcc 12 begin with values that are not set, and then it warns of them.
      set_source_files_properties(${source} PROPERTIES
        COMPILE_OPTIONS "-Wno-maybe-uninitialized;-mavx512f;-mavx512bw;-mavx512dq;-mavx512vl;-mavx512vbmi2;-mvpclmulqdq;-mpclmul;-mbmi2;-mprefer-vector-width=512")
    elseif(source MATCHES "block_checksum_neon\\.cpp$")
      # Unrolls the four vectors of a stripe, whose sums stay in registers then: half of the instructions (docs/measurements.md, M35).
      set_source_files_properties(${source} PROPERTIES COMPILE_OPTIONS "$<$<NOT:$<CONFIG:Debug>>:-O3>")
    endif()
  endforeach()
  # Precompiled headers and sources that are compiled together have one set of instructions.
  list(FILTER sources INCLUDE REGEX "_(avx2|avx512|neon)\\.cpp$")
  set_source_files_properties(${sources} PROPERTIES SKIP_PRECOMPILE_HEADERS ON SKIP_UNITY_BUILD_INCLUSION ON)
endfunction()
