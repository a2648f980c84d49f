// SPDX-License-Identifier: Apache-2.0
// Encodings as JSON, in the files of models that Locus trained: config.json (`locus_encoding`) and GGUF
// (`locus_lab.encoding`).
#pragma once

#include <string>
#include <string_view>

#include "locus/encoding.h"
#include "locus/io/gguf.h"
#include "locus/io/hf_config.h"

namespace locus::io {

/// One line: {"arguments":{"clip_left":8,"key_table":{"shape":[17,16]}},"scheme":"shaw"}. Numbers keep all bits. Of a
/// tensor only the shape is written; the file holds the tensor under encoding_tensor_name().
std::string encoding_json(const Encoding& encoding);

/// Returns the scheme, its arguments without tensors, and the shapes of the tensors. `name` starts every message.
/// Error: text that is no such JSON. The scheme checks the values only when an Encoding is made.
LayerEncoding parse_encoding_json(std::string_view text, const std::string& name);

/// Returns the same text with another pairing.
std::string encoding_json_with(std::string_view text, Pairing pairing, const std::string& name);

/// Returns the encoding of a GGUF file of the architecture locus_lab, from its key locus_lab.encoding.
LayerEncoding gguf_lab_encoding(const GgufFile& file);

/// Returns the name of an argument's tensor in a model's file: `positions.key_table`.
std::string encoding_tensor_name(std::string_view argument);

}  // namespace locus::io
