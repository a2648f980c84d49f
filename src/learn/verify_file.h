// SPDX-License-Identifier: Apache-2.0
// Verifies a function that somebody wrote in a file of Python or C++: the doctor calls it in a process of its own.
#pragma once

#include <filesystem>
#include <vector>

#include "learn/course.h"
#include "locus/doctor/verify_callable.h"

namespace locus::learn {

/// Verifies what the file (.py or .cpp) has for the encoding's site: `rotate(x, positions)` for query_key, where x is
/// [tokens, heads, head_dim]; `bias(query_ids, key_ids)`, [heads, queries, keys], for score; `rows(positions)`,
/// [tokens, dim], for hidden. A C++ file serves its function as the exercises do (locus_exercise.h).
/// Error: another site, a rotation of queries that differs from that of keys, another ending of the file, a function
/// that is missing, does not compile, crashes, takes over ten minutes, or returns another shape.
std::vector<Check> verify_file(const Encoding& encoding, const Course& course, const std::filesystem::path& file,
                               const VerifyOptions& options = {});

}  // namespace locus::learn
