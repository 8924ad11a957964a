# Installs what other programs use: headers, libecosort.so with versioned symbols, libecosort.a, pkg-config and CMake packages.
#   cmake --install build --component library --prefix /usr/local
include(GNUInstallDirs)
include(CMakePackageConfigHelpers)

set(ECOSORT_PACKAGING ${CMAKE_CURRENT_LIST_DIR})
set(ECOSORT_CMAKE_DIR ${CMAKE_INSTALL_LIBDIR}/cmake/ecosort)

add_library(libecosort_shared SHARED $<TARGET_OBJECTS:libecosort>)
set_target_properties(libecosort_shared PROPERTIES OUTPUT_NAME ecosort VERSION 1.${PROJECT_VERSION} SOVERSION 1
  LINK_DEPENDS ${ECOSORT_PACKAGING}/libecosort.map EXPORT_NAME ecosort)
target_link_options(libecosort_shared PRIVATE LINKER:--version-script=${ECOSORT_PACKAGING}/libecosort.map LINKER:--no-undefined)
target_link_libraries(libecosort_shared PRIVATE ${ECOSORT_FMT} ${URING_LIBRARY} PkgConfig::XXHASH Threads::Threads ${LIBMD_LIBRARY} ${ECOSORT_SHARED_CODECS})
target_include_directories(libecosort_shared INTERFACE $<INSTALL_INTERFACE:${CMAKE_INSTALL_INCLUDEDIR}>)
target_compile_features(libecosort_shared INTERFACE cxx_std_20)

configure_file(${ECOSORT_PACKAGING}/ecosort.pc.in ${CMAKE_CURRENT_BINARY_DIR}/ecosort.pc @ONLY)
write_basic_package_version_file(${CMAKE_CURRENT_BINARY_DIR}/ecosortConfigVersion.cmake COMPATIBILITY SameMinorVersion)
configure_file(${ECOSORT_PACKAGING}/ecosortConfig.cmake.in ${CMAKE_CURRENT_BINARY_DIR}/ecosortConfig.cmake COPYONLY)

install(DIRECTORY ${CMAKE_CURRENT_SOURCE_DIR}/../include/ecosort DESTINATION ${CMAKE_INSTALL_INCLUDEDIR} COMPONENT library)
install(TARGETS libecosort_shared EXPORT ecosortTargets LIBRARY DESTINATION ${CMAKE_INSTALL_LIBDIR} COMPONENT library)
install(FILES $<TARGET_FILE:libecosort> DESTINATION ${CMAKE_INSTALL_LIBDIR} COMPONENT library)
install(EXPORT ecosortTargets NAMESPACE ecosort:: DESTINATION ${ECOSORT_CMAKE_DIR} COMPONENT library)
install(FILES ${CMAKE_CURRENT_BINARY_DIR}/ecosortConfig.cmake ${CMAKE_CURRENT_BINARY_DIR}/ecosortConfigVersion.cmake
        DESTINATION ${ECOSORT_CMAKE_DIR} COMPONENT library)
install(FILES ${CMAKE_CURRENT_BINARY_DIR}/ecosort.pc DESTINATION ${CMAKE_INSTALL_LIBDIR}/pkgconfig COMPONENT library)
