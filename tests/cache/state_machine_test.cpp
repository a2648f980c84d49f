// SPDX-License-Identifier: Apache-2.0
// Random histories of operations, generated and shrunk by RapidCheck, on the cache and on a model of it (cache_model.h).
#include <gtest/gtest.h>
#include <rapidcheck.h>
#include <rapidcheck/gtest.h>
#include <rapidcheck/state.h>

#include "cache_model.h"

namespace locus::testing::cache_model {
namespace {

// ---- operations

Int upto(Int most) { return *rc::gen::inRange<Int>(0, most + 1); }

struct Command : rc::state::Command<Model, Sut> {
  explicit Command(const Model& model) {
    auto found = model.sequences.begin();
    std::advance(found, model.sequences.empty() ? 0 : upto(std::ssize(model.sequences) - 1));
    if (found == model.sequences.end()) return;
    sequence = found->first;
    length = std::ssize(found->second);
    begin = upto(length);
    end = begin + upto(length - begin);
    number = upto(40) - 20;
  }
  void checkPreconditions(const Model& model) const override {
    RC_PRE(model.sequences.contains(sequence));
    RC_PRE(std::ssize(model.sequences.at(sequence)) == length);
  }
  void show(std::ostream& out) const override {
    out << name() << "(sequence " << sequence << " of " << length << ", " << begin << " .. " << end << ", " << number
        << ")";
  }
  virtual const char* name() const = 0;
  // The state after the operation, which run() compares with the cache.
  Model after(const Model& model) const {
    Model next = model;
    apply(next);
    return next;
  }
  static void move(Token& token, const std::vector<Position>& ids) {
    token.moved = token.moved || ids != token.ids;
    token.ids = ids;
  }
  SequenceId sequence = -1;
  Int length = 0, begin = 0, end = 0, number = 0;
};

struct Create : Command {
  explicit Create(const Model& model) : Command(model) {}
  void checkPreconditions(const Model& model) const override { RC_PRE(model.sequences.size() < 6u); }
  const char* name() const override { return "create"; }
  void apply(Model& model) const override { model.sequences[model.lowest_free()]; }
  void run(const Model& model, Sut& sut) const override { RC_ASSERT(sut.cache.create() == model.lowest_free()); }
};

struct Append : Command {
  explicit Append(const Model& model) : Command(model), count(upto(40)), step(1 + upto(1)) {}
  void checkPreconditions(const Model& model) const override {
    Command::checkPreconditions(model);
    RC_PRE(length < 300);
  }
  const char* name() const override { return "append"; }
  // Two axes of three count as in an image of 5 columns.
  std::vector<Token> fresh(const Model& model) const {
    const Tokens& before = model.sequences.at(sequence);
    Position next = number;
    for (const Token& token : before) next = std::max(next, *std::max_element(token.ids.begin(), token.ids.end()) + 1);
    std::vector<Token> tokens;
    for (Int t = 0; t < count; ++t) {
      std::vector<Position> ids{next + t * step};
      if (model.axes == 3) ids = {next, next + t / 5, next + t % 5};
      tokens.push_back({.number = model.next + t, .ids = ids});
    }
    return tokens;
  }
  void apply(Model& model) const override {
    const std::vector<Token> tokens = fresh(model);
    Tokens& all = model.sequences.at(sequence);
    all.insert(all.end(), tokens.begin(), tokens.end());
    model.next += count;
  }
  template <class T>
  void append_as(const Model& model, Sut& sut, const std::vector<Position>& ids) const {
    std::vector<T> keys = tokens_of<T>(model.next, count), values = tokens_of<T>(model.next + 100000, count);
    sut.cache.append(sequence, view_of(keys), view_of(values), ids);
  }
  void run(const Model& model, Sut& sut) const override {
    const std::vector<Token> tokens = fresh(model);
    std::vector<Position> ids;
    for (Int axis = 0; axis < model.axes; ++axis) {
      for (const Token& token : tokens) ids.push_back(token.ids[static_cast<std::size_t>(axis)]);
    }
    const ElementType type = sut.setup.shape.type;
    const Int needed = sut.cache.pages_for(sequence, count), free = sut.cache.free_pages();
    if (type == ElementType::float32) append_as<float>(model, sut, ids);
    if (type == ElementType::bfloat16) append_as<BFloat16>(model, sut, ids);
    if (type == ElementType::float16) append_as<Float16>(model, sut, ids);
    if (!sut.setup.shape.share_equal_pages) RC_ASSERT(sut.cache.free_pages() == free - needed);
    check(after(model), sut, sequence);
  }
  Int count, step;
};

struct Fork : Command {
  explicit Fork(const Model& model) : Command(model) {}
  void checkPreconditions(const Model& model) const override {
    Command::checkPreconditions(model);
    RC_PRE(model.sequences.size() < 6u);
  }
  const char* name() const override { return "fork"; }
  void apply(Model& model) const override { model.sequences[model.lowest_free()] = model.sequences.at(sequence); }
  void run(const Model& model, Sut& sut) const override {
    const Int free = sut.cache.free_pages();
    RC_ASSERT(sut.cache.fork(sequence) == model.lowest_free());
    RC_ASSERT(sut.cache.free_pages() == free);
    check(after(model), sut, model.lowest_free());
  }
};

struct Free : Command {
  explicit Free(const Model& model) : Command(model) {}
  const char* name() const override { return "free"; }
  void apply(Model& model) const override { model.sequences.erase(sequence); }
  void run(const Model& model, Sut& sut) const override {
    sut.cache.free(sequence);
    for (const auto& [other, tokens] : after(model).sequences) check(model, sut, other);
    if (model.sequences.size() == 1)
      RC_ASSERT(sut.cache.free_pages() * sut.cache.shape().page_size == sut.cache.shape().capacity);
  }
};

struct Truncate : Command {
  explicit Truncate(const Model& model) : Command(model) {}
  const char* name() const override { return "truncate"; }
  void apply(Model& model) const override { model.sequences.at(sequence).resize(static_cast<std::size_t>(begin)); }
  void run(const Model& model, Sut& sut) const override {
    sut.cache.truncate(sequence, begin);
    check(after(model), sut, sequence);
  }
};

struct Keep : Command {
  explicit Keep(const Model& model) : Command(model), step(1 + upto(3)) {}
  const char* name() const override { return "keep"; }
  std::vector<Int> indices() const {
    std::vector<Int> all;
    for (Int i = begin; i < end; i += step) all.push_back(i);
    return all;
  }
  void apply(Model& model) const override {
    Tokens& tokens = model.sequences.at(sequence);
    Tokens kept(tokens.begin(), tokens.begin() + begin);
    for (const Int i : indices()) kept.push_back(tokens[static_cast<std::size_t>(i)]);
    tokens = kept;
  }
  void run(const Model& model, Sut& sut) const override {
    sut.cache.keep(sequence, begin, indices());
    for (const auto& [other, tokens] : model.sequences) check(after(model), sut, other);
  }
  Int step;
};

struct Slide : Command {
  explicit Slide(const Model& model) : Command(model), sinks(upto(8)), window(1 + upto(60)), renumber(upto(1) == 0) {}
  const char* name() const override { return "slide"; }
  void apply(Model& model) const override {
    const Tokens& tokens = model.sequences.at(sequence);
    Tokens kept;
    for (Int t = 0; t < length; ++t) {
      if (t < sinks || length - t <= window) kept.push_back(tokens[static_cast<std::size_t>(t)]);
    }
    const auto rest = static_cast<std::size_t>(std::min(sinks, length));
    if (renumber && model.axes == 1) {
      for (std::size_t t = 0; t < kept.size(); ++t) move(kept[t], {static_cast<Position>(t)});
    } else if (renumber) {
      const Position above = begin_at(std::span(kept).first(rest), 0);
      begin_at(std::span(kept).subspan(rest), rest == 0 ? 0 : above + 1);
    }
    model.sequences.at(sequence) = kept;
  }
  // Moves tokens so that their smallest id is `first`; returns the largest.
  static Position begin_at(std::span<Token> tokens, Position first) {
    Position low = max_position, high = -max_position;
    for (const Token& token : tokens) {
      for (const Position id : token.ids) low = std::min(low, id);
    }
    for (Token& token : tokens) {
      std::vector<Position> ids = token.ids;
      for (Position& id : ids) high = std::max(high, id += first - low);
      move(token, ids);
    }
    return high;
  }
  void run(const Model& model, Sut& sut) const override {
    sut.cache.slide(sequence, sinks, window, renumber);
    check(after(model), sut, sequence);
  }
  Int sinks, window;
  bool renumber;
};

struct Shift : Command {
  explicit Shift(const Model& model) : Command(model), part(upto(1) == 0) {}
  const char* name() const override { return "shift"; }
  std::vector<Position> deltas(Int axes) const {
    std::vector<Position> all;
    for (Int axis = 0; axis < axes; ++axis) all.push_back(part ? number + axis : number);
    return all;
  }
  void apply(Model& model) const override {
    Tokens& tokens = model.sequences.at(sequence);
    for (Int t = part ? begin : 0; t < (part ? end : length); ++t) {
      Token& token = tokens[static_cast<std::size_t>(t)];
      std::vector<Position> ids = token.ids;
      for (std::size_t axis = 0; axis < ids.size(); ++axis) ids[axis] += deltas(model.axes)[axis];
      move(token, ids);
    }
  }
  void run(const Model& model, Sut& sut) const override {
    part ? sut.cache.shift(sequence, begin, end, deltas(model.axes)) : sut.cache.shift(sequence, number);
    for (const auto& [other, tokens] : model.sequences) check(after(model), sut, other);
  }
  bool part;
};

struct Relocate : Command {
  explicit Relocate(const Model& model) : Command(model) {}
  const char* name() const override { return "relocate"; }
  void apply(Model& model) const override {
    for (Int t = begin; t < end; ++t) {
      Token& token = model.sequences.at(sequence)[static_cast<std::size_t>(t)];
      move(token, std::vector<Position>(token.ids.size(), number + t - begin));
    }
  }
  void run(const Model& model, Sut& sut) const override {
    sut.cache.relocate(sequence, begin, end, number);
    check(after(model), sut, sequence);
  }
};

struct Divide : Command {
  explicit Divide(const Model& model) : Command(model), group(1 + upto(3)) {}
  const char* name() const override { return "divide"; }
  void apply(Model& model) const override {
    for (Int t = begin; t < end; ++t) {
      Token& token = model.sequences.at(sequence)[static_cast<std::size_t>(t)];
      std::vector<Position> ids = token.ids;
      for (Position& id : ids) {
        id = static_cast<Position>(std::floor(static_cast<double>(id) / static_cast<double>(group)));
      }
      move(token, ids);
    }
  }
  void run(const Model& model, Sut& sut) const override {
    sut.cache.divide(sequence, begin, end, group);
    check(after(model), sut, sequence);
  }
  Int group;
};

struct Settle : Command {
  explicit Settle(const Model& model) : Command(model) {}
  const char* name() const override { return "settle"; }
  void apply(Model& model) const override {
    for (Token& token : model.sequences.at(sequence)) {
      if (model.rotates && !model.raw && token.moved) ++token.roundings;
      token.moved = false;
    }
  }
  void checkPreconditions(const Model& model) const override {
    Command::checkPreconditions(model);
    RC_PRE(length > 0);
  }
  // Attention over keys that moved has the bits of attention over settled ones.
  void run(const Model& model, Sut& sut) const override {
    const std::vector<float> query(static_cast<std::size_t>(2 * heads * dim), 0.3f);
    const std::vector<std::byte> before = outputs(sut, sequence, query, 1);
    sut.cache.settle(sequence);
    RC_ASSERT(outputs(sut, sequence, query, 1) == before);
    for (const auto& [other, tokens] : model.sequences) check(after(model), sut, other);
  }
};

class CacheStates : public ::testing::TestWithParam<std::size_t> {};

TEST_P(CacheStates, EqualTheModel) {
  const std::vector<Kind> all = kinds();
  const Kind& setup = all[GetParam()];
  const bool passed = rc::check(setup.name, [&] {
    Model model;
    model.rotates = setup.encoding.site() == Site::query_key;
    model.raw = setup.shape.form == KeyForm::raw;
    model.axes = model.rotates ? setup.encoding.rotation().axes : 1;
    model.sequences[0];
    Sut sut(setup);
    sut.cache.create();
    rc::state::check(model, sut,
                     rc::state::gen::execOneOfWithArgs<Append, Append, Append, Create, Fork, Free, Truncate, Keep,
                                                       Slide, Shift, Relocate, Divide, Settle>());
  });
  EXPECT_TRUE(passed);
}

INSTANTIATE_TEST_SUITE_P(KvCache, CacheStates, ::testing::Range(std::size_t{0}, std::size_t{16}));

}  // namespace
}  // namespace locus::testing::cache_model
