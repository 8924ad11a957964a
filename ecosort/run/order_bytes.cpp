#include "run/order_bytes.h"

#include <fmt/format.h>

#include <algorithm>
#include <iterator>
#include <string>
#include <utility>

#include "base/byte_stream.h"
#include "base/errors.h"
#include "ecosort/value_types.hpp"
#include "formats/csv/csv_format.h"
#include "formats/jsonl/jsonl_format.h"
#include "formats/lines/collation.h"
#include "formats/lines/line_order.h"

namespace ecosort::run {
namespace {

constexpr std::uint64_t no_byte = 256;        // where a byte may be or not
constexpr std::uint64_t with_argument = 256;  // is added to a type whose argument follows

[[noreturn]] void fail() { throw UsageError("the description of a run names keys that there are not"); }

std::uint64_t byte_or_none(std::optional<char> byte) { return byte ? static_cast<unsigned char>(*byte) : no_byte; }

std::optional<char> next_byte_or_none(ByteReader& in) {
  const std::uint64_t byte = in.next_below(no_byte + 1);
  return byte == no_byte ? std::nullopt : std::optional(static_cast<char>(byte));
}

char next_byte(ByteReader& in) { return static_cast<char>(in.next_below(no_byte)); }

void add_key(ByteWriter& out, const lines::SortKey& key) {
  for (const std::uint64_t value :
       {std::uint64_t{key.begin_field}, std::uint64_t{key.begin_char}, std::uint64_t{key.end_field}, std::uint64_t{key.end_char},
        std::uint64_t{key.skip_begin_blanks}, std::uint64_t{key.skip_end_blanks}, static_cast<std::uint64_t>(key.kind),
        static_cast<std::uint64_t>(key.ignored), std::uint64_t{key.fold}, std::uint64_t{key.reverse}})
    out.add(value);
}

lines::SortKey next_line_key(ByteReader& in) {
  lines::SortKey key;
  for (std::size_t* place : {&key.begin_field, &key.begin_char, &key.end_field, &key.end_char}) *place = in.next();
  key.skip_begin_blanks = in.next_flag();
  key.skip_end_blanks = in.next_flag();
  key.kind = static_cast<lines::KeyKind>(in.next_below(static_cast<std::uint64_t>(lines::KeyKind::collated) + 1));
  key.ignored = static_cast<lines::Ignored>(in.next_below(static_cast<std::uint64_t>(lines::Ignored::unprintable) + 1));
  key.fold = in.next_flag();
  key.reverse = in.next_flag();
  return key;
}

// The language of an order, and the version of what knows it.
void add_collation(ByteWriter& out, const std::string& locale) {
  out.add(locale);
  out.add(lines::collation_version());
}

std::string next_collation(ByteReader& in) {
  std::string locale = in.next_text();
  const std::string theirs = in.next_text(), own = lines::collation_version();
  if (theirs != own)
    throw UsageError(
        fmt::format("these runs have the order of '{}' by {}, and here is {}, whose order may differ; sort the input again",
                    locale, theirs, own));
  return locale;
}

std::vector<std::byte> bytes_of(const lines::LineOrder& order) {
  ByteWriter out;
  out.add(byte_or_none(order.separator()));
  out.add(byte_or_none(order.terminator()));
  out.add(std::string(order.salt().begin(), order.salt().end()));
  out.add(std::uint64_t{order.levels()});
  for (unsigned level = 0; level < order.levels(); ++level) add_key(out, order.key(level));
  if (order.collation()) add_collation(out, order.collation()->locale());
  if (order.record_marks() != nullptr) out.add(order.record_marks()->start());
  return out.take();
}

// The last resort is a key like the others here.
std::unique_ptr<formats::RowFormat> next_lines(ByteReader& in, std::uint64_t header_lines) {
  lines::LineOrderTerms terms;
  terms.last_resort = false;
  terms.separator = next_byte_or_none(in);
  const char terminator = next_byte(in);
  const std::string salt = in.next_text();
  in.require(salt.size() == terms.salt.size() && (terminator == '\n' || terminator == '\0'));
  std::ranges::copy(salt, terms.salt.begin());
  for (std::uint64_t left = in.next_count(10 * sizeof(std::uint64_t)); left > 0; --left) terms.keys.push_back(next_line_key(in));
  in.require(!terms.keys.empty());
  if (std::ranges::any_of(terms.keys, [](const lines::SortKey& key) { return key.kind == lines::KeyKind::collated; }))
    terms.collation.emplace(next_collation(in));
  std::optional<formats::RecordMarks> marks;
  if (in.has_more()) marks.emplace(in.next_text());
  in.end();
  auto order = std::make_unique<lines::LineOrder>(terms, terminator, lines::HeaderLines{header_lines, {}});
  if (marks) order->mark_records(*std::move(marks));
  return order;
}

void add_keys(ByteWriter& out, const std::vector<ValueKey>& keys) {
  out.add(std::uint64_t{keys.size()});
  for (const ValueKey& key : keys) {
    out.add(key.name);
    out.add(static_cast<std::uint64_t>(key.type) + (key.argument.empty() ? 0 : with_argument));
    out.add(std::uint64_t{key.descends});
    if (key.is_collated())
      add_collation(out, key.argument);
    else if (!key.argument.empty())
      out.add(key.argument);
  }
}

std::vector<ValueKey> next_keys(ByteReader& in) {
  std::vector<ValueKey> keys;
  for (std::uint64_t left = in.next_count(3 * sizeof(std::uint64_t)); left > 0; --left) {
    ValueKey key;
    key.name = in.next_text();
    const std::uint64_t type = in.next_below(with_argument + std::size(value_types));
    const bool has_argument = type >= with_argument;
    in.require(has_argument || type < std::size(value_types));
    key.type = static_cast<ValueType>(has_argument ? type - with_argument : type);
    key.descends = in.next_flag();
    if (has_argument) key.argument = key.type == ValueType::text ? next_collation(in) : in.next_text();
    keys.push_back(std::move(key));
  }
  return keys;
}

// One that is not simple has no byte in the place of the delimiter, and begins behind it.
void add_dialect(ByteWriter& out, csv::Dialect dialect) {
  if (dialect.is_simple()) {
    out.add(byte_or_none(dialect.delimiter.first()));
  } else {
    out.add(no_byte);
    out.add(std::string(dialect.delimiter.text()));
    out.add(byte_or_none(dialect.escape));
  }
  out.add(byte_or_none(dialect.quote));
}

csv::Dialect next_dialect(ByteReader& in) {
  csv::Dialect dialect;
  if (const std::optional<char> delimiter = next_byte_or_none(in)) {
    dialect.delimiter = *delimiter;
  } else {
    const std::string bytes = in.next_text();
    in.require(!bytes.empty() && bytes.size() <= csv::Delimiter::most_bytes);
    dialect.delimiter = csv::Delimiter(bytes);
    dialect.escape = next_byte_or_none(in);
  }
  dialect.quote = next_byte_or_none(in);
  return dialect;
}

std::vector<std::byte> bytes_of(const csv::CsvTerms& terms) {
  ByteWriter out;
  add_dialect(out, terms.dialect);
  for (const bool flag : {terms.has_header, terms.nulls_first, terms.strict}) out.add(std::uint64_t{flag});
  out.add(terms.date_format);
  add_keys(out, terms.keys);
  return out.take();
}

std::unique_ptr<formats::RowFormat> next_csv(ByteReader& in) {
  csv::CsvTerms terms;
  terms.dialect = next_dialect(in);
  for (bool* flag : {&terms.has_header, &terms.nulls_first, &terms.strict}) *flag = in.next_flag();
  terms.date_format = in.next_text();
  terms.keys = next_keys(in);
  in.end();
  return std::make_unique<csv::CsvFormat>(terms);
}

std::vector<std::byte> bytes_of(const jsonl::JsonlTerms& terms) {
  ByteWriter out;
  for (const bool flag : {terms.nulls_first, terms.strict}) out.add(std::uint64_t{flag});
  out.add(terms.date_format);
  add_keys(out, terms.keys);
  return out.take();
}

std::unique_ptr<formats::RowFormat> next_jsonl(ByteReader& in) {
  jsonl::JsonlTerms terms{.keys = {}, .date_format = {}, .may_repeat = true};
  for (bool* flag : {&terms.nulls_first, &terms.strict}) *flag = in.next_flag();
  terms.date_format = in.next_text();
  terms.keys = next_keys(in);
  in.end();
  return std::make_unique<jsonl::JsonlFormat>(terms);
}

}  // namespace

// In the words of --key.
std::vector<std::byte> order_bytes(const records::RecordFormat& format) {
  ByteWriter out;
  out.add(std::uint64_t{format.keys.size()});
  for (const RecordKey& key : format.keys) out.add(to_string(key));
  return out.take();
}

std::vector<std::byte> order_bytes(const formats::RowFormat& format) {
  switch (format.kind()) {
    case formats::Kind::lines:
      return bytes_of(static_cast<const lines::LineOrder&>(format));
    case formats::Kind::csv:
      return bytes_of(static_cast<const csv::CsvFormat&>(format).terms());
    case formats::Kind::jsonl:
      return bytes_of(static_cast<const jsonl::JsonlFormat&>(format).terms());
    case formats::Kind::shuffled:
    case formats::Kind::line_groups:
      break;  // their runs end with the process
  }
  return {};
}

records::RecordFormat record_format_of(const Description& description) {
  ByteReader in(description.order, fail);
  std::vector<RecordKey> keys;
  for (std::uint64_t left = in.next_count(sizeof(std::uint64_t)); left > 0; --left) keys.emplace_back(in.next_text());
  in.end();
  in.require(!keys.empty());
  return records::make_record_format(description.record_size, keys);
}

std::unique_ptr<formats::RowFormat> row_format_of(const Description& description, std::uint64_t header_lines) {
  ByteReader in(description.order, fail);
  switch (description.format) {
    case Description::Format::records:
      break;
    case Description::Format::lines:
      return next_lines(in, header_lines);
    case Description::Format::csv:
      return next_csv(in);
    case Description::Format::jsonl:
      return next_jsonl(in);
  }
  fail();
}

}  // namespace ecosort::run
