#include "cli/given_words.h"

#include <fmt/format.h>

#include <algorithm>
#include <utility>

#include "base/closest_word.h"
#include "base/errors.h"
#include "cli/option_values.h"

namespace ecosort::cli {

namespace {

const GivenOption* last_of(const GivenWords& words, std::string_view option) {
  for (std::size_t i = words.options.size(); i > 0; --i)
    if (last_spelling(words.options[i - 1].row->name) == option) return &words.options[i - 1];
  return nullptr;
}

bool is_spelling(const OptionRow& row, std::string_view word) {
  const std::size_t comma = row.name.find(',');
  if (comma == std::string_view::npos) return row.name == word;
  return row.name.substr(0, comma) == word || row.name.substr(comma + 1) == word;
}

// A letter may have others, or its value, behind it: "-rn", "-k2".
std::string_view advice_on_habit(const CommandTable& table, std::string_view name) {
  constexpr std::size_t letter = 2;
  const std::string_view word = name.starts_with("--") ? name : name.substr(0, letter);
  const auto found = std::ranges::find(table.habits, word, &HabitRow::word);
  return found == table.habits.end() ? std::string_view() : found->advice;
}

class Splitter {
 public:
  Splitter(const CommandTable& table, const Words& words) : table_(table), words_(words) {}

  GivenWords split() {
    for (; at_ < words_.size() && !found_.asks_for_help; ++at_) {
      const std::string& word = words_[at_];
      if (word == "--") {
        found_.operands.insert(found_.operands.end(), words_.begin() + static_cast<std::ptrdiff_t>(at_) + 1, words_.end());
        break;
      }
      take_word(word);
    }
    if (!found_.asks_for_help && !complaint_.empty())
      throw UsageError(fmt::format("{}: {} (see ecosort {} --help)", table_.name, complaint_, table_.name));
    return std::move(found_);
  }

 private:
  void take_word(const std::string& word) {
    const bool is_letter = word.size() > 1 && word[0] == '-' && (word[1] < '0' || word[1] > '9');  // "-5" is a file
    if (word == "--help" || word == "-h")
      found_.asks_for_help = true;
    else if (word.starts_with("--"))
      take_long(word);
    else if (is_letter)
      take_letters(word);
    else
      found_.operands.push_back(word);
  }

  [[nodiscard]] const OptionRow* row_of(std::string_view spelling) const {
    const auto row = std::ranges::find_if(table_.options, [&](const OptionRow& option) { return is_spelling(option, spelling); });
    return row == table_.options.end() ? nullptr : &*row;
  }

  // Only the first complaint is said, and none where --help follows.
  void complain(std::string text) {
    if (complaint_.empty()) complaint_ = std::move(text);
  }

  void complain_of_unknown(const std::string& word) {
    const std::string_view name = std::string_view(word).substr(0, word.find('='));
    std::vector<std::string_view> names{"--help"};
    for (const OptionRow& row : table_.options)
      if (!row.is_hidden) names.push_back(last_spelling(row.name));
    const std::string_view advice = advice_on_habit(table_, name);
    complain(fmt::format("no such option: '{}'{}", word,
                         !advice.empty()          ? fmt::format("; {}", advice)
                         : word.starts_with("--") ? did_you_mean(name, names)
                         : word.size() > 2        ? did_you_mean(fmt::format("-{}", name), names)
                                                  : ""));
  }

  void take_long(const std::string& word) {
    const std::size_t equals = word.find('=');
    const OptionRow* const row = row_of(std::string_view(word).substr(0, equals));
    if (row == nullptr) return complain_of_unknown(word);
    if (equals != std::string::npos) return take(*row, word.substr(equals + 1));
    row->takes_next_word() ? take_next(*row) : add(*row, std::nullopt);
  }

  void take_letters(const std::string& word) {
    for (std::size_t i = 1; i < word.size(); ++i) {
      const char spelling[] = {'-', word[i]};
      const OptionRow* const row = row_of({spelling, sizeof spelling});
      if (row == nullptr) return complain_of_unknown(i == 1 ? word : std::string(spelling, sizeof spelling));
      if (row->argument.empty()) {
        add(*row, std::nullopt);
        continue;
      }
      return i + 1 < word.size() ? take(*row, word.substr(i + 1)) : take_next(*row);
    }
  }

  void take_next(const OptionRow& row) { at_ + 1 < words_.size() ? take(row, words_[++at_]) : take(row, ""); }

  void take(const OptionRow& row, std::string value) {
    const std::string_view name = last_spelling(row.name);
    if (row.argument.empty()) return complain(fmt::format("{}: takes no value", name));
    if (value.empty()) return complain(fmt::format("{}: needs a value", name));
    if (!row.sets.adds && found_.has(name)) return complain(fmt::format("{}: is given twice; leave one of them out", name));
    add(row, std::move(value));
  }

  void add(const OptionRow& row, std::optional<std::string> value) { found_.options.push_back({&row, std::move(value)}); }

  const CommandTable& table_;
  const Words& words_;
  std::size_t at_ = 0;
  GivenWords found_;
  std::string complaint_;
};

}  // namespace

bool GivenWords::has(std::string_view option) const noexcept { return last_of(*this, option) != nullptr; }

std::string_view GivenWords::word(std::string_view option) const noexcept {
  const GivenOption* const found = last_of(*this, option);
  return found == nullptr || !found->word ? std::string_view() : std::string_view(*found->word);
}

std::uint64_t GivenWords::number(std::string_view option, std::uint64_t usual) const {
  return has(option) ? whole_number(option, std::string(word(option))) : usual;
}

GivenWords split_words(const CommandTable& table, const Words& words) { return Splitter(table, words).split(); }

}  // namespace ecosort::cli
