// SPDX-License-Identifier: Apache-2.0
// Help, completions and the manual of the command, which all come from the same declarations.
#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <filesystem>
#include <set>
#include <sstream>

#include "cli/locus_command.h"
#include "locus/registry.h"

namespace locus::testing {
namespace {

/// The names that a help text lists under "Subcommands:" or, at the top, under the four groups.
std::vector<std::string> subcommands_in(const std::string& help) {
  static const std::set<std::string> titles = {"Subcommands:", "Inspect:", "Check:", "Run:", "Measure:"};
  std::vector<std::string> names;
  bool listing = false;
  std::istringstream lines(help);
  for (std::string line; std::getline(lines, line);) {
    if (line.empty()) listing = false;
    if (listing && line.starts_with("  ") && line[2] != ' ') names.push_back(line.substr(2, line.find(' ', 2) - 2));
    if (titles.contains(line)) listing = true;
  }
  return names;
}

/// Every command with its words: "locus", "locus show", "locus probe loss", ...
std::vector<std::string> all_commands(const TemporaryFolder& folder) {
  std::vector<std::string> commands = {"locus"};
  for (std::size_t i = 0; i < commands.size(); ++i) {
    std::vector<std::string> arguments = words(commands[i] + " --help");
    arguments.erase(arguments.begin());
    for (const std::string& name : subcommands_in(run_locus(folder, arguments).out)) {
      commands.push_back(commands[i] + " " + name);
    }
  }
  return commands;
}

/// Another program declares the commands below `locus lab`.
bool is_declared(const std::string& command) { return command != "locus" && !command.starts_with("locus lab "); }

TEST(Help, EverySubcommandHasHelpWithAnExample) {
  const TemporaryFolder folder;
  const std::vector<std::string> commands = all_commands(folder);
  for (const std::string& command : commands) {
    std::vector<std::string> arguments = words(command + " --help");
    arguments.erase(arguments.begin());
    const CommandResult result = run_locus(folder, arguments);
    EXPECT_EQ(result.exit_code, 0) << command;
    EXPECT_EQ(result.err, "") << command;
    const std::size_t example = result.out.find("Example");
    ASSERT_NE(example, std::string::npos) << command;
    EXPECT_NE(result.out.find(command + " ", example), std::string::npos) << command << "\n" << result.out;
  }
  EXPECT_GE(commands.size(), 1u + 6 + 12);  // list, show, apply, bias, resize, positions, and twelve kinds of positions
}

TEST(Help, GroupsTheCommands) {
  const TemporaryFolder folder;
  const std::string help = output_of(folder, "--help");
  std::size_t last = 0;
  for (const std::string title : {"\nInspect:\n", "\nCheck:\n", "\nRun:\n", "\nMeasure:\n"}) {
    const std::size_t at = help.find(title);
    ASSERT_NE(at, std::string::npos) << title << help;
    EXPECT_GT(at, last);
    last = at;
  }
  EXPECT_EQ(help.find("Subcommands:"), std::string::npos) << "a command without a group\n" << help;
  EXPECT_LT(help.find("  diagnose "), help.find("\nRun:\n"));
  EXPECT_GT(help.find("  diagnose "), help.find("\nCheck:\n"));
}

TEST(Help, IsWhatTheBareCommandPrints) {
  const TemporaryFolder folder;
  const CommandResult bare = run_locus(folder, std::vector<std::string>{});
  EXPECT_EQ(bare.exit_code, 0);
  EXPECT_EQ(bare.err, "");
  EXPECT_EQ(bare.out, output_of(folder, "--help"));
}

/// Characters of UTF-8.
std::size_t columns(const std::string& line) {
  return static_cast<std::size_t>(
      std::count_if(line.begin(), line.end(), [](char c) { return (static_cast<unsigned char>(c) & 0xC0) != 0x80; }));
}

TEST(Help, FitsTheTerminal) {
  const TemporaryFolder folder;
  const std::vector<std::string> commands = all_commands(folder);
  for (const std::string width : {"80", "100"}) {
    setenv("COLUMNS", width.c_str(), 1);
    for (const std::string& command : commands) {
      std::istringstream lines(output_of(folder, (command + " --help").substr(6)));
      for (std::string line; std::getline(lines, line);) {
        if (line.find("locus ") != std::string::npos) continue;  // examples stay on their line, to be copied
        EXPECT_LE(columns(line), std::stoul(width)) << command << "\n" << line;
      }
    }
  }
  setenv("COLUMNS", "60", 1);
  const std::string narrow = output_of(folder, "verify --help");
  setenv("COLUMNS", "119", 1);
  const std::string wide = output_of(folder, "verify --help");
  unsetenv("COLUMNS");
  EXPECT_GT(std::count(narrow.begin(), narrow.end(), '\n'), std::count(wide.begin(), wide.end(), '\n'));
}

TEST(Help, IsNamedByErrorsOfItsCommand) {
  const TemporaryFolder folder;
  for (const auto& [line, help] :
       std::vector<std::pair<std::string, std::string>>{{"--nonsense", "locus --help"},
                                                        {"show --nonsense", "locus show --help"},
                                                        {"positions tree --nonsense", "locus positions tree --help"},
                                                        {"probe", "locus probe --help"}}) {
    const CommandResult result = run_locus(folder, line);
    EXPECT_EQ(result.exit_code, 2) << line;
    EXPECT_TRUE(result.err.ends_with("(see " + help + ")\n")) << result.err;
  }
}

TEST(Errors, AreJsonWithJson) {
  const TemporaryFolder folder;
  for (const std::string line :
       {"show --scheme spiral", "show --nonsense", "apply --config absent.json --input q.npy"}) {
    const CommandResult text = run_locus(folder, line), json = run_locus(folder, line + " --json");
    EXPECT_EQ(json.exit_code, 2) << line;
    EXPECT_EQ(json.out, "") << line;
    const Json object = Json::parse(json.err, nullptr, false);
    ASSERT_TRUE(object.is_object()) << json.err;
    EXPECT_EQ(object["exit_code"], 2);
    const std::string message = "locus: " + object["error"].get<std::string>();
    EXPECT_TRUE(text.err.starts_with(message)) << text.err << json.err;
    EXPECT_EQ(object.contains("help"), text.err.find("(see ") != std::string::npos) << json.err;
  }
}

TEST(Colour, IsAsAskedFor) {
  const TemporaryFolder folder;
  const std::string line = "plot slopes --scheme alibi --set heads=4";
  const std::string plain = output_of(folder, line);
  EXPECT_EQ(plain.find('\033'), std::string::npos) << "standard output is no terminal";
  EXPECT_EQ(output_of(folder, line + " --color never"), plain);
  EXPECT_NE(output_of(folder, line + " --color always").find('\033'), std::string::npos);
  EXPECT_EQ(output_of(folder, "--color always " + line), output_of(folder, line + " --color always"));
  EXPECT_NE(run_locus(folder, line + " --color sometimes").err.find("sometimes"), std::string::npos);
}

TEST(Help, NamesTheVersion) {
  const TemporaryFolder folder;
  const std::string text = output_of(folder, "--version");
  int major = -1, minor = -1, patch = -1;
  EXPECT_EQ(std::sscanf(text.c_str(), "%d.%d.%d", &major, &minor, &patch), 3) << text;
  EXPECT_EQ(std::count(text.begin(), text.end(), '\n'), 1) << text;
}

/// What bash offers for the last of these words.
std::set<std::string> completions_of(const TemporaryFolder& folder, const std::string& line) {
  const std::string script = "source locus.bash; COMP_WORDS=(" + line +
                             "); COMP_CWORD=$((${#COMP_WORDS[@]} - 1)); _locus; printf '%s\\n' \"${COMPREPLY[@]}\"";
  const CommandResult result = run_command("/bin/bash", {"--norc", "-uc", script}, folder.path());
  EXPECT_EQ(result.exit_code, 0) << result.err;
  std::set<std::string> offered;
  std::istringstream lines(result.out);
  for (std::string one; std::getline(lines, one);) {
    if (!one.empty()) offered.insert(one);
  }
  return offered;
}

TEST(Completion, BashCompletesCommandsOptionsAndWords) {
  const TemporaryFolder folder;
  folder.write("locus.bash", output_of(folder, "completion bash"));
  EXPECT_EQ(completions_of(folder, "locus di"), std::set<std::string>{"diagnose"});
  EXPECT_EQ(completions_of(folder, "locus probe los"), std::set<std::string>{"loss"});
  EXPECT_EQ(completions_of(folder, "locus probe loss model.gguf --window-s"), std::set<std::string>{"--window-stride"});
  EXPECT_EQ(completions_of(folder, "locus show --pairing ''"), (std::set<std::string>{"half", "interleaved"}));
  EXPECT_EQ(completions_of(folder, "locus show --scheme si"), std::set<std::string>{"sinusoidal"});
  EXPECT_TRUE(completions_of(folder, "locus apply --input q").empty());  // left to file names
  EXPECT_TRUE(completions_of(folder, "locus show --no-such").empty());
}

TEST(Completion, OffersEveryCommandInEveryShell) {
  const TemporaryFolder folder;
  folder.write("locus.bash", output_of(folder, "completion bash"));
  const std::string zsh = output_of(folder, "completion zsh"), fish = output_of(folder, "completion fish");
  for (const std::string& command : all_commands(folder)) {
    if (!is_declared(command)) continue;
    const std::size_t blank = command.rfind(' ');
    const std::string name = command.substr(blank + 1);
    EXPECT_TRUE(completions_of(folder, command).contains(name)) << command;
    EXPECT_NE(zsh.find("'" + name + ":"), std::string::npos) << command;
    EXPECT_NE(fish.find("-f -a '" + name + "' "), std::string::npos) << command;
  }
}

/// If the shell is installed, it must at least parse its script.
TEST(Completion, OtherShellsParseTheirScripts) {
  const TemporaryFolder folder;
  std::size_t parsed = 0;
  for (const std::string shell : {"zsh", "fish"}) {
    const std::string program = "/usr/bin/" + shell;
    if (!std::filesystem::exists(program)) continue;
    folder.write("script", output_of(folder, "completion " + shell));
    const CommandResult result = run_command(program, {"-n", "script"}, folder.path());
    EXPECT_EQ(result.exit_code, 0) << shell << "\n" << result.err;
    ++parsed;
  }
  if (parsed == 0) GTEST_SKIP() << "neither zsh nor fish is installed";
}

TEST(Completion, RefusesOtherShells) {
  const TemporaryFolder folder;
  const CommandResult result = run_locus(folder, "completion csh");
  EXPECT_EQ(result.exit_code, 2);
  EXPECT_NE(result.err.find("csh"), std::string::npos) << result.err;
}

TEST(Manual, HasASectionForEveryCommand) {
  const TemporaryFolder folder;
  const std::string page = output_of(folder, "man");
  for (const std::string& command : all_commands(folder)) {
    if (!is_declared(command)) continue;
    std::string heading = ".SS " + command + "\n";
    for (std::size_t at = heading.find('-'); at != std::string::npos; at = heading.find('-', at + 2)) {
      heading.insert(at, "\\");
    }
    EXPECT_NE(page.find(heading), std::string::npos) << command;
  }
  for (const std::string title : {".TH LOCUS 1", ".SH NAME\n", ".SH SYNOPSIS\n", ".SH EXIT STATUS\n"}) {
    EXPECT_NE(page.find(title), std::string::npos) << title;
  }
}

TEST(Manual, GroffReadsItWithoutAWarning) {
  if (!std::filesystem::exists("/usr/bin/groff")) GTEST_SKIP() << "groff is not installed";
  const TemporaryFolder folder;
  folder.write("locus.1", output_of(folder, "man"));
  const CommandResult result =
      run_command("/usr/bin/groff", {"-man", "-Tascii", "-ww", "-rLL=100n", "locus.1"}, folder.path());
  EXPECT_EQ(result.exit_code, 0);
  EXPECT_EQ(result.err, "");
  EXPECT_NE(result.out.find("--scheme"), std::string::npos);
}

}  // namespace
}  // namespace locus::testing
