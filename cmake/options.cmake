# SPDX-License-Identifier: Apache-2.0
# An interface target with the compile flags of every target of this project.
add_library(locus_options INTERFACE)
target_compile_features(locus_options INTERFACE cxx_std_20)
target_compile_options(locus_options INTERFACE -Wall -Wextra -Wconversion)
if(NOT LOCUS_UNITY_BUILD)  # in a unity build, a constant of one file may have the name of a parameter in another
  target_compile_options(locus_options INTERFACE -Wshadow)
endif()
if(LOCUS_WARNINGS_AS_ERRORS)
  target_compile_options(locus_options INTERFACE -Werror)
endif()
# The same bits from every compiler: fused multiply-add only where the code requests it.
target_compile_options(locus_options INTERFACE -ffp-contract=off)
# Saves two SIMD targets: CPUs with SSE4 but without AVX2 were made before 2013, and use SSE2. Every file that includes
# Highway must use the same list.
target_compile_definitions(locus_options INTERFACE "HWY_DISABLED_TARGETS=(HWY_SSSE3|HWY_SSE4)")
if(LOCUS_SANITIZE)
  target_compile_options(locus_options INTERFACE -fsanitize=${LOCUS_SANITIZE} -fno-sanitize-recover=all
                                                 -fno-omit-frame-pointer)
  target_link_options(locus_options INTERFACE -fsanitize=${LOCUS_SANITIZE})
endif()
find_program(LOCUS_CCACHE ccache)
if(LOCUS_CCACHE AND LOCUS_TOP_LEVEL)
  set(CMAKE_CXX_COMPILER_LAUNCHER ${LOCUS_CCACHE})
endif()

# The headers that nearly every file includes. Standard headers only: a change to any of them rebuilds everything.
set(LOCUS_STANDARD_HEADERS <algorithm> <array> <cmath> <cstdint> <functional> <limits> <map> <memory> <optional> <set> <span>
                           <sstream> <string> <string_view> <utility> <variant> <vector>)

# locus_precompile(TARGET HEADER...): precompiles headers for the many small files of a developer's build. A unity build
# has so few files that reading the headers again costs less than precompiling them.
function(locus_precompile target)
  if(NOT LOCUS_UNITY_BUILD)
    target_precompile_headers(${target} PRIVATE ${ARGN})
  endif()
endfunction()

# locus_unity(TARGET [EXCEPT ROOM...]): with LOCUS_UNITY_BUILD, compiles the files of a folder together, up to 20 at a
# time, so that headers are read and templates instantiated once. No two files of such a folder may define the same name
# in their unnamed namespaces. Files that Highway compiles once per target, and the listed folders, are compiled alone.
function(locus_unity target)
  cmake_parse_arguments(PARSE_ARGV 1 arg "" "" "EXCEPT")
  if(NOT LOCUS_UNITY_BUILD)
    return()
  endif()
  get_target_property(sources ${target} SOURCES)
  foreach(source ${sources})
    cmake_path(ABSOLUTE_PATH source)
    cmake_path(GET source PARENT_PATH folder)
    cmake_path(GET folder FILENAME room)
    file(STRINGS ${source} once_per_target REGEX "hwy/foreach_target" LIMIT_COUNT 1)
    # The registry is compiled alone too: tests/extension links another one instead.
    if(once_per_target OR source MATCHES "/encoding/registry\\.cpp$" OR room IN_LIST arg_EXCEPT)
      continue()
    endif()
    string(MAKE_C_IDENTIFIER ${room} room)
    math(EXPR count_${room} "${count_${room}} + 1")
    math(EXPR batch "(${count_${room}} - 1) / 20")
    set_source_files_properties(${source} PROPERTIES UNITY_GROUP ${room}_${batch})
  endforeach()
  set_target_properties(${target} PROPERTIES UNITY_BUILD ON UNITY_BUILD_MODE GROUP)
endfunction()

# locus_test_options(TARGET): with sanitizers, compiles the code of tests quickly: it calls the libraries, which stay checked
# for everything, and is itself only watched for addresses. Other builds choose for themselves.
function(locus_test_options target)
  if(LOCUS_SANITIZE)
    target_compile_options(${target} PRIVATE -O0 -fno-sanitize=undefined)
  endif()
  if(LOCUS_SANITIZE MATCHES "address")
    target_compile_options(${target} PRIVATE -fno-sanitize-address-use-after-scope)
  endif()
endfunction()

# locus_mend_torch(TARGET SCOPE): in C++20, clang 14 needs the whole class IValue where libtorch 1.13 only declares it.
function(locus_mend_torch target scope)
  if(CMAKE_CXX_COMPILER_ID STREQUAL "Clang")
    target_compile_options(${target} ${scope} "SHELL:-include ATen/core/ivalue.h")
  endif()
endfunction()
