// SPDX-License-Identifier: Apache-2.0
// The position terms of a tile of scores, for one head of one document.
//
// If ids advance by one, everything depends on key index - query index: one vector (of numbers, or of rows) holds the
// whole matrix, and a tile reads a window of it. Otherwise it is looked up by the difference of ids or by the pair.
#pragma once

#include <unordered_map>
#include <vector>

#include "attention/aligned_floats.h"
#include "attention/problem.h"
#include "kernels/attend_simd.h"
#include "kernels/piece_rows.h"

namespace locus {

inline constexpr double log2_e = 1.4426950408889634;

/// A block of queries against a block of keys of a document.
struct TilePlace {
  std::int64_t first_query = 0, rows = 0;
  std::int64_t first_key = 0, columns = 0;
};

/// The numbers that tokens bring, for one head of one document.
class TokenNumbers {
 public:
  TokenNumbers(const Problem& problem, const Document& document, std::int64_t head);

  bool present() const { return count_ > 0; }
  /// Returns what is added to the score of a pair.
  double of(std::int64_t query, std::int64_t key) const;
  /// Adds it to a tile, times log2 e.
  void add(const TilePlace& tile, float* scores, std::int64_t stride) const;
  /// Returns the index of the number that applies to a pair: 0, or 1 for a key after the query if there are two.
  int which(std::int64_t query, std::int64_t key) const;
  static double sign(int which) { return which == 0 ? 1.0 : -1.0; }

 private:
  const Document& document_;
  std::int64_t count_ = 0;
  std::vector<double> query_[2], key_[2];
  std::vector<double> scaled_query_, scaled_key_;  ///< times log2 e, if there is one number
  decltype(AttendKernels::add_differences) add_differences_ = nullptr;
};

/// Where the pieces of a bias that is linear in a number by distance (BiasPieces) lie in the rows of a document whose
/// ids advance.
class PiecePlaces {
 public:
  static constexpr std::size_t spare = 64;  ///< a row reads whole vectors, of at most 2048 bits

  PiecePlaces(const Problem& problem, const Document& document);

  /// False: there are no pieces, or ids do not advance.
  bool present() const { return pieces_ != nullptr; }
  const BiasPieces& pieces() const { return *pieces_; }
  /// By the key: BiasPieces::by_distance of the pair. Readable up to whole vectors.
  const double* numbers(std::int64_t query, std::int64_t first_key) const;
  /// Of the query with this index; see PieceRows::query().
  PieceQuery query(std::int64_t index, std::vector<float>& room) const {
    return rows_->query(document_.query_ids[static_cast<std::size_t>(index)], room);
  }
  /// Calls visit(end, piece) for runs of the keys [first_key, first_key + columns); `end` counts from first_key.
  template <class Visit>
  void for_runs(const PieceQuery& own, const TilePlace& row, const Visit& visit) const;

 private:
  const Document& document_;
  const BiasPieces* pieces_ = nullptr;
  const PieceRows* rows_ = nullptr;
  std::vector<double> by_offset_;  ///< of key index - query index + queries - 1
};

/// The score bias of one head, times log2 e.
class BiasTerm {
 public:
  BiasTerm(const Problem& problem, const Document& document, std::int64_t head);

  bool present() const { return problem_.bias() != nullptr; }
  /// Query i and key j of the document: window(i, j)[c - r] is the bias of query i + r and key j + c. Null if ids do
  /// not advance.
  const float* window(std::int64_t query, std::int64_t key) const;
  /// The largest number that window() can point to; 0 without a bias.
  double largest() const { return largest_; }
  void add(const TilePlace& tile, float* scores, std::int64_t stride) const;

 private:
  double value(Position query, Position key) const;
  void add_pieces(const TilePlace& tile, float* scores, std::int64_t stride) const;

  const Problem& problem_;
  const Document& document_;
  std::int64_t head_;
  double factor_ = 0, largest_ = 0;
  Position first_offset_ = 0;
  std::vector<float> by_offset_;  ///< empty: evaluated for every pair
  TokenNumbers numbers_;
  PiecePlaces places_;
};

/// How a row of the relative_key site is used: multiplied by the query, multiplied by the key, or added to the value.
enum class RowUse : std::uint8_t { key, meeting, value };

/// The vector of a pair of positions (relative_key site), in double, with a bounded cache.
class RelativeRows {
 public:
  RelativeRows(const Problem& problem, std::int64_t head, RowUse use);
  const double* row(Position query, Position key);  ///< valid until the next call

 private:
  void compute(Position query, Position key, double* row) const;

