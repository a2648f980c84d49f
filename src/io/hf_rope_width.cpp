// SPDX-License-Identifier: Apache-2.0
// The width of a head and of its rotary slice.
#include "io/hf_rope.h"
#include "locus/scaling.h"

namespace locus::io {
namespace {

class RopeWidthReader {
 public:
  RopeWidthReader(Fields& fields, Fields& block, const LayerPlan& plan, const HfContext& context, std::string_view rule)
      : fields_(fields), block_(block), plan_(plan), context_(context), model_(context.model), rule_(rule) {}

  RopeWidth read() {
    if (!read_latent_width()) read_plain_width();
    return width_;
  }

 private:
  std::string why_default() const { return io::why_default(context_); }

  std::int64_t read_head_dim() {
    if (plan_.layer_type == full_attention && (model_.global_head_dim > 0 || fields_.has("global_head_dim"))) {
      if (const auto size = fields_.integer({"global_head_dim"})) return *size;
      fields_.note_default("global_head_dim", std::to_string(model_.global_head_dim), why_default());
      return model_.global_head_dim;
    }
    if (const auto size = fields_.integer({"head_dim", "kv_channels", "attention_head_dim", "hidden_size_per_head"})) {
      return *size;
    }
    if (model_.head_dim > 0) {
      fields_.note_default("head_dim", std::to_string(model_.head_dim), why_default());
      return model_.head_dim;
    }
    constexpr std::string_view by = "the width of a head (head_dim)";
    const std::int64_t hidden =
        with_default(read_hidden_size(fields_), model_.hidden_size, fields_, "hidden_size", context_, by) *
        (model_.double_width ? 2 : 1);
    const std::int64_t heads =
        with_default(read_heads(fields_), model_.heads, fields_, "num_attention_heads", context_, by);
    require(hidden >= heads, fields_.subject("hidden_size"), " must be at least the number of heads (", heads,
            "), got ", hidden);
    return hidden / heads;
  }

  /// The rotary part of a latent-attention head is separate.
  bool read_latent_width() {
    const bool latent = context_.listed ? model_.latent : fields_.has("qk_rope_head_dim");
    if (!latent) return false;
    if (!fields_.boolean({"use_mla"}).value_or(true)) {  // DeepSeek's small models have plain heads
      fields_.acknowledge({"qk_rope_head_dim"});
      width_.plain_heads = true;
      return false;
    }
    auto slice = fields_.integer({"qk_rope_head_dim"});
    if (!slice)
      slice = with_default(slice, model_.rotary_dim, fields_, "qk_rope_head_dim", context_, "latent attention");
    block_.acknowledge({"partial_rotary_factor"});
    fields_.acknowledge({"partial_rotary_factor"});
    width_.head_dim = *slice;
    set_rotary_dim(*slice, "qk_rope_head_dim");
    return true;
  }

  void read_plain_width() {
    width_.head_dim = read_head_dim();
    if (find_rule(rule_).whole_head) {
      width_.fraction = read_fraction();
      return set_rotary_dim(width_.head_dim, "head_dim");
    }
    if (plan_.fraction) return set_fraction(*plan_.fraction);
    if (const auto width = block_.integer({"rotary_dim"})) return set_rotary_dim(*width, "rotary_dim");
    if (model_.rotates_last && fields_.has("qk_rope_head_dim")) {
      return set_rotary_dim(*fields_.integer({"qk_rope_head_dim"}), "qk_rope_head_dim");
    }
    if (!gives_fraction()) {
      if (const auto width = fields_.integer({"rotary_dim"})) return set_rotary_dim(*width, "rotary_dim");
      if (model_.rotary_dim > 0 && !width_.plain_heads) {
        fields_.note_default("rotary_dim", std::to_string(model_.rotary_dim), why_default());
        return set_rotary_dim(model_.rotary_dim, "rotary_dim");
      }
    }
    fields_.acknowledge({"rotary_dim"});
    set_fraction(read_fraction());
  }

  void set_fraction(double fraction) {
    require(fraction <= 1, fields_.subject("partial_rotary_factor"), " must be at most 1, got ", fraction);
    set_rotary_dim(static_cast<std::int64_t>(static_cast<double>(width_.head_dim) * fraction), "partial_rotary_factor");
  }

  bool gives_fraction() const {
    return block_.has("partial_rotary_factor") || fields_.has("partial_rotary_factor") || fields_.has("rotary_pct") ||
           fields_.has("rope_pct") || fields_.has("rotary_emb_fraction");
  }

  double read_fraction() {
    auto fraction = block_.positive({"partial_rotary_factor"});
    if (fraction) {
      fields_.acknowledge({"partial_rotary_factor"});  // transformers writes a copy at the top level
    } else {
      fraction = fields_.positive({"partial_rotary_factor", "rotary_pct", "rope_pct", "rotary_emb_fraction"});
    }
    if (!fraction) {
      if (model_.rotary_fraction != 1 || find_rule(rule_).whole_head) {
        fields_.note_default("partial_rotary_factor", number_text(model_.rotary_fraction), why_default());
      }
      return model_.rotary_fraction;
    }
    require(*fraction <= 1, fields_.subject("partial_rotary_factor"), " must be at most 1, got ", *fraction);
    return *fraction;
  }

  void set_rotary_dim(std::int64_t rotary_dim, std::string_view key) {
    require(rotary_dim >= 1 && rotary_dim <= width_.head_dim, fields_.subject(key),
            " must give a rotary width from 1 to head_dim (", width_.head_dim, "), got ", rotary_dim);
    width_.rotary_dim = rotary_dim;
  }

  Fields& fields_;
  Fields& block_;
  const LayerPlan& plan_;
  const HfContext& context_;
  const HfModel& model_;
  std::string_view rule_;
  RopeWidth width_ = {};
};

}  // namespace

RopeWidth read_rope_width(Fields& fields, Fields& block, const LayerPlan& plan, const HfContext& context,
                          std::string_view rule) {
  return RopeWidthReader(fields, block, plan, context, rule).read();
}

}  // namespace locus::io
