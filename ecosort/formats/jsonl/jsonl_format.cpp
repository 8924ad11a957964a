#include "formats/jsonl/jsonl_format.h"

#include <fmt/format.h>

#include <algorithm>
#include <utility>

#include "base/errors.h"
#include "formats/foreign.h"
#include "formats/jsonl/no_such_path.h"
#include "formats/lines/key_bytes.h"

namespace ecosort::jsonl {

namespace {

constexpr std::size_t most_sample_bytes = std::size_t{64} << 10U;

// Says what the whole file may be.
void explain(Text row, formats::RowFault& fault) {
  constexpr Text blanks = " \t\r";
  if (const auto kind = formats::foreign_kind(row)) {
    fault = {0, "this is " + *kind};
    return;
  }
  const std::size_t first = row.find_first_not_of(blanks), last = row.find_last_not_of(blanks);
  if (first == Text::npos || fault.at <= last) return;
  if (row[first] == '[')
    fault.why += "; every line holds one whole value: where the file is one array, jq -c '.[]' makes lines of it";
  else if (first == last && row[first] == '{')
    fault.why += "; every line holds one whole value: jq -c . makes one line of each";
}

}  // namespace

JsonlFormat::JsonlFormat(const JsonlTerms& terms)
    : RowFormat(formats::Kind::jsonl, '\n', std::nullopt), kernels_(lines::line_kernels()), terms_(terms) {
  if (terms_.keys.empty()) throw UsageError("no key is named");
  if (terms_.keys.size() > most_paths) throw UsageError(fmt::format("{} keys are more than {}", terms_.keys.size(), most_paths));
  if (!terms.date_format.empty()) time_format_ = std::make_unique<keys::TimeFormat>(terms.date_format);
  for (const ValueKey& words : terms_.keys) {
    paths_.push_back(parse_path(words.name));
    constexpr bool empty_is_null = false;
    keys_.emplace_back(words.type, words.descends, terms.nulls_first, time_format_.get(), empty_is_null);
  }
  levels_ = static_cast<unsigned>(keys_.size());
  leaves_out_bad_rows_ = terms_.leaves_out_bad_rows;
  joint_ = keys::Key::joint_levels(keys_);
}

void JsonlFormat::count(unsigned level, keys::ValueKind kind, Text row, Text value, std::vector<formats::KeyCounts>& counts,
                        std::optional<formats::RowFault>& fault) const {
  if (kind == keys::ValueKind::usual) return;
  if (kind == keys::ValueKind::empty) {
    ++counts[level].empty;
    if (value.data() == nullptr) {
      ++counts[level].absent;
      std::call_once(has_sample_, [&] { sample_ = row.substr(0, most_sample_bytes); });
    }
    return;
  }
  ++counts[level].unparsable;
  if (!terms_.strict || fault) return;
  fault = {static_cast<std::size_t>(value.data() - row.data()),
           fmt::format("path '{}': '{}' is no {}", paths_[level].text, keys::shown(*JsonValue(value)),
                       keys::to_string(terms_.keys[level].type))};
}

records::KeyWindow JsonlFormat::take_values(Text row, std::vector<formats::KeyCounts>& counts,
                                            std::optional<formats::RowFault>& fault) const {
  Text values[most_paths];
  fault = read_row(row, paths_, values);
  if (fault) {
    explain(row, *fault);
    return {};
  }
  keys::ValueKind kind = keys::ValueKind::usual;
  records::KeyWindow window{};
  lines::JointWindow joint;
  for (unsigned level = 0; level < levels_; ++level) {
    const JsonValue value(values[level]);
    if (level < joint_.size())
      keys_[level].add_to(joint, *value, kind);
    else if (level == 0)
      window = keys_[0].window(*value, 0, kind);
    else
      kind = keys_[level].kind_of(*value);
    count(level, kind, row, values[level], counts, fault);
  }
  return joint_.empty() ? window : joint.window();
}

std::optional<formats::RowFault> JsonlFormat::check_row(Text row, std::vector<formats::KeyCounts>& counts) const {
  counts.resize(levels_);
  std::optional<formats::RowFault> fault;
  (void)take_values(row, counts, fault);
  return fault;
}

void JsonlFormat::check_counts(const std::vector<formats::KeyCounts>& counts, std::uint64_t rows) const {
  if (terms_.allow_missing || rows == 0) return;
  for (std::size_t i = 0; i < counts.size(); ++i)
    if (counts[i].absent == rows) throw NoSuchPath(no_such_path(paths_[i], {sample_, rows}));
}

records::KeyWindow JsonlFormat::window(Text row, unsigned level, std::size_t depth) const {
  keys::ValueKind kind = keys::ValueKind::usual;
  if (level == 0 && depth == 0 && !joint_.empty()) {
    lines::JointWindow joint;
    for (unsigned i = 0; i < joint_.size() && !joint.is_full(); ++i)
      keys_[i].add_to(joint, *JsonValue(find_value(row, paths_[i])), kind);
    return joint.window();
  }
  return keys_[level].window(*JsonValue(find_value(row, paths_[level])), depth, kind);
}

std::size_t JsonlFormat::common_bytes(Text a, Text b, unsigned level, std::size_t skip) const {
  return keys_[level].common_bytes(*JsonValue(find_value(a, paths_[level])), *JsonValue(find_value(b, paths_[level])), skip);
}

std::optional<std::string> JsonlFormat::first_value(Text row) const {
  const JsonValue value(find_value(row, paths_[0]));
  return keys_[0].kind_of(*value) == keys::ValueKind::usual ? std::optional<std::string>(*value) : std::nullopt;
}

int JsonlFormat::compare_levels(Text a, Text b, unsigned level) const {
  for (; level < levels_; ++level) {
    const int order = keys_[level].compare(*JsonValue(find_value(a, paths_[level])), *JsonValue(find_value(b, paths_[level])));
    if (order != 0) return order;
  }
  return 0;
}

}  // namespace ecosort::jsonl
