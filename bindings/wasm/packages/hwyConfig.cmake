# SPDX-License-Identifier: Apache-2.0
# Highway for WebAssembly: its headers. Its library, built for the host, is needed only to choose between SIMD targets.
add_library(hwy::hwy INTERFACE IMPORTED GLOBAL)
target_include_directories(hwy::hwy INTERFACE ${LOCUS_HOST_HEADERS})
