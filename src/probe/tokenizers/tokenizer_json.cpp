// SPDX-License-Identifier: Apache-2.0
// Hugging Face's tokenizer.json: a BPE model and the normalizer, pre-tokenizer, decoder and post-processor around it.
// Every supported part is listed here; other types are refused with their name.
#include <algorithm>
#include <iterator>

#include "locus/error.h"
#include "parse/byte_reader.h"
#include "parse/strict_json.h"
#include "probe/tokenizers/bpe_tokenizer.h"
#include "probe/tokenizers/byte_tokens.h"

namespace locus::probe {
namespace {

using Json = nlohmann::json;

class JsonReader {
 public:
  JsonReader(const Json& root, const std::string& name) : root_(root), name_(name) {}

  BpeParts read(std::string_view config) {
    parts_.byte_level = false;
    read_model(object_of(root_, "model"));
    read_added();
    read_part("normalizer", &JsonReader::normalizer);
    read_part("pre_tokenizer", &JsonReader::pre_tokenizer);
    read_part("decoder", &JsonReader::decoder);
    read_part("post_processor", &JsonReader::post_processor);
    if (!config.empty()) read_config(io::parse_strict_json(config, name_ + " (tokenizer_config.json)"));
    parts_.facts.kind = std::string("tokenizer.json ") + (parts_.byte_level ? "byte-level BPE" : "BPE");
    return std::move(parts_);
  }

 private:
  using Part = void (JsonReader::*)(const Json&, const std::string&);

  const Json& object_of(const Json& from, const char* key) const {
    const auto found = from.find(key);
    require(found != from.end() && found->is_object(), name_, ": ", key, " must be an object");
    return *found;
  }
  /// Returns the text of a key; empty if it is absent or null.
  std::string text_of(const Json& from, const char* key) const {
    const auto found = from.find(key);
    if (found == from.end() || found->is_null()) return {};
    require(found->is_string(), name_, ": ", key, " must be a string, got ", found->type_name());
    return found->get<std::string>();
  }
  bool flag_of(const Json& from, const char* key, bool otherwise = false) const {
    const auto found = from.find(key);
    if (found == from.end() || found->is_null()) return otherwise;
    require(found->is_boolean(), name_, ": ", key, " must be true or false, got ", found->type_name());
    return found->get<bool>();
  }
  TokenId id_of(const Json& value) const {
    require(value.is_number_integer() && value.is_number_unsigned() && value.get<std::uint64_t>() < (1U << 24U), name_,
            ": a token id must be from 0 to 2^24 - 1, got ", [&] { return io::shown(value.dump()); });
    return static_cast<TokenId>(value.get<std::uint64_t>());
  }
  std::optional<TokenId> find(const std::string& spelling) const {
    const auto found = ids_.find(spelling);
    return found == ids_.end() ? std::nullopt : std::optional(found->second);
  }

  void add(const std::string& spelling, TokenId id, TokenRole role) {
    const auto index = static_cast<std::size_t>(id);
    Vocabulary& vocabulary = parts_.vocabulary;
    if (index >= vocabulary.spellings.size()) {
      vocabulary.spellings.resize(index + 1);
      vocabulary.roles.resize(index + 1, TokenRole::unused);
    }
    require(
        vocabulary.spellings[index].empty() || vocabulary.spellings[index] == spelling, name_, ": the id ", id,
        " belongs to ", [&] { return io::shown(vocabulary.spellings[index]); }, " and to ",
        [&] { return io::shown(spelling); });
    vocabulary.spellings[index] = spelling;
    vocabulary.roles[index] = role;
    ids_.emplace(spelling, id);
  }

  void read_model(const Json& model) {
    const std::string type = text_of(model, "type");
    require(
        type == "BPE" || (type.empty() && model.contains("merges")), name_, ": a model of type ",
        [&] { return io::shown(type); }, " is not supported; known: BPE");
    const auto dropout = model.find("dropout");
    require(dropout == model.end() || dropout->is_null() || *dropout == 0, name_, ": dropout is not supported");
    for (const char* key : {"continuing_subword_prefix", "end_of_word_suffix"}) {
      require(text_of(model, key).empty(), name_, ": ", key, " is not supported");
    }
    const Json& vocabulary = object_of(model, "vocab");
    for (const auto& [spelling, id] : vocabulary.items()) {
      // A small file must not cause large allocations: ids are dense except for a few gaps.
      require(static_cast<std::size_t>(id_of(id)) < 2 * vocabulary.size() + 1024, name_, ": the id ", id_of(id),
              " is too large for a vocabulary of ", vocabulary.size());
      add(spelling, id_of(id), TokenRole::normal);
    }
    require(!parts_.vocabulary.spellings.empty(), name_, ": vocab must not be empty");
    read_merges(model);
    parts_.byte_fallback = flag_of(model, "byte_fallback");
    parts_.fuse_unknown = flag_of(model, "fuse_unk");
    parts_.whole_words = flag_of(model, "ignore_merges");
    if (const std::string unknown = text_of(model, "unk_token"); !unknown.empty()) {
      parts_.facts.unknown = find(unknown);
      require(
          parts_.facts.unknown.has_value(), name_, ": unk_token ", [&] { return io::shown(unknown); },
          " is not in the vocabulary");
    }
  }