  const Problem& problem_;
  const RelativeKeys& keys_;
  std::int64_t head_;
  const Tensor& table_;
  const Tensor* columns_;  ///< the table of the second row, or null
  std::unordered_map<std::int64_t, std::vector<double>> kept_;
  std::vector<double> looked_up_;
};

/// The tables of one head, packed as keys: the rows of the key table, then those of the column table; and the rows
/// that are multiplied by the keys.
struct PackedTables {
  std::int64_t columns_from = 0;  ///< the first row of the column table
  std::int64_t room = 0;          ///< rows, with padding; 0: no tables, or too large
  std::int64_t meeting_room = 0;
  AlignedFloats rows, meeting;
};
PackedTables pack_tables(const RelativeKeys& keys, std::int64_t head, const AttendKernels& kernels);

/// The queries of some rows for relative keys, and their products with every row of the tables.
struct PositionQueries {
  const float* queries = nullptr;   ///< [rows][dim]
  const float* products = nullptr;  ///< [rows][RelativeTerm::table_rows()]
  double* counts = nullptr;         ///< [rows]: the sums of the gates of later keys, read and updated
};

/// A query and a key of a document, for one query head.
struct PairOfHead {
  std::int64_t head = 0, query = 0, key = 0;
};
/// The gate of a pair whose rows are chosen by counting; `score` is scale q.k of its head.
double counted_gate(const Problem& problem, const Document& document, const PairOfHead& pair, double score);
/// Two rows of the table, and the share of the second.
struct CountedPlace {
  std::int64_t below, above;
  double share;
};
CountedPlace counted_place(const RelativeKeys& keys, double count);

/// The relative keys (and values) of one head.
class RelativeTerm {
 public:
  RelativeTerm(const Problem& problem, const Document& document, std::int64_t head, const AttendKernels& kernels);

  bool present() const { return keys_ != nullptr; }
  bool has_values() const { return present() && !keys_->value_table.data.empty(); }
  /// Whether rows are chosen by counting: blocks of keys must be visited from the last to the first.
  bool counted() const { return present() && keys_->counted; }
  /// Rows of all tables, rounded up to panels, if every query is multiplied by all of them; else 0.
  std::int64_t table_rows() const { return tables_.room; }

  /// Computes the queries for keys (content) and for relative keys (position), scaled, in base 2: both [rows][dim].
  void make_queries(const TilePlace& tile, float* content, float* position) const;
  /// Computes PositionQueries::products.
  void make_products(std::int64_t rows, const float* position, float* products) const;
  void add(const TilePlace& tile, const PositionQueries& position, float* scores, std::int64_t stride) const;
  /// The same for rows that are chosen by counting; `scores` must be without any other term.
  void add_counted(const TilePlace& tile, const TileRows& shape, const PositionQueries& position, float* scores,
                   std::int64_t stride) const;
  void add_values(const TilePlace& tile, const float* weights, std::int64_t stride, const TileRows& shape,
                  float* output, std::int64_t padded_dim) const;

 private:
  void add_window(const TilePlace& tile, const float* position, float* scores, std::int64_t stride) const;
  void add_tables(const TilePlace& tile, const float* products, float* scores, std::int64_t stride) const;
  void add_pairs(const TilePlace& tile, const float* position, float* scores, std::int64_t stride) const;
  AlignedFloats pack(RowUse use) const;
  float* key_rows(const TilePlace& tile, AlignedFloats& room) const;

  const Problem& problem_;
  const Document& document_;
  std::int64_t head_;
  const AttendKernels& kernels_;
  const RelativeKeys* keys_;
  std::int64_t offsets_ = 0;  ///< 0: ids do not advance
  AlignedFloats packed_keys_, packed_meeting_, packed_values_;
  PackedTables tables_;  ///< empty if ids advance
};

template <class Visit>
void PiecePlaces::for_runs(const PieceQuery& own, const TilePlace& row, const Visit& visit) const {
  const auto breaks = std::ssize(pieces_->breaks);
  const std::int64_t columns = row.columns;
  // Of column 0.
  const Position offset =
      document_.key_ids[0] + row.first_key - document_.query_ids[static_cast<std::size_t>(row.first_query)];
  const auto distance = static_cast<float>(std::abs(offset));
  std::int64_t piece = 0, end = 0;
  for (std::int64_t k = 0; k < breaks; ++k) piece += own.first[k] <= distance;
  const auto end_at = [&](double column) {  // a first distance may be infinite
    return column < static_cast<double>(columns) ? static_cast<std::int64_t>(column) : columns;
  };
  // Towards the query, then away from it.
  for (; offset < 0 && piece > 0 && end < columns; --piece) {
    end = end_at(static_cast<double>(-offset) - static_cast<double>(own.first[piece - 1]) + 1);
    if (end > 0) visit(end, piece);
  }
  for (; end < columns; ++piece) {
    end = piece == breaks ? columns : end_at(static_cast<double>(own.first[piece]) - static_cast<double>(offset));
    visit(end, piece);
  }
}

}  // namespace locus
