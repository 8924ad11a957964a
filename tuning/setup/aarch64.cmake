# CMake toolchain for 64-bit ARM (Raspberry Pi 5 and the like) with Debian's cross compiler. The libraries come from
# ECOSORT_SYSROOT (made by tuning/setup/sysroot), the C and C++ runtime from the compiler's own packages.
set(CMAKE_SYSTEM_NAME Linux)
set(CMAKE_SYSTEM_PROCESSOR aarch64)
set(CMAKE_C_COMPILER aarch64-linux-gnu-gcc)
set(CMAKE_CXX_COMPILER aarch64-linux-gnu-g++)
set(CMAKE_LIBRARY_ARCHITECTURE aarch64-linux-gnu)

list(APPEND CMAKE_TRY_COMPILE_PLATFORM_VARIABLES ECOSORT_SYSROOT)
set(CMAKE_FIND_ROOT_PATH ${ECOSORT_SYSROOT})
set(CMAKE_FIND_ROOT_PATH_MODE_PROGRAM NEVER)
set(CMAKE_FIND_ROOT_PATH_MODE_LIBRARY ONLY)
set(CMAKE_FIND_ROOT_PATH_MODE_INCLUDE ONLY)
set(CMAKE_FIND_ROOT_PATH_MODE_PACKAGE ONLY)
set(ENV{PKG_CONFIG_SYSROOT_DIR} ${ECOSORT_SYSROOT})
set(ENV{PKG_CONFIG_LIBDIR} ${ECOSORT_SYSROOT}/usr/lib/aarch64-linux-gnu/pkgconfig:${ECOSORT_SYSROOT}/usr/share/pkgconfig)

# Every header and library of the tree, after the compiler's own.
set(CMAKE_CXX_FLAGS_INIT "-idirafter ${ECOSORT_SYSROOT}/usr/include")
set(CMAKE_EXE_LINKER_FLAGS_INIT "-Wl,-rpath-link,${ECOSORT_SYSROOT}/usr/lib/aarch64-linux-gnu:${ECOSORT_SYSROOT}/lib/aarch64-linux-gnu")
