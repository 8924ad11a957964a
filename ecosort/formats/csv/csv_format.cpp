#include "formats/csv/csv_format.h"

#include <fmt/format.h>

#include <algorithm>
#include <iterator>
#include <utility>

#include "base/errors.h"
#include "formats/csv/check_row.h"
#include "formats/lines/key_bytes.h"
#include "formats/lines/pass_quotes.h"
#include "formats/lines/text.h"

namespace ecosort::csv {
namespace {

void check_dialect(Dialect dialect) {
  const std::string_view delimiter = dialect.delimiter.text();
  const auto is_end = [](std::optional<char> c) { return c == '\n' || c == '\r'; };
  if (delimiter.find_first_of("\r\n") != std::string_view::npos || is_end(dialect.quote))
    throw UsageError("neither the delimiter nor the quote can be a byte that ends rows");
  if (dialect.quote && delimiter.find(*dialect.quote) != std::string_view::npos)
    throw UsageError(delimiter.size() == 1 ? "the delimiter and the quote must differ" : "the quote cannot be in the delimiter");
  if (!dialect.escape) return;
  if (is_end(dialect.escape)) throw UsageError("the escape cannot be a byte that ends rows");
  if (delimiter.find(*dialect.escape) != std::string_view::npos) throw UsageError("the escape cannot be in the delimiter");
  if (dialect.escape == dialect.quote)
    throw UsageError("the escape and the quote must differ; a quote within quotes may be doubled anyway");
  if (lines::is_letter(*dialect.escape) || lines::is_digit(*dialect.escape))
    throw UsageError("the escape cannot be a letter or a digit");
}

void check_comment(const std::string& comment, Dialect dialect) {
  if (comment.find_first_of("\r\n") != std::string::npos) throw UsageError("a comment cannot begin with an end of a line");
  if (comment.empty()) return;
  if (comment.front() == dialect.quote || comment.front() == dialect.delimiter.first())
    throw UsageError("a comment cannot begin with the quote or the delimiter");
  if (comment.front() == dialect.escape) throw UsageError("a comment cannot begin with the escape");
}

}  // namespace

CsvFormat::CsvFormat(const CsvTerms& terms)
    : ValueFormat(Format::csv, terms.dialect.quote, terms.dialect.escape),
      kernels_(csv_kernels(terms.dialect)),
      line_kernels_(lines::line_kernels()),
      terms_(terms),
      dialect_(terms.dialect),
      columns_(terms.dialect, terms.has_header) {
  check_dialect(dialect_);
  check_comment(terms_.comment, dialect_);
  if (terms_.keys.empty()) throw UsageError("no key; name a column");
  if (!terms.date_format.empty()) time_format_ = std::make_unique<TimeFormat>(terms.date_format);
  std::vector<Key> keys;
  keys.reserve(terms_.keys.size());
  for (const ValueKey& key : terms_.keys) keys.emplace_back(key, terms.nulls_first, time_format_.get());
  set_keys(std::move(keys), terms_.nulls_first, terms_.rows_decide_last);
  leaves_out_bad_rows_ = terms_.leaves_out_bad_rows;
}

void CsvFormat::begin_input() {
  wants_first_row_ = is_first_line_ = true;
  bytes_before_ = lines_before_ = 0;
  lines_to_skip_ = terms_.skip_lines;
}

// Quotes mean nothing in lines that are no rows.
const char* CsvFormat::find_first_row_end(const char* at, const char* end) const {
  const bool is_line = lines_to_skip_ > 0 || is_comment({at, static_cast<std::size_t>(end - at)});
  return is_line ? line_kernels_.find(at, end, '\n') : RowFormat::find_first_row_end(at, end);
}

// Such lines of the first input stay on top: a title of a report, or what a program wrote about its data.
formats::FirstRow CsvFormat::take_line_before_rows(Text line) {
  if (lines_to_skip_ > 0) --lines_to_skip_;
  bytes_before_ += line.size() + 1;
  ++lines_before_;
  return columns_.are_known() ? formats::FirstRow::is_comment : formats::FirstRow::goes_on_top;
}

// The line goes on top, so that the output is read as the input was.
formats::FirstRow CsvFormat::take_first_row(const std::string& input, Text row) {
  if (lines_to_skip_ > 0 || is_comment(row)) return take_line_before_rows(row);
  const Text line = row.substr(0, row.find('\n'));
  if (const auto delimiter = named_delimiter(line, dialect_); delimiter && std::exchange(is_first_line_, false)) {
    take_delimiter(input, *delimiter);
    bytes_before_ += line.size() + 1;
    ++lines_before_;
    const bool is_first = !std::exchange(has_delimiter_line_, true) && !columns_.are_known();
    if (line.size() == row.size()) return is_first ? formats::FirstRow::goes_on_top : formats::FirstRow::is_left_out;
    row.remove_prefix(line.size() + 1);
  }
  is_first_line_ = false;
  columns_.take(input, row, {lines_before_, bytes_before_});
  if (places_.empty())
    for (const ValueKey& words : terms_.keys) places_.push_back(columns_.find(words));
  wants_first_row_ = false;
  if (terms_.count_name) check_count();
  if (!terms_.has_header) return formats::FirstRow::is_sorted;
  const bool is_first = !has_top_;
  has_top_ = true;
  if (is_first) {
    header_window_ = window(row);
    header_bytes_ = row.size() + 1;
  }
  return is_first ? formats::FirstRow::goes_on_top : formats::FirstRow::is_left_out;
}

void CsvFormat::take_delimiter(const std::string& input, Delimiter delimiter) {
  const Delimiter known = dialect_.delimiter;
  if (delimiter == known) return;
  if (columns_.are_known())
    throw InputRefused(fmt::format("{}: its first line names '{}' as the delimiter, and that of the file before is '{}'", input,
                                   delimiter.text(), known.text()));
  if (terms_.names_delimiter)
    throw InputRefused(
        fmt::format("{}: its first line names '{}' as the delimiter, and you name '{}'; leave yours out, or take "
                    "that line off the file",
                    input, delimiter.text(), known.text()));
  if (terms_.comment.starts_with(delimiter.first()))
    throw InputRefused(
        fmt::format("{}: its first line names '{}' as the delimiter, with which comments begin as well; take that line "
                    "off the file, or let comments begin with something else",
                    input, delimiter.text()));
  dialect_.delimiter = delimiter;
  columns_.set_delimiter(delimiter);
}

bool CsvFormat::must_be_quoted(std::string_view name) const {
  const std::string special{dialect_.delimiter.first(), '\n', '\r', dialect_.quote.value_or('\n'),
                            dialect_.escape.value_or('\n')};
  return name.find_first_of(special) != std::string_view::npos;
}

// Refuses a count before the first row is sorted.
void CsvFormat::check_count() const {
  const std::string& name = *terms_.count_name;
  if (const char first = dialect_.delimiter.first(); lines::is_digit(first))
    throw UsageError(fmt::format("rows cannot be counted in a column where the delimiter is the digit {}", first));
  if (!terms_.has_header) return;
  if (std::ranges::find(columns_.names(), name) != columns_.names().end())
    throw UsageError(
        fmt::format("the header has a column '{}' already: choose another name for the count, such as {}_of_rows", name, name));
  if (!terms_.comment.empty() && name.starts_with(terms_.comment))
    throw UsageError(fmt::format("a header that begins with '{}' would be read as a comment; choose another name for the count",
                                 keys::shown(name)));
  if (!dialect_.quote && !dialect_.escape && must_be_quoted(name))
    throw UsageError(fmt::format("a column cannot be called '{}' where there are no quotes", keys::shown(name)));
}

void CsvFormat::count_in_front(Text /*row*/, std::uint64_t rows, formats::CountText& to) const {
  to.text.clear();
  fmt::format_to(std::back_inserter(to.text), "{}{}", rows, dialect_.delimiter.text());
}

std::string CsvFormat::quoted(std::string name) const {
  const std::string quote(1, *dialect_.quote);
  for (std::size_t i = 0; (i = name.find(quote, i)) != std::string::npos; i += 2) name.insert(i, quote);
  return quote + name + quote;
}

std::string CsvFormat::escaped(const std::string& name) const {
  std::string text;
  for (const char c : name) {
    if (must_be_quoted({&c, 1})) text += *dialect_.escape;
    text += c;
  }
  return text;
}

//   byte order mark | lines before rows | sep=; | header        the name goes in front of the header, which comes last
std::string CsvFormat::top_of_counted(const std::string& top) const {
  if (!has_top_) return top;
  const std::size_t at = top.size() - header_bytes_;
  std::string name = *terms_.count_name;
  if (must_be_quoted(name)) name = dialect_.escape ? escaped(name) : quoted(name);
  return top.substr(0, at) + name + std::string(dialect_.delimiter.text()) + top.substr(at);
}

void CsvFormat::miss_first_row(const std::string& input) const {
  if (terms_.has_header) throw HeaderUnusable(fmt::format("{}: is empty, and a header is wanted", input));
}

bool CsvFormat::is_header(Text row) const {
  const std::vector<std::string>& names = columns_.names();
  if (*CsvValue(field_of(row, 0), dialect_) != names[places_[0]]) return false;  // as of all rows without a value there
  const SplitRow split = split_row(row, dialect_);
  return !split.fault && std::ranges::equal(split.fields, names, [&](Text field, const std::string& name) {
    return *CsvValue(field, dialect_) == name;
  });
}

// A comment ends with its line, also where that ends with an escape. An escape at the end of a row would take the first byte of
// two for a part of the value.
std::string_view CsvFormat::missing_end(Text row, char before_end) const {
  for (std::size_t end = 0; is_comment(row) && (end = row.find('\n')) != Text::npos;) row.remove_prefix(end + 1);
  formats::Inside inside;
  if (escape()) lines::pass_quotes(*this, row, inside);
  return row.empty() ? "" : formats::end_like(row, inside.escape ? '\0' : before_end);
}

std::optional<formats::RowFault> CsvFormat::fault_in(Text beginning, bool is_all) const {
  if (is_comment(beginning)) return std::nullopt;
  return split_row(beginning, dialect_, is_all).fault;
}

std::optional<formats::RowFault> CsvFormat::look_at(Text row, std::vector<std::uint32_t>& borders) const {
  const SplitRow split = split_row(row, dialect_);
  if (split.fault) return split.fault;
  if (split.fields.size() != column_count()) {
    formats::RowFault fault = ragged_row(row, split.fields.size(), column_count(), terms_.has_header);
    if (const auto other = leaves_out_bad_rows() ? std::nullopt : columns_.delimiter_for_row(row))
      fault.delimiter = other->text();
    return fault;
  }
  borders.clear();
  const std::size_t to_border = dialect_.delimiter.size() - 1;
  for (const Text field : split.fields)
    borders.push_back(static_cast<std::uint32_t>(static_cast<std::size_t>(field.data() - row.data()) + field.size() + to_border));
  borders.back() = static_cast<std::uint32_t>(row.size());
  return std::nullopt;
}

Text CsvFormat::field_of(const Fields& row, unsigned level) const noexcept {
  const std::size_t column = places_[level], begin = column == 0 ? row.begin : row.borders[column - 1] + 1;
  const bool is_last = column + 1 == column_count();
  const std::size_t end = row.borders[column] - (is_last ? 0 : dialect_.delimiter.size() - 1);
  const Text field(row.bytes + begin, end - begin);
  return is_last ? without_return(field, dialect_) : field;
}

void CsvFormat::count(unsigned level, ValueKind kind, const Fields& row, std::vector<formats::KeyCounts>& counts,
                      std::optional<formats::RowFault>& fault) const {
  if (kind == ValueKind::usual) return;
  if (kind == ValueKind::empty) {
    ++counts[level].empty;
    return;
  }
  ++counts[level].unparsable;
  if (!terms_.strict || fault) return;
  const Text field = field_of(row, level);
  fault = {static_cast<std::size_t>(field.data() - row.bytes),
           fmt::format("column '{}': '{}' is no {}", terms_.keys[level].name, keys::shown(*CsvValue(field, dialect_)),
                       keys::type_word(terms_.keys[level]))};
}

records::KeyWindow CsvFormat::take_values(const Fields& row, std::vector<formats::KeyCounts>& counts,
                                          std::optional<formats::RowFault>& fault) const {
  ValueKind kind = ValueKind::usual;
  FirstWindow window;
  for (unsigned level = 0; level < values(); ++level) {
    csv::with_value(field_of(row, level), dialect_, [&](Text value) { take(level, value, window, kind); });
    if (kind != ValueKind::usual) [[unlikely]]
      count(level, kind, row, counts, fault);
  }
  return taken(window);
}

std::optional<formats::RowFault> CsvFormat::check_row(Text row, std::vector<formats::KeyCounts>& counts) const {
  counts.resize(levels_);
  if (is_comment(row)) return formats::RowFault{0, "a comment is among the rows; a sort leaves it out"};
  Scan scan;
  std::vector<std::uint32_t> long_borders;
  const std::uint32_t* borders = scan.offsets;
  if (row.size() < lines::split_bytes) kernels_.scan(row.data(), row.size() + 1, dialect_, scan);
  if (row.size() >= lines::split_bytes || scan.is_wrong || scan.count != column_count()) {
    if (const auto fault = look_at(row, long_borders)) return fault;
    borders = long_borders.data();
  }
  std::optional<formats::RowFault> fault;
  const records::KeyWindow window = take_values({row.data(), 0, borders}, counts, fault);
  if (terms_.strict && repeats_header(row, window)) return formats::RowFault{0, std::string(is_header_again)};
  return fault;
}

Text CsvFormat::field_of(Text row, unsigned level) const noexcept {
  const auto [begin, end] = kernels_.field(row.data(), row.size(), dialect_, places_[level]);
  const Text field = row.substr(begin, end - begin);
  return end == row.size() ? without_return(field, dialect_) : field;
}

const char* CsvFormat::plain_row_end(const char* at, const char* end, records::KeyWindow& window) const {
  const auto room = static_cast<std::size_t>(end - at);
  const CsvKernels::PlainRow row = kernels_.plain_row(at, std::min(room, lines::split_bytes), dialect_, places_[0]);
  if (row.size == row.none) return nullptr;
  Text field(at + row.begin(), row.end() - row.begin());
  if (row.end() == row.size && field.ends_with('\r')) field.remove_suffix(1);
  ValueKind kind = ValueKind::usual;
  window = has_joint_window() ? joint_window({at, row.size}, field) : keys_[0].window(field, 0, kind);
  return at + row.size;
}

}  // namespace ecosort::csv
