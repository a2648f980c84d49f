// SPDX-License-Identifier: Apache-2.0
// Signals that end the program leave no temporary files behind.
#pragma once

namespace locus::tools {

/// From now on SIGINT, SIGTERM and SIGHUP first remove the files that are being written, then end the program as they
/// always did. Signals that are ignored (nohup) stay so. Call once, before other threads are started.
void tidy_up_on_signals();

}  // namespace locus::tools
