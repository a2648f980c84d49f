# SPDX-License-Identifier: Apache-2.0
# An overlay port: builds the checkout that it is in.
get_filename_component(SOURCE_PATH "${CURRENT_PORT_DIR}/../../.." ABSOLUTE)

vcpkg_check_features(OUT_FEATURE_OPTIONS FEATURE_OPTIONS FEATURES tools LOCUS_BUILD_TOOLS)
vcpkg_cmake_configure(
  SOURCE_PATH "${SOURCE_PATH}"
  OPTIONS
    ${FEATURE_OPTIONS}
    -DLOCUS_BUILD_TESTS=OFF
    -DLOCUS_BUILD_EXAMPLES=OFF
    -DLOCUS_BUILD_LAB=OFF
    -DLOCUS_BUILD_PYTHON=OFF
    -DLOCUS_BUILD_WEB=OFF
    -DLOCUS_WARNINGS_AS_ERRORS=OFF
    -DLOCUS_INSTALL=ON
)
vcpkg_cmake_install()
vcpkg_cmake_config_fixup(PACKAGE_NAME locus CONFIG_PATH lib/cmake/locus)
vcpkg_fixup_pkgconfig()
if("tools" IN_LIST FEATURES)
  vcpkg_copy_tools(TOOL_NAMES locus AUTO_CLEAN)
endif()
file(REMOVE_RECURSE "${CURRENT_PACKAGES_DIR}/debug/include" "${CURRENT_PACKAGES_DIR}/debug/share")
vcpkg_install_copyright(FILE_LIST "${SOURCE_PATH}/LICENSE")
