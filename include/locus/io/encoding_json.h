// SPDX-License-Identifier: Apache-2.0
// An encoding as JSON, for files of models that Locus itself trained: config.json (`locus_encoding`) and GGUF
// (`locus_lab.encoding`).
#pragma once

#include <string>
#include <string_view>

#include "locus/encoding.h"
#include "locus/io/gguf.h"
#include "locus/io/hf_config.h"

namespace locus::io {

/// One line: {"arguments":{"clip_left":8,"key_table":{"shape":[17,16]}},"scheme":"shaw"}. Numbers keep all their bits.
/// Tensors are told by their shape; they are kept beside it, under encoding_tensor_name.
std::string encoding_json(const Encoding& encoding);

/// The scheme, its arguments without tensors, and the shapes of these. `name` starts every message. Values are only
/// checked to be values: whether the scheme takes them is seen when an Encoding is made.
LayerEncoding parse_encoding_json(std::string_view text, const std::string& name);

/// The same text with another pairing.
std::string encoding_json_with(std::string_view text, Pairing pairing, const std::string& name);

/// The encoding of a GGUF file whose architecture is locus_lab: its key locus_lab.encoding.
LayerEncoding gguf_lab_encoding(const GgufFile& file);

/// What the tensor of an argument is called in a model's file: `positions.key_table`.
std::string encoding_tensor_name(std::string_view argument);

}  // namespace locus::io
