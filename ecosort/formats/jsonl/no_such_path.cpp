#include "formats/jsonl/no_such_path.h"

#include <fmt/format.h>

#include <algorithm>
#include <vector>

#include "base/closest_word.h"
#include "formats/jsonl/read_row.h"
#include "formats/jsonl/text_steps.h"
#include "formats/jsonl/value.h"
#include "formats/keys/key_words.h"

namespace ecosort::jsonl {
namespace {

constexpr std::size_t most_named = 20, most_paths_looked_at = 1000, deepest_named = 8;

// Writes a name as users write it in a path.
std::string step_of(std::string_view name) {
  if (!name.empty() && name.find_first_of(".[]\":") == std::string_view::npos) return std::string(name);
  std::string step = "\"";
  for (const char c : name) {
    if (c == '"' || c == '\\') step += '\\';
    step += c;
  }
  return step + '"';
}

// Lists the paths to values that are neither objects nor arrays, in a row that is valid up to its end.
class PathLister {
 public:
  explicit PathLister(Text row) : at_(row.data()), end_(at_ + row.size()) {}

  std::vector<std::string> list() {
    while (at_ != end_ && paths_.size() < most_paths_looked_at) take();
    return std::move(paths_);
  }

 private:
  struct Open {
    std::string path;  // to it
    std::size_t place = 0;
    bool is_object = false;
  };

  // The next sign of the row, or the string or the word that begins here.
  void take() {
    switch (*at_) {
      case '{':
      case '[':
        open_.push_back({path(), 0, *at_++ == '{'});
        return;
      case '}':
      case ']':
        ++at_;
        if (!open_.empty()) open_.pop_back();
        return;
      case ',':
        ++at_;
        if (!open_.empty()) ++open_.back().place;
        return;
      case ':':
        ++at_;
        is_value_ = true;
        return;
      default:
        is_white(*at_) ? void(++at_) : take_text();
    }
  }

  void take_text() {
    const char* const begin = at_;
    if (*at_ != '"')
      skip_word();
    else if (!skip_string())
      return;
    const Text text(begin, static_cast<std::size_t>(at_ - begin));
    const bool is_name = !open_.empty() && open_.back().is_object && !is_value_;
    if (is_name)
      name_ = without_escapes(text.substr(1, text.size() - std::min<std::size_t>(text.size(), 2)));
    else if (open_.size() <= deepest_named && !open_.empty())
      paths_.push_back(path());
    if (!is_name) is_value_ = false;
  }

  // False where the row ends before the string.
  bool skip_string() noexcept {
    for (++at_; at_ != end_ && *at_ != '"'; ++at_)
      if (*at_ == '\\' && at_ + 1 != end_) ++at_;
    if (at_ == end_) return false;
    ++at_;
    return true;
  }
  void skip_word() noexcept {
    while (at_ != end_ && !is_white(*at_) && Text(",:{}[]\"").find(*at_) == Text::npos) ++at_;
  }

  // Returns the path to the value that comes next.
  [[nodiscard]] std::string path() {
    is_value_ = false;
    if (open_.empty()) return "";
    const Open& last = open_.back();
    if (!last.is_object) return fmt::format("{}[{}]", last.path, last.place);
    return last.path.empty() ? step_of(name_) : fmt::format("{}.{}", last.path, step_of(name_));
  }

  const char* at_;
  const char* end_;
  std::vector<Open> open_;
  std::string name_;       // of the member that comes next
  bool is_value_ = false;  // a colon came
  std::vector<std::string> paths_;
};

std::string of_arrays(const RowSample& sample) {
  return sample.rows == 1 ? "the input is one array in one line: jq -c '.[]' makes lines of it"
                          : "the rows are arrays, into which a path leads by a place, as in [0]";
}

std::string other_paths(const Path& path, Text row) {
  const std::vector<std::string> paths = PathLister(row).list();
  const std::vector<std::string_view> words(paths.begin(), paths.end());
  std::string text = did_you_mean(path.text, words);
  const std::string_view before_type = keys::name_before_type(path.text);
  const bool is_before_type = std::ranges::find(words, before_type) != words.end();
  if (!before_type.empty() && (is_before_type || text.empty())) return "; " + keys::no_type_text(path.text);
  if (paths.empty()) return "";
  text += text.empty() ? "; there are: " : " There are: ";
  for (std::size_t i = 0; i < std::min(paths.size(), most_named); ++i) text += (i == 0 ? "" : ", ") + keys::shown(paths[i]);
  return paths.size() > most_named ? text + ", ..." : text;
}

}  // namespace

std::string no_such_path(const Path& path, const RowSample& sample) {
  const std::string& text = path.text;
  const std::string line = fmt::format("no row has '{}'", text);
  if (text.starts_with("$.") || text.starts_with("$["))
    return fmt::format("{}; '$' is taken for a name: a path begins without it, as in {}", line,
                       text.substr(text[1] == '.' ? 2 : 1));
  const char *const begin = sample.row.data(), *const end = begin + sample.row.size();
  const char* const first = behind_white(begin, end);
  if (first != end && *first == '[' && !path.steps.front().is_place) return fmt::format("{}; {}", line, of_arrays(sample));
  if (first != end && *first != '[' && *first != '{')
    return line + "; the rows are texts or numbers by themselves, into which no path leads";
  return line + other_paths(path, sample.row);
}

}  // namespace ecosort::jsonl