  void read_merges(const Json& model) {
    const auto merges = model.find("merges");
    require(merges != model.end() && merges->is_array(), name_, ": merges must be a list");
    for (const Json& merge : *merges) {
      if (merge.is_array() && merge.size() == 2 && merge[0].is_string() && merge[1].is_string()) {
        parts_.merges.emplace_back(merge[0].get<std::string>(), merge[1].get<std::string>());
        continue;
      }
      require(merge.is_string(), name_, ": a merge must be a string or a pair of strings, got ", merge.type_name());
      const auto& text = merge.get_ref<const std::string&>();
      const std::size_t space = text.find(' ');
      require(space != std::string::npos && space > 0 && space + 1 < text.size(), name_,
              ": a merge must be two tokens separated by a space, got ", [&] { return io::shown(text); });
      parts_.merges.emplace_back(text.substr(0, space), text.substr(space + 1));
    }
  }

  void read_added() {
    const auto added = root_.find("added_tokens");
    if (added == root_.end() || added->is_null()) return;
    require(added->is_array(), name_, ": added_tokens must be a list");
    const std::size_t most = 2 * (parts_.vocabulary.spellings.size() + added->size()) + 1024;
    for (const Json& token : *added) {
      require(token.is_object() && token.contains("id"), name_, ": an added token must be an object with an id");
      const AddedToken one{text_of(token, "content"), id_of(token["id"]), flag_of(token, "special"),
                           flag_of(token, "lstrip"), flag_of(token, "rstrip")};
      require(static_cast<std::size_t>(one.id) < most, name_, ": the id ", one.id, " of an added token is too large");
      require(!flag_of(token, "single_word"), name_, ": single_word is not supported, got it in the added token ",
              [&] { return io::shown(one.text); });
      add(one.text, one.id, one.control ? TokenRole::control : TokenRole::user_defined);
      parts_.added.push_back(one);
    }
  }

  /// Visits the part or, if it is a Sequence, each of its parts.
  void read_part(const char* key, Part part) {
    const auto found = root_.find(key);
    if (found != root_.end() && !found->is_null()) read_each(key, *found, part, 0);
  }
  void read_each(const std::string& what, const Json& one, Part part, int depth) {
    require(one.is_object(), name_, ": ", what, " must be an object, got ", one.type_name());
    const std::string type = text_of(one, "type");
    if (type != "Sequence") return (this->*part)(one, type);
    require(depth < 4, name_, ": ", what, " has sequences nested more than 4 deep");
    for (const char* list : {"normalizers", "pretokenizers", "decoders", "processors"}) {
      if (!one.contains(list)) continue;
      require(one[list].is_array(), name_, ": ", list, " must be a list");
      for (const Json& inner : one[list]) read_each(what, inner, part, depth + 1);
    }
  }
  [[noreturn]] void refuse(const char* what, const std::string& type) const {
    fail(name_, ": a ", what, " of type ", io::shown(type), " is not supported");
  }

  void normalizer(const Json& one, const std::string& type) {
    static constexpr std::pair<std::string_view, NormalForm> forms[] = {
        {"NFC", NormalForm::nfc}, {"NFD", NormalForm::nfd}, {"NFKC", NormalForm::nfkc}, {"NFKD", NormalForm::nfkd}};
    const auto form =
        std::find_if(std::begin(forms), std::end(forms), [&](const auto& known) { return known.first == type; });
    if (form != std::end(forms)) {
      require(!parts_.form && parts_.prefix.empty() && parts_.shown_as.empty(), name_, ": the normalizer ", type,
              " must come first and alone; other orders are not supported");
      parts_.form = form->second;
    } else if (type == "Prepend") {
      parts_.prefix = text_of(one, "prepend");
    } else if (type == "Replace") {
      const Json& pattern = object_of(one, "pattern");
      require(text_of(pattern, "String") == " " && parts_.shown_as.empty(), name_,
              ": a normalizer that replaces something other than a space is not supported");
      parts_.shown_as = text_of(one, "content");
    } else {
      refuse("normalizer", type);
    }
  }

  void pre_tokenizer(const Json& one, const std::string& type) {
    if (type == "ByteLevel") {
      byte_level_ = true;
      parts_.space_prefix = flag_of(one, "add_prefix_space", true);
      if (flag_of(one, "use_regex", true)) parts_.steps.push_back({SplitPattern(gpt2_pattern, name_)});
    } else if (type == "Split") {
      split_step(one);
    } else if (type == "Digits") {
      parts_.steps.push_back({SplitPattern(flag_of(one, "individual_digits") ? R"(\p{N})" : R"(\p{N}+)", name_)});
    } else if (type == "Metaspace") {
      metaspace(one);
    } else {
      refuse("pre_tokenizer", type);
    }
    parts_.byte_level = byte_level_;
  }

