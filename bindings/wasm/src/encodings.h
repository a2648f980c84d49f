// SPDX-License-Identifier: Apache-2.0
// Encodings by their spelling, as on the command line: `rope:head_dim=64,pairing=half` or `@/config.json`.
#pragma once

#include <string>

#include "javascript.h"
#include "locus/encoding.h"

namespace locus::wasm {

/// Returns the encoding of { spelling, layerType, length }. Recently used ones are kept, so that a page may ask for the
/// same encoding with every redraw. The reference lasts until the next call.
/// Error: as on the command line.
const Encoding& encoding_of(const val& chosen);

/// Forgets all kept encodings: call it when a file that they were read from has changed.
void forget_encodings();

}  // namespace locus::wasm
