// SPDX-License-Identifier: Apache-2.0
#include "help_format.h"

#include <algorithm>
#include <sstream>
#include <string_view>

#include "base/text_layout.h"
#include "terminal.h"

namespace locus::tools {
namespace {

constexpr std::size_t widest = 120;  // longer lines are hard to read

/// Lines of at most `width` columns, the following ones indented; without a newline at the end.
std::string wrapped_lines(std::string_view text, std::size_t width, std::size_t indent) {
  std::string lines = wrapped(text, width);
  if (!lines.empty()) lines.pop_back();
  const std::string blanks(indent, ' ');
  for (std::size_t at = lines.find('\n'); at != std::string::npos; at = lines.find('\n', at + 1)) {
    lines.insert(at + 1, blanks);
  }
  return lines;
}

/// Breaks a long list of choices, which has no blanks, after commas.
std::string broken_at_commas(const std::string& text, std::size_t width, const std::string& indent) {
  std::string result, line;
  for (std::size_t at = 0; at < text.size();) {
    const std::size_t end = std::min(text.find(',', at), text.size() - 1) + 1;
    const std::string part = text.substr(at, end - at);
    if (!line.empty() && columns_of(line) + columns_of(part) > width) {
      result += line + "\n";
      line = indent;
    }
    line += part;
    at = end;
  }
  return result + line;
}

bool is_example(const std::string& line) { return line.starts_with(' ') || line.starts_with("Example"); }

/// Joins the lines of a sentence and wraps them again; examples and empty lines stay.
std::string reflowed(const std::string& text, std::size_t width) {
  std::string result, paragraph;
  const auto flush = [&] {
    result += wrapped(paragraph, width);
    paragraph.clear();
  };
  std::istringstream lines(text);
  for (std::string line; std::getline(lines, line);) {
    if (line.empty() || is_example(line)) {
      flush();
      result += line + "\n";
      continue;
    }
    paragraph += (paragraph.empty() ? "" : " ") + line;
    if (line.ends_with('.') || line.ends_with(':')) flush();
  }
  flush();
  return result;
}

class WrappingHelp : public CLI::Formatter {
 public:
  WrappingHelp() : width_(std::min(static_cast<std::size_t>(terminal_width()), widest)) {}

  std::string make_description(const CLI::App* app) const override {
    return reflowed(CLI::Formatter::make_description(app), width_);
  }
  std::string make_usage(const CLI::App* app, std::string name) const override {
    return wrapped_lines(trimmed(CLI::Formatter::make_usage(app, std::move(name))), width_ - 7, 7) + "\n";
  }
  std::string make_footer(const CLI::App* app) const override { return reflowed(app->get_footer(), width_); }
  std::string make_subcommand(const CLI::App* command) const override {
    return entry(command->get_display_name(true), command->get_description());
  }
  std::string make_option(const CLI::Option* option, bool is_positional) const override {
    return entry(make_option_name(option, is_positional) + make_option_opts(option), make_option_desc(option));
  }

 private:
  static std::string trimmed(std::string text) {
    while (text.ends_with('\n')) text.pop_back();
    return text;
  }

  /// A name, and what it means in the second column.
  std::string entry(const std::string& name, const std::string& meaning) const {
    std::ostringstream text;
    const std::string lines = wrapped_lines(meaning, width_ - get_column_width(), 0);
    CLI::detail::format_help(text, broken_at_commas(name, width_ - 2, "      "), lines, get_column_width());
    return text.str();
  }

  std::size_t width_;
};

}  // namespace

std::shared_ptr<CLI::FormatterBase> wrapping_help() { return std::make_shared<WrappingHelp>(); }

std::string help_command(const CLI::App& app) {
  std::string name = app.get_name();
  const CLI::App* command = &app;
  while (!command->get_subcommands().empty()) {
    command = command->get_subcommands().front();
    name += ' ';
    name += command->get_name();
  }
  return name + " --help";
}

std::string text_of(const CLI::ParseError& error, const CLI::App& app) {
  std::string text = error.what();
  const std::vector<std::string> rest = app.remaining(true);
  if (dynamic_cast<const CLI::RequiredError*>(&error) != nullptr && !rest.empty()) {
    text += "; not understood: " + rest.front();
  }
  return text;
}

}  // namespace locus::tools
