// SPDX-License-Identifier: Apache-2.0
// `locus positions KIND`: prints or saves the ids of a plan.
#include "locus/positions.h"

#include <array>
#include <charconv>
#include <functional>
#include <iostream>
#include <memory>
#include <system_error>

#include "command.h"
#include "locus/document_shards.h"
#include "locus/error.h"
#include "locus/io/npy.h"
#include "position_list.h"

namespace locus::tools {

namespace {

/// What a kind prints: its ids, and further named numbers.
struct Plan {
  PositionIds ids;
  std::vector<std::string> axis_names = {};            ///< where there are several
  std::optional<std::vector<std::uint8_t>> mask = {};  ///< of padded kinds
  std::optional<std::vector<std::int64_t>> kept = {};  ///< of sinks: the ids' tokens in the text; of trees: the nodes
  std::optional<std::int64_t> decode_delta = {};       ///< of mrope
  std::optional<std::vector<Position>> visible_from = {};  ///< of compressed
  std::optional<std::vector<std::int64_t>> tokens = {};    ///< of shards of documents: [ranks][tokens], -1 for padding
  std::optional<std::vector<std::uint8_t>> sees = {};      ///< of trees: [nodes][nodes], in JSON only
};

const std::vector<std::string> mrope_axes = {"time", "height", "width"};

// ---- output

/// Omits the axis dimension for one axis, and then the batch dimension for one row.
std::vector<std::int64_t> shape_of(const PositionIds& ids) {
  if (ids.axes > 1) return {ids.axes, ids.batch, ids.tokens};
  if (ids.batch > 1) return {ids.batch, ids.tokens};
  return {ids.tokens};
}

/// The shape of what tokens have once, whatever the axes.
std::vector<std::int64_t> shape_of_row(PositionIds ids) {
  ids.axes = 1;
  return shape_of(ids);
}

/// Returns nested arrays of this shape, consuming `values`.
template <class Value>
Json nested(std::span<const std::int64_t> shape, std::span<const Value>& values) {
  Json array = Json::array();
  for (std::int64_t index = 0; index < shape.front(); ++index) {
    if (shape.size() > 1) {
      array.push_back(nested(shape.subspan(1), values));
    } else {
      array.push_back(values.front());
      values = values.subspan(1);
    }
  }
  return array;
}

template <class Value>
Json nested_array(const std::vector<std::int64_t>& shape, const std::vector<Value>& values) {
  std::span<const Value> rest(values);
  return nested(std::span(shape), rest);
}

void print_plan_json(const std::string& kind, const Plan& plan) {
  const std::vector<std::int64_t> shape = shape_of(plan.ids);
  Json object;
  object["kind"] = kind;
  object["axes"] = plan.ids.axes;
  object["batch"] = plan.ids.batch;
  object["tokens"] = plan.ids.tokens;
  if (!plan.axis_names.empty()) object["axis_names"] = plan.axis_names;
  object["ids"] = nested_array(shape, plan.ids.ids);
  if (plan.mask) object["mask"] = nested_array(shape_of_row(plan.ids), *plan.mask);
  if (plan.tokens) object["token_index"] = nested_array(shape_of_row(plan.ids), *plan.tokens);
  if (plan.kept) object["kept"] = *plan.kept;
  if (plan.decode_delta) object["decode_delta"] = *plan.decode_delta;
  if (plan.visible_from) object["visible_from"] = *plan.visible_from;
  if (plan.sees) object["sees"] = nested_array({plan.ids.tokens, plan.ids.tokens}, *plan.sees);
  print_json(object);
}

void print_row(const std::string& label, std::span<const std::int64_t> values) {
  std::cout << label;
  const char* separator = "";
  for (const std::int64_t value : values) {
    std::cout << separator << value;
    separator = ",";
  }
  std::cout << '\n';
}

/// Prints one line per row, with labels if there is more than one kind of row.
void print_plan_text(const Plan& plan) {
  const auto tokens = static_cast<std::size_t>(plan.ids.tokens);
  if (plan.kept) print_row("kept: ", *plan.kept);
  for (std::int64_t axis = 0; axis < plan.ids.axes; ++axis) {
    std::string label = plan.kept || plan.visible_from || plan.tokens ? "ids: " : "";
    if (!plan.axis_names.empty()) label = plan.axis_names[static_cast<std::size_t>(axis)] + ": ";
    for (std::int64_t row = 0; row < plan.ids.batch; ++row) {
      print_row(label, plan.ids.axis(axis).subspan(static_cast<std::size_t>(row) * tokens, tokens));
    }
  }
  for (std::int64_t row = 0; plan.tokens && row < plan.ids.batch; ++row) {
    print_row("tokens: ", std::span(*plan.tokens).subspan(static_cast<std::size_t>(row) * tokens, tokens));
  }
  if (plan.decode_delta) std::cout << "decode_delta: " << *plan.decode_delta << '\n';
  if (plan.visible_from) print_row("visible_from: ", *plan.visible_from);
}

void save_plan(const std::string& path, const Plan& plan) {
  const std::vector<std::int64_t> shape = shape_of(plan.ids);
  io::write_npy(path, std::span<const std::int64_t>(shape), std::span<const std::int64_t>(plan.ids.ids));
  std::cerr << "locus: wrote " << plan.ids.ids.size() << " ids to " << path << '\n';
}

// ---- shared by all kinds

/// Arguments are kept as text, because CLI11 reads 010 as eight and ignores overflow.
using Given = std::shared_ptr<std::string>;

Given add_text(CLI::App& command, const std::string& name, const std::string& meaning) {
  auto given = std::make_shared<std::string>();
  command.add_option(name, *given, meaning)->required();
  return given;
}

Given add_optional_text(CLI::App& command, const std::string& name, const std::string& meaning,
                        const std::string& fallback = "") {
  auto given = std::make_shared<std::string>(fallback);
  CLI::Option* option = command.add_option(name, *given, meaning);
  if (!fallback.empty()) option->capture_default_str();
  return given;
}

std::optional<std::int64_t> optional_integer(std::string_view name, const Given& given) {
  if (given->empty()) return {};
  return parse_integer(name, *given);
}

CLI::App& add_kind(CLI::App& parent, const std::string& name, const std::string& meaning, const std::string& example) {
  CLI::App* command = parent.add_subcommand(name, meaning);
  command->footer("Example:\n  locus positions " + name + " " + example);
  return *command;
}

/// Adds the options of all kinds and runs `make` when the kind is chosen. The closure keeps the arguments alive.
void on_run(CLI::App& command, std::function<Plan()> make) {
  auto json = std::make_shared<bool>(false);
  command.add_flag("--json", *json, "Print one JSON object");
  const Given output = add_optional_text(command, "--output", "Save the ids as int64 in this .npy file");
  command.callback([json, output, make = std::move(make), kind = command.get_name()] {
    const Plan plan = make();
    if (!output->empty()) save_plan(*output, plan);
    if (*json) {
      print_plan_json(kind, plan);
    } else if (output->empty()) {
      print_plan_text(plan);
    }
  });
}

/// The decode_delta of a plan with pictures: the ids then have three axes.
Given add_delta(CLI::App& command) {
  return add_optional_text(command, "--delta", "Set the decode_delta of a prefix with images (mrope prints it)");
}

// ---- one function per kind

void add_prefill(CLI::App& parent) {
  CLI::App& command = add_kind(parent, "prefill", "Number a sequence from its start", "5 --start 100");
  const Given tokens = add_text(command, "TOKENS", "Number of tokens");
  const Given start = add_optional_text(command, "--start", "Set the first id", "0");
  on_run(command,
         [=] { return Plan{positions::prefill(parse_integer("TOKENS", *tokens), parse_integer("--start", *start))}; });
}

void add_decode(CLI::App& parent) {
  CLI::App& command = add_kind(parent, "decode", "Number new tokens after a cached prefix", "12 3");
  const Given prefix = add_text(command, "PREFIX", "Number of cached tokens");
  const Given tokens = add_text(command, "TOKENS", "Number of new tokens");
  const Given delta = add_delta(command);
  on_run(command, [=] {
    const std::int64_t cached = parse_integer("PREFIX", *prefix), count = parse_integer("TOKENS", *tokens);
    const auto by = optional_integer("--delta", delta);
    if (!by) return Plan{positions::decode(cached, count)};
    return Plan{positions::multimodal_decode({cached, *by}, count), mrope_axes};
  });
}

Plan padded_plan(positions::Padded padded) { return {std::move(padded.ids), {}, std::move(padded.mask)}; }

void add_padded(CLI::App& parent, const std::string& side, decltype(positions::left_padded)& pad) {
  CLI::App& command = add_kind(parent, side + "-padded", "Number a batch with padding on the " + side, "3,5,2");
  const Given lengths = add_text(command, "LENGTHS", "Tokens in each row, e.g. 3,5,2");
  const Given width = add_optional_text(command, "--width", "Set the slots in each row [longest row]");
  const Given pad_id = add_optional_text(command, "--pad-id", "Set the id of padding", "0");
  on_run(command, [=, &pad] {
    return padded_plan(pad(parse_integers("LENGTHS", *lengths), optional_integer("--width", width),
                           parse_integer("--pad-id", *pad_id)));
  });
}

positions::Padded from_mask_file(const std::string& path, Position pad_id) {
  const io::NpyArray array = io::read_npy(path);
  require(array.shape.size() == 2, path, " must have shape [batch, tokens], got ", array.shape.size(), " dimensions");
  std::vector<std::uint8_t> mask;
  if (array.type == io::NpyType::boolean) {
    const std::span<const std::uint8_t> bytes = array.as<std::uint8_t>();
    mask.assign(bytes.begin(), bytes.end());
  } else {
    for (const std::int64_t entry : io::to_integers(array, path)) {
      require(entry == 0 || entry == 1, path, " must hold 0 and 1 only, got ", entry);
      mask.push_back(static_cast<std::uint8_t>(entry));
    }
  }
  return positions::from_mask(mask, array.shape[0], array.shape[1], pad_id);
}

positions::Padded from_mask_rows(const std::string& text, Position pad_id) {
  const std::vector<std::string_view> rows = split(text, ',');
  std::vector<std::uint8_t> mask;
  for (const std::string_view row : rows) {
    require(row.size() == rows.front().size(), "MASK rows must have the same length (", rows.front().size(), "), got ",
            row);
    for (const char entry : row) {
      require(entry == '0' || entry == '1', "MASK must hold 0 and 1 only, got '", entry, "' in ", row);
      mask.push_back(entry == '1' ? 1 : 0);
    }
  }
  return positions::from_mask(mask, static_cast<std::int64_t>(rows.size()),
                              static_cast<std::int64_t>(rows.front().size()), pad_id);
}

void add_mask(CLI::App& parent) {
  CLI::App& command = add_kind(parent, "mask", "Number a batch by its attention mask", "0011,1111");
  const Given mask = add_text(command, "MASK", "Rows of 0 and 1, e.g. 0011,1111, or a .npy file [batch, tokens]");
  const Given pad_id = add_optional_text(command, "--pad-id", "Set the id of masked slots", "0");
  on_run(command, [=] {
    const Position pad = parse_integer("--pad-id", *pad_id);
    return padded_plan(mask->ends_with(".npy") ? from_mask_file(*mask, pad) : from_mask_rows(*mask, pad));
  });
}

void add_packed(CLI::App& parent) {
  CLI::App& command = add_kind(parent, "packed", "Number packed documents, each from 0", "3,5,2");
  const Given lengths = add_text(command, "LENGTHS", "Tokens in each document, e.g. 3,5,2");
  on_run(command, [=] { return Plan{positions::packed(parse_integers("LENGTHS", *lengths))}; });
}

void add_cumulative(CLI::App& parent) {
  CLI::App& command =
      add_kind(parent, "cumulative", "Number packed documents by their boundaries (cu_seqlens)", "0,3,8,10");
  const Given boundaries = add_text(command, "BOUNDARIES", "Where documents start and end, e.g. 0,3,8,10");
  on_run(command, [=] { return Plan{positions::packed_from_cumulative(parse_integers("BOUNDARIES", *boundaries))}; });
}

positions::ShardKind parse_shard_kind(const std::string& text) {
  if (text == "contiguous") return positions::ShardKind::contiguous;
  if (text == "striped") return positions::ShardKind::striped;
  if (text == "zigzag") return positions::ShardKind::zigzag;
  fail("--kind must be contiguous, striped or zigzag, got ", text);
}

/// The shard of a rank, or of all ranks one after another.
Plan plan_of_shards(positions::ShardKind kind, const std::vector<std::int64_t>& lengths, std::int64_t ranks,
                    std::optional<std::int64_t> one) {
  Plan plan{.ids = {}, .mask = std::vector<std::uint8_t>(), .tokens = std::vector<std::int64_t>()};
  const std::int64_t first = one.value_or(0);
  const std::int64_t last = one ? first + 1 : ranks;
  for (std::int64_t rank = first; rank < std::max(last, first + 1); ++rank) {
    const positions::DocumentShard shard = positions::document_shard(kind, lengths, ranks, rank);
    plan.ids.tokens = shard.ids.tokens;
    plan.ids.batch = rank - first + 1;
    plan.ids.ids.insert(plan.ids.ids.end(), shard.ids.ids.begin(), shard.ids.ids.end());
    plan.mask->insert(plan.mask->end(), shard.mask.begin(), shard.mask.end());
    plan.tokens->insert(plan.tokens->end(), shard.tokens.begin(), shard.tokens.end());
  }
  return plan;
}

void add_shards(CLI::App& parent) {
  CLI::App& command = add_kind(parent, "shards", "Number a sequence sharded over ranks, one row per rank",
                               "16 --ranks 2 --kind zigzag\n  locus positions shards 7,12,5 --ranks 2 --kind zigzag");
  const Given tokens =
      add_text(command, "TOKENS",
               "Number of tokens; or those of each packed document, e.g. 7,12,5, which are padded and cut alone");
  const Given ranks = add_text(command, "--ranks", "Set the number of ranks");
  const Given rank = add_optional_text(command, "--rank", "Print this rank only, counted from 0");
  const Given kind = add_optional_text(command, "--kind", "Shard contiguous, striped or zigzag", "contiguous");
  auto pad = std::make_shared<bool>(false);
  command.add_flag("--pad", *pad, "Pad one sequence too, to a multiple of the ranks (zigzag: of twice the ranks)");
  on_run(command, [=] {
    const positions::ShardKind shard_kind = parse_shard_kind(*kind);
    const std::vector<std::int64_t> lengths = parse_integers("TOKENS", *tokens);
    const std::int64_t rank_count = parse_integer("--ranks", *ranks);
    const std::optional<std::int64_t> one = optional_integer("--rank", rank);
    if (*pad || lengths.size() != 1) return plan_of_shards(shard_kind, lengths, rank_count, one);
    return Plan{one ? positions::shard(shard_kind, lengths[0], rank_count, *one)
                    : positions::shards(shard_kind, lengths[0], rank_count)};
  });
}

void add_tree(CLI::App& parent) {
  CLI::App& command =
      add_kind(parent, "tree", "Number a speculative tree: a node's id is its depth", "--parents -1,0,0,1 --prefix 10");
  const Given parents = add_text(command, "--parents", "Set each node's parent, -1 for a root, such as -1,0,0,1");
  const Given prefix = add_optional_text(command, "--prefix", "Set the number of tokens before the tree", "0");
  const Given delta = add_delta(command);
  const Given accepted = add_optional_text(
      command, "--accepted", "Print what stays when verification accepts the path to this node, counted from 0");
  on_run(command, [=] {
    const std::vector<std::int64_t> nodes = parse_integers("--parents", *parents);
    const std::int64_t before = parse_integer("--prefix", *prefix);
    const auto by = optional_integer("--delta", delta);
    Plan plan;
    if (by) plan.axis_names = mrope_axes;
    plan.ids = by ? positions::multimodal_tree(nodes, {before, *by}) : positions::tree(nodes, before);
    const auto last = optional_integer("--accepted", accepted);
    if (!last) {
      plan.sees = positions::ancestor_mask(nodes);
      return plan;
    }
    plan.kept = positions::accepted_path(nodes, *last);
    PositionIds path{.axes = plan.ids.axes, .batch = 1, .tokens = std::ssize(*plan.kept), .ids = {}};
    for (std::int64_t axis = 0; axis < plan.ids.axes; ++axis) {
      for (const std::int64_t node : *plan.kept) {
        path.ids.push_back(plan.ids.axis(axis)[static_cast<std::size_t>(node)]);
      }
    }
    plan.ids = std::move(path);
    return plan;
  });
}

void add_compressed(CLI::App& parent) {
  CLI::App& command =
      add_kind(parent, "compressed", "Number keys that stand for several tokens each (DeepSeek V4)", "6 --rate 4");
  const Given entries = add_text(command, "ENTRIES", "Number of compressed keys");
  const Given rate = add_text(command, "--rate", "Set the tokens per key");
  on_run(command, [=] {
    positions::Compressed plan =
        positions::compressed(parse_integer("ENTRIES", *entries), parse_integer("--rate", *rate));
    return Plan{.ids = std::move(plan.ids), .visible_from = std::move(plan.visible_from)};
  });
}

void add_sinks(CLI::App& parent) {
  CLI::App& command =
      add_kind(parent, "sinks", "Number a cache of sinks and a window (StreamingLLM)", "10 --sinks 4 --window 4");
  const Given seen = add_text(command, "TOKENS", "Number of tokens seen");
  const Given sinks = add_text(command, "--sinks", "Keep this many first tokens");
  const Given window = add_text(command, "--window", "Keep this many last tokens");
  on_run(command, [=] {
    positions::Streaming plan = positions::streaming(parse_integer("TOKENS", *seen), parse_integer("--sinks", *sinks),
                                                     parse_integer("--window", *window));
    return Plan{std::move(plan.ids), {}, {}, std::move(plan.kept)};
  });
}

/// `text:5`, `audio:50`, `audio:50@0.5`, `image:1x4x6`, `video:8x4x6`, `video:8x4x6@2.5` or, with its sound,
/// `video:8x4x6@25+audio:200`.
positions::Segment parse_segment(std::string_view text, std::int64_t ids_per_chunk) {
  if (const std::size_t plus = text.find('+'); plus != std::string_view::npos) {
    const std::string_view before = text.substr(0, plus), after = text.substr(plus + 1);
    require(before.starts_with("video:") && after.starts_with("audio:"),
            "SEGMENTS joined by + must be a video and its sound, video:TxHxW[@SCALE]+audio:N[@SCALE], got ", text);
    return positions::VideoWithSound{.video = std::get<positions::Vision>(parse_segment(before, ids_per_chunk)),
                                     .audio = std::get<positions::Audio>(parse_segment(after, ids_per_chunk)),
                                     .ids_per_chunk = ids_per_chunk};
  }
  const std::size_t colon = text.find(':');
  const std::string_view kind = text.substr(0, colon);
  const std::string_view size = colon == std::string_view::npos ? "" : text.substr(colon + 1);
  if (kind == "text") return positions::Text{parse_integer("text tokens", size)};
  const std::size_t at = kind == "image" ? std::string_view::npos : size.find('@');
  if (kind == "audio") {
    positions::Audio audio{parse_integer("audio tokens", size.substr(0, at))};
    if (at != std::string_view::npos) audio.time_scale = parse_real("time scale", size.substr(at + 1));
    return audio;
  }
  require(kind == "image" || kind == "video",
          "SEGMENTS must be text:N, audio:N[@SCALE], image:TxHxW or video:TxHxW[@SCALE], got ", text);
  const std::vector<std::string_view> sides = split(size.substr(0, at), 'x');
  require(sides.size() == 3, kind, " must have a size TxHxW, got '", size, "'");
  positions::Vision vision{parse_integer("frames", sides[0]), parse_integer("height", sides[1]),
                           parse_integer("width", sides[2])};
  if (at != std::string_view::npos) vision.time_scale = parse_real("time scale", size.substr(at + 1));
  return vision;
}

void add_mrope(CLI::App& parent) {
  CLI::App& command = add_kind(parent, "mrope", "Number text with images, videos and sound (Qwen2-VL M-RoPE)",
                               "text:5 image:1x4x6 text:3\n  locus positions mrope video:8x4x6@2.5 text:3\n"
                               "  locus positions mrope text:5 video:4x4x6@25+audio:100 text:3\n"
                               "  locus positions mrope text:9 --cached 32 --delta -18\n"
                               "  locus positions mrope text:5 image:1x4x6 --ranks 2 --rank 1 --kind zigzag");
  auto segments = std::make_shared<std::vector<std::string>>();
  command
      .add_option("SEGMENTS", *segments,
                  "text:N, audio:N[@SCALE], image:TxHxW or video:TxHxW[@SCALE]; sizes in tokens, SCALE in ids per "
                  "frame or token of sound; a video with its sound (Qwen2.5-Omni): video:...+audio:...")
      ->required();
  const Given chunk_ids =
      add_optional_text(command, "--ids-per-chunk", "Set the ids of a piece of a video with its sound", "50");
  const Given cached = add_optional_text(command, "--cached", "Continue after this many tokens", "0");
  const Given delta = add_optional_text(command, "--delta", "Set the decode_delta of the cached tokens", "0");
  const Given first = add_optional_text(command, "--first", "Print a chunk of the plan from this token on");
  const Given tokens = add_optional_text(command, "--tokens", "Set the tokens of the chunk [all from --first on]");
  const Given ranks = add_optional_text(command, "--ranks", "Shard the plan over this many ranks, with padding");
  const Given rank = add_optional_text(command, "--rank", "Set the rank whose shard to print", "0");
  const Given kind = add_optional_text(command, "--kind", "Shard contiguous, striped or zigzag", "contiguous");
  on_run(command, [=] {
    std::vector<positions::Segment> parsed;
    const std::int64_t ids_per_chunk = parse_integer("--ids-per-chunk", *chunk_ids);
    for (const std::string& segment : *segments) parsed.push_back(parse_segment(segment, ids_per_chunk));
    positions::Multimodal plan =
        positions::multimodal_after({parse_integer("--cached", *cached), parse_integer("--delta", *delta)}, parsed);
    const std::int64_t from = optional_integer("--first", first).value_or(0);
    const std::int64_t count = optional_integer("--tokens", tokens).value_or(plan.ids.tokens - from);
    if (!first->empty() || !tokens->empty()) plan.ids = positions::chunk(plan.ids, from, count);
    if (ranks->empty()) return Plan{std::move(plan.ids), mrope_axes, {}, {}, plan.decode_delta};
    const std::int64_t own = parse_integer("--rank", *rank);
    positions::DocumentShard shard = positions::document_shard(parse_shard_kind(*kind), std::array{plan.ids.tokens},
                                                               parse_integer("--ranks", *ranks), own);
    return Plan{.ids = positions::cut(plan.ids, shard),
                .axis_names = mrope_axes,
                .mask = std::move(shard.mask),
                .decode_delta = plan.decode_delta,
                .tokens = std::move(shard.tokens)};
  });
}

void add_grid(CLI::App& parent) {
  CLI::App& command = add_kind(parent, "grid", "Number the patches of an image by row and column", "4x6 --merge 2");
  const Given size = add_text(command, "SIZE", "Rows and columns, e.g. 4x6");
  const Given merge = add_optional_text(command, "--merge", "Order patches in blocks of this side", "1");
  on_run(command, [=] {
    const std::vector<std::string_view> sides = split(*size, 'x');
    require(sides.size() == 2, "SIZE must be rows x columns, e.g. 4x6, got ", *size);
    return Plan{positions::grid(parse_integer("rows", sides[0]), parse_integer("columns", sides[1]),
                                parse_integer("--merge", *merge)),
                {"row", "column"}};
  });
}

}  // namespace

void add_positions_command(CLI::App& app) {
  CLI::App& parent = *app.add_subcommand("positions", "Plan position ids");
  parent.require_subcommand(1);
  parent.footer(
      "Example:\n  locus positions left-padded 3,5,2\n  locus positions mrope text:5 image:1x4x6 text:3 --json");
  add_prefill(parent);
  add_decode(parent);
  add_padded(parent, "left", positions::left_padded);
  add_padded(parent, "right", positions::right_padded);
  add_mask(parent);
  add_packed(parent);
  add_cumulative(parent);
  add_shards(parent);
  add_tree(parent);
  add_compressed(parent);
  add_sinks(parent);
  add_mrope(parent);
  add_grid(parent);
}

}  // namespace locus::tools
