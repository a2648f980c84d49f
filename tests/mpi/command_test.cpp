// SPDX-License-Identifier: Apache-2.0
// `locus-mpi` under mpirun: what it prints, its exit codes, and the end of a job that loses a rank.
#include <gtest/gtest.h>

#include <chrono>
#include <cstdlib>

#include "results/schema_check.h"
#include "support/command.h"

namespace locus::testing {
namespace {

using Json = nlohmann::json;

CommandResult run_ranks(int ranks, const std::vector<std::string>& program) {
  const TemporaryFolder folder;
  setenv("ASAN_OPTIONS", "detect_leaks=0", 1);  // Open MPI keeps what it allocates
  // In containers, with more ranks than processors.
  std::vector<std::string> words = {"--oversubscribe",
                                    "--allow-run-as-root",
                                    "--bind-to",
                                    "none",
                                    "--mca",
                                    "btl_vader_single_copy_mechanism",
                                    "none",
                                    "-n",
                                    std::to_string(ranks)};
  words.insert(words.end(), program.begin(), program.end());
  return run_command(LOCUS_MPIRUN, words, folder.path(), std::chrono::minutes(10));
}

TEST(LocusMpi, VerifyComparesEveryRank) {
  const CommandResult result = run_ranks(2, {LOCUS_MPI_COMMAND, "verify", "--scheme", "alibi", "--tokens", "20"});
  EXPECT_EQ(result.exit_code, 0) << result.out << result.err;
  EXPECT_NE(result.out.find(" 0 failed on 2 ranks"), std::string::npos) << result.out;
  EXPECT_EQ(result.out.find("FAIL"), std::string::npos) << result.out;
}

// Rank 2 alone has wrong ids: it is named, though rank 0 is right.
TEST(LocusMpi, VerifyNamesTheRankThatDiverges) {
  const CommandResult result =
      run_ranks(3, {LOCUS_MPI_COMMAND, "verify", "--scheme", "alibi", "--tokens", "20", "--broken", "ids"});
  EXPECT_EQ(result.exit_code, 1) << result.out << result.err;
  EXPECT_NE(result.out.find("FAIL"), std::string::npos) << result.out;
  EXPECT_NE(result.out.find("first token "), std::string::npos) << result.out;
  EXPECT_NE(result.out.find(" on rank 2: got "), std::string::npos) << result.out;
}

TEST(LocusMpi, BenchPrintsALinePerRank) {
  const CommandResult result =
      run_ranks(2, {LOCUS_MPI_COMMAND, "bench", "attention", "--tokens", "256", "--repeats", "1"});
  EXPECT_EQ(result.exit_code, 0) << result.out << result.err;
  EXPECT_NE(result.out.find("2 ranks, best of 1"), std::string::npos) << result.out;
}

// mpirun can start ranks with other words; they would wait for each other.
TEST(LocusMpi, OtherArgumentsOnARankAreRefused) {
  const CommandResult result = run_ranks(
      1, {LOCUS_MPI_COMMAND, "verify", "--scheme", "alibi", ":", "-n", "1", LOCUS_MPI_COMMAND, "bench", "attention"});
  EXPECT_EQ(result.exit_code, 2) << result.out << result.err;
  EXPECT_NE(result.err.find("locus-mpi: every rank must get the same arguments, rank 1 has others than rank 0\n"),
            std::string::npos)
      << result.err;
}

TEST(LocusMpi, BadInputIsOneLineOfOneRank) {
  const CommandResult result = run_ranks(2, {LOCUS_MPI_COMMAND, "bench", "attention", "--kind", "spiral"});
  EXPECT_EQ(result.exit_code, 2) << result.out << result.err;
  const std::string line = "locus-mpi: unknown --kind 'spiral'; known: contiguous, striped, zigzag\n";
  const std::size_t at = result.err.find(line);
  ASSERT_NE(at, std::string::npos) << result.err;
  EXPECT_EQ(result.err.find(line, at + 1), std::string::npos) << result.err;
}

/// What a command prints is an object of its schema; of what mpirun prints, only the last line is looked at.
Json checked_json(const std::vector<std::string>& words, int exit_code, const std::string& schema) {
  std::vector<std::string> program = {LOCUS_MPI_COMMAND};
  program.insert(program.end(), words.begin(), words.end());
  program.emplace_back("--json");
  const CommandResult result = run_ranks(2, program);
  EXPECT_EQ(result.exit_code, exit_code) << result.out << result.err;
  const Json json = Json::parse(result.out, nullptr, false);
  EXPECT_TRUE(json.is_object()) << result.out << result.err;
  EXPECT_EQ(schema_complaint(json, "docs/schemas/" + schema + ".schema.json"), "") << result.out;
  return json;
}

TEST(LocusMpi, JsonFollowsItsSchema) {
  const Json good = checked_json({"verify", "--scheme", "alibi", "--tokens", "9"}, 0, "mpi-verify");
  EXPECT_EQ(good["ranks"], 2);
  EXPECT_EQ(good["failed"], 0);
  EXPECT_EQ(good["passed"], good["checks"].size());
  const Json bad = checked_json({"verify", "--scheme", "alibi", "--tokens", "9", "--broken", "ids"}, 1, "mpi-verify");
  EXPECT_EQ(bad["checks"][0]["divergence"]["rank"], 1);
  const Json bench = checked_json({"bench", "attention", "--tokens", "64", "--repeats", "1"}, 0, "mpi-bench");
  EXPECT_EQ(bench["ranks"].size(), 2u);
}

TEST(LocusMpi, ARefusalIsJsonIfAskedFor) {
  const CommandResult result = run_ranks(2, {LOCUS_MPI_COMMAND, "bench", "attention", "--tokens", "0", "--json"});
  EXPECT_EQ(result.exit_code, 2) << result.err;
  const Json json = Json::parse(result.err.substr(0, result.err.find('\n')), nullptr, false);
  EXPECT_EQ(schema_complaint(json, "docs/schemas/error.schema.json"), "") << result.err;
}

double seconds_of(const std::string& how, CommandResult& result) {
  const auto start = std::chrono::steady_clock::now();
  result = run_ranks(3, {LOCUS_LOST_RANK, how});
  return std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
}

// The limit is 2 seconds; the time to start and to end a job on a busy machine comes on top.
TEST(LocusMpi, ARankThatHangsIsGivenUpAfterTheLimit) {
  CommandResult result;
  EXPECT_LT(seconds_of("hangs", result), 300);
  EXPECT_EQ(result.exit_code, 1) << result.err;
  EXPECT_NE(result.err.find(" waited 2 s (the limit) for "), std::string::npos) << result.err;
}

TEST(LocusMpi, ARankThatDiesEndsTheJob) {
  CommandResult result;
  EXPECT_LT(seconds_of("exits", result), 300);
  EXPECT_NE(result.exit_code, 0) << result.err;
}

}  // namespace
}  // namespace locus::testing
