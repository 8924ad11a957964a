#include "formats/jsonl/path.h"

#include <fmt/format.h>

#include <charconv>

#include "base/errors.h"

namespace ecosort::jsonl {
namespace {

// Takes steps off the front of `left`.
class PathParser {
 public:
  explicit PathParser(Text text) : text_(text), left_(text) {}

  std::vector<PathStep> parse() {
    if (left_.empty()) refuse("it is empty");
    std::vector<PathStep> steps;
    if (left_.front() != '[') steps.push_back(take_name());
    while (!left_.empty()) {
      if (left_.front() == '[') {
        steps.push_back(take_place());
      } else if (left_.front() == '.') {
        left_.remove_prefix(1);
        steps.push_back(take_name());
      } else {
        refuse("a dot or a bracket is missing behind a quote or a bracket that closes");
      }
    }
    return steps;
  }

 private:
  [[noreturn]] void refuse(Text why) const {
    throw UsageError(fmt::format(
        "key '{}': {}; a path is names with dots between them and [N] for arrays, and a name with other signs is put in "
        "double quotes",
        text_, why));
  }

  PathStep take_name() {
    PathStep step;
    if (left_.starts_with('"')) {
      step.name = take_quoted();
      return step;
    }
    const std::size_t end = std::min(left_.find_first_of(".[]\""), left_.size());
    if (end == 0) refuse("a name is empty");
    if (end < left_.size() && (left_[end] == ']' || left_[end] == '"')) refuse("a bracket or a quote is within a name");
    step.name = left_.substr(0, end);
    left_.remove_prefix(end);
    return step;
  }

  std::string take_quoted() {
    std::string name;
    for (std::size_t i = 1; i < left_.size(); ++i) {
      if (left_[i] == '"') {
        left_.remove_prefix(i + 1);
        return name;
      }
      if (left_[i] == '\\' && i + 1 < left_.size() && (left_[i + 1] == '"' || left_[i + 1] == '\\')) ++i;
      name += left_[i];
    }
    refuse("a quote is not closed");
  }

  PathStep take_place() {
    PathStep step{.is_place = true, .place = 0, .name = {}};
    const char* const end = left_.data() + left_.size();
    const auto [stop, error] = std::from_chars(left_.data() + 1, end, step.place);
    if (error != std::errc() || stop == end || *stop != ']') refuse("a bracket wants a number, as in [0]");
    left_.remove_prefix(static_cast<std::size_t>(stop - left_.data()) + 1);
    return step;
  }

  Text text_, left_;
};

}  // namespace

Path parse_path(Text text) { return {std::string(text), PathParser(text).parse()}; }

}  // namespace ecosort::jsonl
