# SPDX-License-Identifier: Apache-2.0
# The contents of `cmake --install` and of the Debian package: command, libraries, headers, CMake and pkg-config files.
include(GNUInstallDirs)
include(CMakePackageConfigHelpers)
set(LOCUS_CMAKE_DIR ${CMAKE_INSTALL_LIBDIR}/cmake/locus)

install(TARGETS locus locus_io locus_doctor EXPORT locusTargets INCLUDES DESTINATION ${CMAKE_INSTALL_INCLUDEDIR})
install(EXPORT locusTargets NAMESPACE locus:: DESTINATION ${LOCUS_CMAKE_DIR})
install(DIRECTORY include/locus DESTINATION ${CMAKE_INSTALL_INCLUDEDIR})
if(LOCUS_BUILD_C)
  # A separate export: a program that links liblocus.so needs none of its dependencies.
  install(TARGETS locus_c EXPORT locusCTargets INCLUDES DESTINATION ${CMAKE_INSTALL_INCLUDEDIR})
  install(EXPORT locusCTargets NAMESPACE locus:: DESTINATION ${LOCUS_CMAKE_DIR})
  install(TARGETS locus_c_static EXPORT locusTargets INCLUDES DESTINATION ${CMAKE_INSTALL_INCLUDEDIR})
  install(FILES bindings/c/include/locus.h DESTINATION ${CMAKE_INSTALL_INCLUDEDIR})
endif()
if(TARGET locus_mpi)
  # A separate export: only who asks for the component needs MPI.
  install(TARGETS locus_mpi EXPORT locusMpiTargets OPTIONAL INCLUDES DESTINATION ${CMAKE_INSTALL_INCLUDEDIR})
  install(EXPORT locusMpiTargets NAMESPACE locus:: DESTINATION ${LOCUS_CMAKE_DIR})
endif()
if(TARGET locus_mpi_cli)
  install(TARGETS locus_mpi_cli OPTIONAL)
endif()
if(TARGET locus_cli)
  install(TARGETS locus_cli)
  # What `locus learn` lays out and grades by; the solutions stay in the sources.
  install(DIRECTORY learn/exercises DESTINATION ${CMAKE_INSTALL_DATADIR}/locus
          PATTERN answers EXCLUDE PATTERN __pycache__ EXCLUDE PATTERN README.md EXCLUDE)
endif()
install(FILES LICENSE README.md CHANGELOG.md DESTINATION ${CMAKE_INSTALL_DOCDIR})
if(BUILD_SHARED_LIBS)  # the libraries find each other after the tree is moved
  set(shared_targets locus locus_io locus_doctor)
  if(LOCUS_BUILD_C)
    list(APPEND shared_targets locus_c)
  endif()
  set_target_properties(${shared_targets} PROPERTIES INSTALL_RPATH "$ORIGIN")
  if(TARGET locus_cli)
    set_target_properties(locus_cli PROPERTIES INSTALL_RPATH "$ORIGIN/../${CMAKE_INSTALL_LIBDIR}")
  endif()
endif()

# A program that links an archive must link its dependencies too.
set(LOCUS_LINKS_HWY OFF)
set(LOCUS_LINKS_ZLIB OFF)
if(NOT BUILD_SHARED_LIBS)
  set(LOCUS_LINKS_HWY ON)
  if(TARGET ZLIB::ZLIB)
    set(LOCUS_LINKS_ZLIB ON)
  endif()
endif()
configure_package_config_file(cmake/locusConfig.cmake.in ${PROJECT_BINARY_DIR}/locusConfig.cmake
                              INSTALL_DESTINATION ${LOCUS_CMAKE_DIR} NO_SET_AND_CHECK_MACRO)
write_basic_package_version_file(${PROJECT_BINARY_DIR}/locusConfigVersion.cmake COMPATIBILITY SameMinorVersion)
install(FILES ${PROJECT_BINARY_DIR}/locusConfig.cmake ${PROJECT_BINARY_DIR}/locusConfigVersion.cmake
        DESTINATION ${LOCUS_CMAKE_DIR})

set(LOCUS_PC_REQUIRES "")
if(LOCUS_LINKS_HWY)
  set(LOCUS_PC_REQUIRES "libhwy")
endif()
if(LOCUS_LINKS_ZLIB)
  string(APPEND LOCUS_PC_REQUIRES " zlib")
endif()
# Paths are relative to the .pc file, so that the installed tree can be moved.
file(RELATIVE_PATH LOCUS_PC_PREFIX "/prefix/${CMAKE_INSTALL_LIBDIR}/pkgconfig" "/prefix")
foreach(name locus locus-cpp)
  configure_file(cmake/${name}.pc.in ${PROJECT_BINARY_DIR}/${name}.pc @ONLY)
endforeach()
install(FILES ${PROJECT_BINARY_DIR}/locus-cpp.pc DESTINATION ${CMAKE_INSTALL_LIBDIR}/pkgconfig)
if(LOCUS_BUILD_C)
  install(FILES ${PROJECT_BINARY_DIR}/locus.pc DESTINATION ${CMAKE_INSTALL_LIBDIR}/pkgconfig)
endif()

# `cpack -G DEB` in the build folder. dpkg-shlibdeps finds the dependencies of the command and of liblocus.so; linking the
# archives also needs Highway's development files.
set(CPACK_GENERATOR DEB)
set(CPACK_PACKAGE_NAME locus)
set(CPACK_PACKAGE_CONTACT "The Locus contributors")
set(CPACK_PACKAGE_DESCRIPTION_SUMMARY "${PROJECT_DESCRIPTION}")
set(CPACK_PACKAGING_INSTALL_PREFIX /usr)
set(CPACK_STRIP_FILES ON)
set(CPACK_DEBIAN_FILE_NAME DEB-DEFAULT)
set(CPACK_DEBIAN_PACKAGE_SECTION science)
set(CPACK_DEBIAN_PACKAGE_SHLIBDEPS ON)
set(CPACK_DEBIAN_PACKAGE_GENERATE_SHLIBS ON)
set(CPACK_DEBIAN_PACKAGE_SUGGESTS "libhwy-dev, zlib1g-dev, pkg-config, cmake")
include(CPack)
