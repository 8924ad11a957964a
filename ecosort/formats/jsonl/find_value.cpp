// The way to one value in a line that is known to be valid: what does not lead there is passed over without a look at it.
#include <cstddef>

#include "formats/jsonl/names.h"
#include "formats/jsonl/read_row.h"
#include "formats/jsonl/text_steps.h"

namespace ecosort::jsonl {
namespace {

class Finder {
 public:
  Finder(Text row, bool may_repeat) : at_(row.data()), end_(row.data() + row.size()), may_repeat_(may_repeat) { skip_white(); }

  // Goes to the value behind the step; false where there is none.
  bool enter(const PathStep& step) {
    if (at_ == end_ || *at_ != (step.is_place ? '[' : '{')) return false;
    ++at_;
    skip_white();
    if (*at_ == (step.is_place ? ']' : '}')) return false;
    return step.is_place ? enter_array(step.place) : enter_object(step.name);
  }

  // Returns the value here, as it is there.
  [[nodiscard]] Text value() noexcept {
    const char* const begin = at_;
    skip_value();
    const Text text(begin, static_cast<std::size_t>(at_ - begin));
    return text == "null" ? text.substr(0, 0) : text;
  }

 private:
  void skip_white() noexcept { at_ = behind_white(at_, end_); }

  // From a quote to behind the one that closes.
  void skip_string() noexcept {
    ++at_;
    while (*(at_ = find_quote(at_, end_)) == '\\') at_ += 2;
    ++at_;
  }

  void skip_container() noexcept {
    for (std::size_t depth = 0;;) {
      const char c = *at_;
      if (c == '"') {
        skip_string();
        continue;
      }
      ++at_;
      if (c == '{' || c == '[') ++depth;
      if ((c == '}' || c == ']') && --depth == 0) return;
    }
  }

  void skip_value() noexcept {
    if (*at_ == '"') return skip_string();
    if (*at_ == '{' || *at_ == '[') return skip_container();
    while (at_ != end_ && !is_white(*at_) && *at_ != ',' && *at_ != '}' && *at_ != ']') ++at_;
  }

  // Skips the value here, and returns whether another member or element follows it.
  bool skip_to_next() noexcept {
    skip_value();
    skip_white();
    const bool is_more = *at_ == ',';
    ++at_;
    skip_white();
    return is_more;
  }

  // The last member of this name counts.
  bool enter_object(Text name) {
    const char* found = nullptr;
    do {
      const char* const begin = at_;
      skip_string();
      const Text raw(begin + 1, static_cast<std::size_t>(at_ - begin) - 2);
      skip_white();
      ++at_;  // the colon
      skip_white();
      if (!is_name(raw, name)) continue;
      if (!may_repeat_) return true;
      found = at_;
    } while (skip_to_next());
    at_ = found;
    return found != nullptr;
  }

  bool enter_array(std::size_t place) noexcept {
    for (; place > 0; --place)
      if (!skip_to_next()) return false;
    return true;
  }

  const char* at_;
  const char* end_;
  const bool may_repeat_;
};

}  // namespace

Text find_value(Text row, const Path& path, bool may_repeat) {
  Finder finder(row, may_repeat);
  for (const PathStep& step : path.steps)
    if (!finder.enter(step)) return {};
  return finder.value();
}

}  // namespace ecosort::jsonl
