// An order that is given by hand: the places of values in a list.
#include <fmt/format.h>

#include <algorithm>
#include <memory>
#include <utility>
#include <vector>

#include "base/errors.h"
#include "formats/keys/code.h"
#include "formats/keys/key_words.h"

namespace ecosort::keys {
namespace {

struct ListedValue {
  std::string value;
  std::uint32_t place = 0;
};

// Splits at each | without a backslash in front of it, and takes these backslashes out.
std::vector<ListedValue> split_list(const std::string& text) {
  std::vector<ListedValue> values(1);
  for (std::size_t i = 0; i < text.size(); ++i) {
    if (text[i] == '\\' && i + 1 < text.size())
      values.back().value += text[++i];
    else if (text[i] == '|')
      values.push_back({"", static_cast<std::uint32_t>(values.size())});
    else
      values.back().value += text[i];
  }
  return values;
}

}  // namespace

Coder list_coder(const std::string& values) {
  if (values.empty()) throw UsageError("type list needs its values in their order: list:A|B|C");
  auto listed = split_list(values);
  std::ranges::sort(listed, {}, &ListedValue::value);
  const auto twice = std::ranges::adjacent_find(listed, {}, &ListedValue::value);
  if (listed.front().value.empty())
    throw UsageError(fmt::format("list:{}: a place is empty; empty values come where missing ones do", values));
  if (twice != listed.end()) throw UsageError(fmt::format("list:{}: '{}' is listed twice", values, shown(twice->value)));
  return [listed = std::make_shared<const std::vector<ListedValue>>(std::move(listed))](Text value, Code& code) {
    const auto found = std::ranges::lower_bound(*listed, value, {}, [](const ListedValue& one) -> Text { return one.value; });
    if (found == listed->end() || found->value != value) return false;
    code.add_number(found->place, 4);
    return true;
  };
}

}  // namespace ecosort::keys
