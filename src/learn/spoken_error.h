// SPDX-License-Identifier: Apache-2.0
// An error of the course that can be said in either language. Whoever knows the learner's language says it again.
#pragma once

#include <string>
#include <utility>

#include "locus/error.h"
#include "messages/sentences.h"

namespace locus::learn {

/// what() is the English sentence.
class SpokenError : public Error {
 public:
  explicit SpokenError(std::string name, Parameters parameters = {})
      : Error(Sentences().text(name, parameters)), name_(std::move(name)), parameters_(std::move(parameters)) {}
  std::string in(const Sentences& sentences) const { return sentences.text(name_, parameters_); }

 private:
  std::string name_;
  Parameters parameters_;
};

}  // namespace locus::learn
