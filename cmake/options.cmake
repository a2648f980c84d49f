# SPDX-License-Identifier: Apache-2.0
# One interface target carries the flags that every target of this project is compiled with.
add_library(locus_options INTERFACE)
target_compile_features(locus_options INTERFACE cxx_std_20)
target_compile_options(locus_options INTERFACE -Wall -Wextra -Wconversion -Wshadow)
if(LOCUS_WARNINGS_AS_ERRORS)
  target_compile_options(locus_options INTERFACE -Werror)
endif()
# Bits must not depend on the compiler's mood: fused multiply-add happens only where the code asks for it.
target_compile_options(locus_options INTERFACE -ffp-contract=off)
if(LOCUS_SANITIZE)
  target_compile_options(locus_options INTERFACE -fsanitize=${LOCUS_SANITIZE} -fno-sanitize-recover=all
                                                 -fno-omit-frame-pointer)
  target_link_options(locus_options INTERFACE -fsanitize=${LOCUS_SANITIZE})
endif()
find_program(LOCUS_CCACHE ccache)
if(LOCUS_CCACHE AND LOCUS_TOP_LEVEL)
  set(CMAKE_CXX_COMPILER_LAUNCHER ${LOCUS_CCACHE})
endif()
