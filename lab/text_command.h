// SPDX-License-Identifier: Apache-2.0
// `locus-lab text`: prints a test sequence of a task as text, for `locus probe --text`.
#pragma once

namespace locus::lab {

/// argv[1] is "text". Exit code 0, or 2 for bad input.
int text_main(int argc, char** argv);

}  // namespace locus::lab
