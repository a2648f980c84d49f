// SPDX-License-Identifier: Apache-2.0
// What must hold for any bytes that a reader is given: it throws locus::Error, or what it returns is consistent and can be
// used. One function per reader; NAME_fuzz.cpp gives it any bytes, NAME_made_fuzz.cpp files built from choices.
#pragma once

#include <cstddef>
#include <span>
#include <string>
#include <string_view>

namespace locus::fuzz {

using Bytes = std::span<const std::byte>;

inline std::string_view text_in(Bytes bytes) { return {reinterpret_cast<const char*>(bytes.data()), bytes.size()}; }

void check_gguf(Bytes bytes);
void check_hf_config(std::string_view text);
void check_llama2c(Bytes bytes);
void check_npy(Bytes bytes);
void check_npz(Bytes bytes);
void check_rope_settings(Bytes bytes);
void check_safetensors(Bytes bytes);
void check_tokenizer(Bytes bytes);
/// The tokenizer in a GGUF file.
void check_gguf_tokenizer(Bytes bytes);
void check_results(std::string_view text);

}  // namespace locus::fuzz