  void split_step(const Json& one) {
    const Json& pattern = object_of(one, "pattern");
    const bool regex = pattern.contains("Regex");
    SplitStep step{regex ? SplitPattern(text_of(pattern, "Regex"), name_)
                         : SplitPattern::literal(text_of(pattern, "String"))};
    const std::string behavior = text_of(one, "behavior");
    if (behavior == "Removed") {
      (flag_of(one, "invert") ? step.keeps_gaps : step.keeps_matches) = false;
    } else {
      require(
          behavior == "Isolated", name_, ": a Split of behavior ", [&] { return io::shown(behavior); },
          " is not supported; known: Isolated, Removed");
    }
    parts_.steps.push_back(std::move(step));
  }

  void metaspace(const Json& one) {
    require(parts_.shown_as.empty() && parts_.prefix.empty(), name_, ": Metaspace after Prepend or Replace");
    parts_.shown_as = text_of(one, "replacement");
    require(parts_.shown_as == shown_space, name_, ": Metaspace must replace a space by U+2581, got ",
            [&] { return io::shown(parts_.shown_as); });
    std::string scheme = text_of(one, "prepend_scheme");
    if (scheme.empty()) scheme = flag_of(one, "add_prefix_space", true) ? "always" : "never";
    require(scheme == "always" || scheme == "first" || scheme == "never", name_,
            ": prepend_scheme must be always, first or never, got ", [&] { return io::shown(scheme); });
    if (scheme != "never") parts_.prefix = parts_.shown_as;
    parts_.prefix_first_only = scheme == "first";
    parts_.prefix_if_missing = true;
    if (flag_of(one, "split", true)) parts_.steps.push_back({SplitPattern("▁[^▁]*|[^▁]+", name_)});
  }

  void decoder(const Json& one, const std::string& type) {
    if (type == "Strip") {
      require(text_of(one, "content") == " " && one.value("start", Json(0)) == 1 && one.value("stop", Json(0)) == 0,
              name_, ": a decoder may only strip one space at the start");
      parts_.strips_leading_space = true;
    } else if (type == "Metaspace") {
      parts_.strips_leading_space = text_of(one, "prepend_scheme") != "never" && flag_of(one, "add_prefix_space", true);
    } else if (type == "Replace") {
      require(text_of(object_of(one, "pattern"), "String") == parts_.shown_as && text_of(one, "content") == " ", name_,
              ": a decoder that replaces something other than the space character is not supported");
    } else if (type == "ByteLevel") {
      require(parts_.byte_level, name_, ": a ByteLevel decoder needs a ByteLevel pre_tokenizer");
    } else if (type != "ByteFallback" && type != "Fuse") {
      refuse("decoder", type);
    }
  }

  /// Reads only the beginning-of-sequence token: the one before the text in the template of a single sequence.
  void post_processor(const Json& one, const std::string& type) {
    if (type == "ByteLevel") return;  // affects offsets, not tokens
    if (type != "TemplateProcessing") refuse("post_processor", type);
    const auto single = one.find("single");
    require(single != one.end() && single->is_array(), name_, ": TemplateProcessing.single must be a list");
    if (single->empty() || !(*single)[0].is_object() || !(*single)[0].contains("SpecialToken")) return;
    const std::string name = text_of(object_of((*single)[0], "SpecialToken"), "id");
    parts_.facts.bos = find(name);
    require(
        parts_.facts.bos.has_value(), name_, ": the template's token ", [&] { return io::shown(name); },
        " is not in the vocabulary");
    parts_.facts.adds_bos = true;
  }

  void read_config(const Json& config) {
    const auto named = [&](const char* key) {
      const auto found = config.find(key);
      const bool nested = found != config.end() && found->is_object();
      const std::string spelling = nested ? text_of(*found, "content") : text_of(config, key);
      return spelling.empty() ? std::nullopt : find(spelling);
    };
    if (!parts_.facts.bos) parts_.facts.bos = named("bos_token");
    if (!parts_.facts.unknown && !parts_.byte_level) parts_.facts.unknown = named("unk_token");
    parts_.facts.eos = named("eos_token");
    parts_.facts.adds_bos = flag_of(config, "add_bos_token", parts_.facts.adds_bos);
  }

  const Json& root_;
  const std::string& name_;
  BpeParts parts_;
  bool byte_level_ = false;
  std::unordered_map<std::string, TokenId> ids_;
};

}  // namespace

std::unique_ptr<Tokenizer> parse_tokenizer_json(std::string_view json, const std::string& name,
                                                std::string_view config) {
  const Json root = io::parse_strict_json(json, name);
  return make_bpe(JsonReader(root, name).read(config), name);
}

}  // namespace locus::probe
