// SPDX-License-Identifier: Apache-2.0
// The files that a page embeds: the charts' script, the page's script and its style.
#pragma once

#include <string_view>

namespace locus::figures {

struct Assets {
  std::string_view
      charts_script;  ///< vega, vega-lite and vega-embed, after their licences; does not contain "</script"
  std::string_view page_script;
  std::string_view style;
};

/// False if Locus was built without npm.
bool has_assets();

/// Error: Locus was built without npm; the message says what to do.
Assets assets();

}  // namespace locus::figures
