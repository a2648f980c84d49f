# SPDX-License-Identifier: Apache-2.0
# The contents of `cmake --install` and of the packages, in five components:
#   runtime      the command, liblocus.so, completions, the manual, lessons and exercises
#   development  archives, headers, CMake and pkg-config files
#   lab          locus-lab, if it was built
#   mpi          locus::mpi and its command, if they were built
#   python       the Python package, if it was built
# The target locus_installed builds the first two.
include(GNUInstallDirs)
include(CMakePackageConfigHelpers)
set(LOCUS_CMAKE_DIR ${CMAKE_INSTALL_LIBDIR}/cmake/locus)

add_custom_target(locus_installed)
add_dependencies(locus_installed locus locus_io locus_doctor)
set(CMAKE_INSTALL_DEFAULT_COMPONENT_NAME development)
install(TARGETS locus locus_io locus_doctor EXPORT locusTargets INCLUDES DESTINATION ${CMAKE_INSTALL_INCLUDEDIR}
        LIBRARY COMPONENT runtime NAMELINK_COMPONENT development)
install(EXPORT locusTargets NAMESPACE locus:: DESTINATION ${LOCUS_CMAKE_DIR})
install(DIRECTORY include/locus DESTINATION ${CMAKE_INSTALL_INCLUDEDIR})
if(LOCUS_BUILD_C)
  # A separate export: a program that links liblocus.so needs none of its dependencies.
  add_dependencies(locus_installed locus_c locus_c_static)
  install(TARGETS locus_c EXPORT locusCTargets INCLUDES DESTINATION ${CMAKE_INSTALL_INCLUDEDIR}
          LIBRARY COMPONENT runtime NAMELINK_COMPONENT development)
  install(EXPORT locusCTargets NAMESPACE locus:: DESTINATION ${LOCUS_CMAKE_DIR})
  install(TARGETS locus_c_static EXPORT locusTargets INCLUDES DESTINATION ${CMAKE_INSTALL_INCLUDEDIR})
  install(DIRECTORY bindings/c/include/ DESTINATION ${CMAKE_INSTALL_INCLUDEDIR})
endif()
if(TARGET locus_mpi)
  # A separate export: only who asks for the component needs MPI.
  install(TARGETS locus_mpi EXPORT locusMpiTargets COMPONENT mpi OPTIONAL
          INCLUDES DESTINATION ${CMAKE_INSTALL_INCLUDEDIR})
  install(EXPORT locusMpiTargets NAMESPACE locus:: DESTINATION ${LOCUS_CMAKE_DIR} COMPONENT mpi)
endif()
if(TARGET locus_mpi_cli)
  install(TARGETS locus_mpi_cli COMPONENT mpi OPTIONAL)
endif()
if(TARGET locus_cli)
  add_dependencies(locus_installed locus_cli)
  install(TARGETS locus_cli COMPONENT runtime)
  # What `locus learn` lays out and grades by; the solutions stay in the sources.
  install(DIRECTORY learn/exercises DESTINATION ${CMAKE_INSTALL_DATADIR}/locus COMPONENT runtime
          PATTERN answers EXCLUDE PATTERN __pycache__ EXCLUDE PATTERN README.md EXCLUDE)
  install(DIRECTORY learn/en learn/es learn/notebooks DESTINATION ${CMAKE_INSTALL_DATADIR}/locus/lessons
          COMPONENT runtime)
endif()
if(TARGET locus_completions)
  add_dependencies(locus_installed locus_completions)
endif()
install(FILES LICENSE README.md CHANGELOG.md DESTINATION ${CMAKE_INSTALL_DOCDIR} COMPONENT runtime)
if(TARGET locus_lab)  # where `locus lab` looks for it
  install(TARGETS locus_lab DESTINATION ${CMAKE_INSTALL_LIBEXECDIR}/locus COMPONENT lab OPTIONAL)
endif()
if(TARGET locus_python)
  # Debian's packages are in a folder of their own, whatever the version.
  install(DIRECTORY ${LOCUS_PYTHON_PATH}/locus DESTINATION lib/python${LOCUS_PYTHON_VERSION}/site-packages COMPONENT python
          OPTIONAL PATTERN __pycache__ EXCLUDE)
  install(DIRECTORY ${LOCUS_PYTHON_PATH}/locus DESTINATION lib/python3/dist-packages COMPONENT python_debian
          EXCLUDE_FROM_ALL PATTERN __pycache__ EXCLUDE)
endif()
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

include(cmake/packages.cmake)
