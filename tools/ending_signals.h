// SPDX-License-Identifier: Apache-2.0
// Removes temporary files when a signal ends the program.
#pragma once

namespace locus::tools {

/// From now on SIGINT, SIGTERM and SIGHUP first remove the files that are being written, then end the program as
/// before. Ignored signals (nohup) stay ignored. Call once, before other threads start.
void tidy_up_on_signals();

}  // namespace locus::tools
