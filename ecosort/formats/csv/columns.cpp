#include "formats/csv/columns.h"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <optional>

#include "base/closest_word.h"
#include "base/errors.h"
#include "formats/csv/check_row.h"
#include "formats/csv/other_delimiter.h"
#include "formats/csv/value.h"
#include "formats/foreign.h"

namespace ecosort::csv {
namespace {

std::string list_of(const std::vector<std::string>& names) {
  constexpr std::size_t most = 20;
  std::string list;
  for (std::size_t i = 0; i < std::min(names.size(), most); ++i)
    list += (i == 0 ? "" : ", ") + (names[i].empty() ? fmt::format("#{} (without a name)", i + 1) : names[i]);
  return names.size() > most ? list + ", ..." : list;
}

[[noreturn]] void refuse(const std::string& line, std::optional<Delimiter> other) {
  if (other) throw DelimiterMistaken(line, std::string(other->text()));
  throw InputRefused(line);
}

const char* plural(std::size_t count) { return count == 1 ? "" : "s"; }

}  // namespace

void Columns::take(const std::string& input, Text row, BeforeRow before) {
  const std::size_t line = before.lines + 1;
  if (const auto kind = formats::foreign_kind(row, dialect_.delimiter.first() == '\0'))
    throw InputRefused(fmt::format("{}: is {}", input, *kind));
  const SplitRow split = split_row(row, dialect_);
  if (split.fault)
    throw QuoteMisplaced(fmt::format("{}: line {}, byte {}: {}", input, line, before.bytes + split.fault->at, split.fault->why));
  if (!are_known()) first_row_ = row;
  if (!has_header_) {
    if (!are_known()) count_ = split.fields.size();  // how many others have is looked at with all rows
    return;
  }
  std::vector<std::string> names;
  names.reserve(split.fields.size());
  for (const Text field : split.fields) names.emplace_back(*CsvValue(field, dialect_));
  const auto is_quoted = [&](Text field) { return dialect_.quote && field.starts_with(*dialect_.quote); };
  if (std::ranges::any_of(split.fields, [&](Text field) { return !is_quoted(field) && field.find('\r') != Text::npos; }))
    throw InputRefused(
        fmt::format("{}: line {}: a carriage return ends no row; rows end with a line feed, or with both", input, line));
  if (are_known()) return compare(input, names);
  count_ = names.size();
  names_ = std::move(names);
  first_input_ = input;
}

void Columns::compare(const std::string& input, const std::vector<std::string>& names) const {
  if (names == names_) return;
  for (std::size_t i = 0; i < std::min(names.size(), names_.size()); ++i)
    if (names[i] != names_[i])
      throw InputRefused(
          fmt::format("{}: column {} is '{}', and in {} it is '{}'; all files need the same columns in the same order", input,
                      i + 1, names[i], first_input_, names_[i]));
  throw InputRefused(fmt::format("{}: the header has {} column{}, and that of {} has {}", input, names.size(),
                                 plural(names.size()), first_input_, names_.size()));
}

std::size_t Columns::find_number(const std::string& text) const {
  std::size_t number = 0;
  const char* const end = text.data() + text.size();
  const auto [stop, error] = std::from_chars(text.data(), end, number);
  if (stop != text.data() && *stop == ':') throw InputRefused(fmt::format("key '{}': {}", text, keys::no_type_text(text)));
  if (error != std::errc() || stop != end || number == 0)
    throw InputRefused(fmt::format("key '{}': without a header a column is named by its number, from 1 on", text));
  if (number > count_)
    refuse(fmt::format("key '{}': the first row has {} column{}", text, count_, plural(count_)),
           other_delimiter(first_row_, dialect_, [&](const auto& fields, Dialect) { return fields.size() >= number; }));
  return number - 1;
}

// Says which delimiter makes a column of that name; of a header that is one name only, which makes several.
std::optional<Delimiter> Columns::delimiter_for(const std::string& name) const {
  auto other = other_delimiter(first_row_, dialect_, [&](const std::vector<Text>& fields, Dialect dialect) {
    return std::ranges::any_of(fields, [&](Text field) { return *CsvValue(field, dialect) == name; });
  });
  if (!other && count_ == 1) other = other_delimiter(first_row_, dialect_, [](const auto&, Dialect) { return true; });
  return other;
}

std::optional<Delimiter> Columns::delimiter_for_row(Text row) const {
  return other_delimiter(row, dialect_, [&](const std::vector<Text>& fields, Dialect dialect) {
    return split_row(first_row_, dialect).fields.size() == fields.size();
  });
}

namespace {

// "3" is 3; 0 for a text that is no number.
std::size_t number_in(std::string_view text) {
  std::size_t number = 0;
  const auto [stop, error] = std::from_chars(text.data(), text.data() + text.size(), number);
  return error == std::errc() && stop == text.data() + text.size() ? number : 0;
}

}  // namespace

// "#3": the third column, whatever its name is. Nothing for another text.
std::optional<std::size_t> Columns::find_place(const std::string& text) const {
  const std::size_t number = text.starts_with('#') ? number_in(std::string_view(text).substr(1)) : 0;
  if (number == 0) return std::nullopt;
  if (number > count_)
    refuse(fmt::format("{}: no column '{}'; the header has {} column{}", first_input_, text, count_, plural(count_)),
           other_delimiter(first_row_, dialect_, [&](const auto& fields, Dialect) { return fields.size() >= number; }));
  return number - 1;
}

// Says what was meant where it can: a direction that is misspelt, several names as one key, a number of a column.
void Columns::refuse_name(const std::string& name) const {
  const auto is_column = [&](std::string_view word) { return std::ranges::find(names_, word) != names_.end(); };
  if (const std::size_t comma = name.find(',');
      comma != std::string::npos && comma > 0 && is_column(ValueKey(name.substr(0, comma)).name) && !delimiter_for(name))
    throw InputRefused(
        fmt::format("{}: no column '{}': each name is a key of its own; there are: {}", first_input_, name, list_of(names_)));
  if (const std::string_view before = keys::name_before_type(name);
      !before.empty() && (is_column(before) || is_column(ValueKey(before).name)))
    throw InputRefused(fmt::format("key '{}': {}", name, keys::no_type_text(name)));
  const std::vector<std::string_view> names(names_.begin(), names_.end());
  std::string meant = did_you_mean(name, names);
  if (const std::size_t number = number_in(name); number > 0 && number <= count_)
    meant = fmt::format("; did you mean '#{}', the column with that number?", number);
  refuse(fmt::format("{}: no column '{}'{} {}", first_input_, name,
                     meant.empty() ? "; there are:" : meant + " There are:", list_of(names_)),
         delimiter_for(name));
}

std::size_t Columns::find(const ValueKey& key) const {
  if (!has_header_) return find_number(key.name);
  const auto found = std::ranges::find(names_, key.name);
  if (found == names_.end()) {
    if (const std::optional<std::size_t> place = find_place(key.name)) return *place;
    refuse_name(key.name);
  }
  if (const auto other = std::find(found + 1, names_.end(), key.name); other != names_.end())
    throw InputRefused(fmt::format("{}: two columns are named '{}'; name the one that is meant by its place, '#{}' or '#{}'",
                                   first_input_, key.name, found - names_.begin() + 1, other - names_.begin() + 1));
  return static_cast<std::size_t>(found - names_.begin());
}

}  // namespace ecosort::csv
