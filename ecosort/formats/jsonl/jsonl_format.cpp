#include "formats/jsonl/jsonl_format.h"

#include <fmt/format.h>

#include <algorithm>
#include <bit>
#include <iterator>
#include <utility>

#include "base/byte_stream.h"
#include "base/errors.h"
#include "base/json.h"
#include "formats/foreign.h"
#include "formats/jsonl/no_such_path.h"
#include "formats/keys/order_bytes.h"
#include "formats/lines/key_bytes.h"

namespace ecosort::jsonl {

namespace {

constexpr std::size_t most_sample_bytes = std::size_t{64} << 10U;
constexpr Text blanks = " \t\r";

// Says what the whole file may be.
void explain(Text row, formats::RowFault& fault) {
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
    : ValueFormat(Format::jsonl, std::nullopt, std::nullopt),
      kernels_(lines::line_kernels()),
      terms_(terms),
      may_repeat_(terms.may_repeat) {
  if (terms_.keys.empty()) throw UsageError("no key; name a value");
  const std::size_t most_keys = terms.count_name ? most_paths - 1 : most_paths;
  if (terms_.keys.size() > most_keys) throw UsageError(fmt::format("{} keys are more than {}", terms_.keys.size(), most_keys));
  if (!terms.date_format.empty()) time_format_ = std::make_unique<keys::TimeFormat>(terms.date_format);
  std::vector<keys::Key> keys;
  for (const ValueKey& words : terms_.keys) {
    paths_.push_back(parse_path(words.name));
    constexpr bool empty_is_null = false;
    keys.emplace_back(words, terms.nulls_first, time_format_.get(), empty_is_null);
  }
  set_keys(std::move(keys), terms_.nulls_first, terms_.rows_decide_last);
  leaves_out_bad_rows_ = terms_.leaves_out_bad_rows;
  if (terms_.count_name) paths_.push_back({*terms_.count_name, {{.name = *terms_.count_name}}});
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
                       keys::type_word(terms_.keys[level]))};
}

void JsonlFormat::count_repeated(const Repeated& repeated, std::vector<formats::KeyCounts>& counts,
                                 std::optional<formats::RowFault>& fault) const {
  may_repeat_.store(true, std::memory_order_relaxed);
  for (std::size_t level = 0; level < terms_.keys.size(); ++level) counts[level].repeated += repeated.paths >> level & 1U;
  if (!terms_.strict) return;
  const auto level = static_cast<std::size_t>(std::countr_zero(repeated.paths));
  fault = {repeated.at, fmt::format("path '{}': an object has this name twice", paths_[level].text)};
}

records::KeyWindow JsonlFormat::take_values(Text row, std::vector<formats::KeyCounts>& counts,
                                            std::optional<formats::RowFault>& fault) const {
  Text values[most_paths];
  Repeated repeated;
  fault = read_row(row, paths_, values, repeated);
  if (fault) {
    explain(row, *fault);
    return {};
  }
  if (repeated.paths != 0) [[unlikely]]
    count_repeated(repeated, counts, fault);
  keys::ValueKind kind = keys::ValueKind::usual;
  FirstWindow window;
  for (unsigned level = 0; level < this->values(); ++level) {
    take(level, *JsonValue(values[level], has_comma(level)), window, kind);
    count(level, kind, row, values[level], counts, fault);
  }
  if (terms_.count_name) check_countable(row, values[terms_.keys.size()], fault);
  return taken(window);
}

// The count becomes a member of the row.
void JsonlFormat::check_countable(Text row, Text member, std::optional<formats::RowFault>& fault) const {
  const std::size_t first = row.find_first_not_of(blanks);
  if (row[first] != '{')
    fault = {first, "this is no object, so that it cannot have its count as a member"};
  else if (member.data() != nullptr)
    fault = {static_cast<std::size_t>(member.data() - row.data()),
             fmt::format("the object has a member '{0}' already: choose another name for the count, such as {0}_of_rows",
                         *terms_.count_name)};
}

void JsonlFormat::count_in_front(Text row, std::uint64_t rows, formats::CountText& to) const {
  const std::size_t begin = row.find('{'), next = row.find_first_not_of(blanks, begin + 1);
  to.text.assign(row.substr(0, begin));
  fmt::format_to(std::back_inserter(to.text), "{{{}:{}{}", Json(*terms_.count_name).text(), rows, row[next] == '}' ? "" : ",");
  to.replaced = begin + 1;
}

std::optional<formats::RowFault> JsonlFormat::check_row(Text row, std::vector<formats::KeyCounts>& counts) const {
  counts.resize(levels_);
  std::optional<formats::RowFault> fault;
  (void)take_values(row, counts, fault);
  return fault;
}

void JsonlFormat::learn(const std::vector<formats::KeyCounts>& counts) const {
  if (std::ranges::any_of(counts, [](const formats::KeyCounts& key) { return key.repeated > 0; })) may_repeat_ = true;
}

void JsonlFormat::check_counts(const std::vector<formats::KeyCounts>& counts, std::uint64_t rows) const {
  if (terms_.allow_missing || rows == 0) return;
  for (std::size_t i = 0; i < counts.size(); ++i)
    if (counts[i].absent == rows) throw NoSuchPath(no_such_path(paths_[i], {sample_, rows}));
}

std::vector<std::byte> JsonlFormat::order_bytes() const {
  ByteWriter out;
  for (const bool flag : {terms_.nulls_first, terms_.strict}) out.add(std::uint64_t{flag});
  out.add(terms_.date_format);
  keys::add_keys(out, terms_.keys);
  return out.take();
}

std::unique_ptr<JsonlFormat> JsonlFormat::of_order_bytes(ByteReader& in, std::uint64_t /*header_lines*/) {
  JsonlTerms terms{.keys = {}, .date_format = {}, .may_repeat = true};
  for (bool* flag : {&terms.nulls_first, &terms.strict}) *flag = in.next_flag();
  terms.date_format = in.next_text();
  terms.keys = keys::next_keys(in);
  in.end();
  return std::make_unique<JsonlFormat>(terms);
}

}  // namespace ecosort::jsonl
