#include "formats/lines/order_bytes.h"

#include <fmt/format.h>

#include <algorithm>
#include <memory>
#include <optional>
#include <utility>
#include <vector>

#include "base/errors.h"
#include "formats/lines/line_order.h"

namespace ecosort::lines {
namespace {

void add_key(ByteWriter& out, const SortKey& key) {
  for (const std::uint64_t value :
       {std::uint64_t{key.begin_field}, std::uint64_t{key.begin_char}, std::uint64_t{key.end_field}, std::uint64_t{key.end_char},
        std::uint64_t{key.skip_begin_blanks}, std::uint64_t{key.skip_end_blanks}, static_cast<std::uint64_t>(key.kind),
        static_cast<std::uint64_t>(key.ignored), std::uint64_t{key.fold}, std::uint64_t{key.reverse}})
    out.add(value);
}

SortKey next_line_key(ByteReader& in) {
  SortKey key;
  for (std::size_t* place : {&key.begin_field, &key.begin_char, &key.end_field, &key.end_char}) *place = in.next();
  key.skip_begin_blanks = in.next_flag();
  key.skip_end_blanks = in.next_flag();
  key.kind = static_cast<KeyKind>(in.next_below(static_cast<std::uint64_t>(KeyKind::collated) + 1));
  key.ignored = static_cast<Ignored>(in.next_below(static_cast<std::uint64_t>(Ignored::unprintable) + 1));
  key.fold = in.next_flag();
  key.reverse = in.next_flag();
  return key;
}

}  // namespace

void add_collation(ByteWriter& out, const std::string& locale) {
  out.add(locale);
  out.add(collation_version());
}

std::string next_collation(ByteReader& in) {
  std::string locale = in.next_text();
  const std::string theirs = in.next_text(), own = collation_version();
  if (theirs != own)
    throw UsageError(
        fmt::format("these runs have the order of '{}' by {}, and here is {}, whose order may differ; sort the input again",
                    locale, theirs, own));
  return locale;
}

std::vector<std::byte> LineOrder::order_bytes() const {
  ByteWriter out;
  out.add_byte(separator_);
  out.add_byte(terminator());
  out.add(std::string(salt_.begin(), salt_.end()));
  out.add(std::uint64_t{levels()});
  for (const SortKey& key : keys_) add_key(out, key);
  if (collation_) add_collation(out, collation_->locale());
  if (record_marks() != nullptr) out.add(record_marks()->start());
  return out.take();
}

// The last resort is a key like the others here.
std::unique_ptr<LineOrder> LineOrder::of_order_bytes(ByteReader& in, std::uint64_t header_lines) {
  LineOrderTerms terms;
  terms.last_resort = false;
  terms.separator = in.next_byte_or_none();
  const char terminator = static_cast<char>(in.next_below(no_byte));
  const std::string salt = in.next_text();
  in.require(salt.size() == terms.salt.size() && (terminator == '\n' || terminator == '\0'));
  std::ranges::copy(salt, terms.salt.begin());
  for (std::uint64_t left = in.next_count(10 * sizeof(std::uint64_t)); left > 0; --left) terms.keys.push_back(next_line_key(in));
  in.require(!terms.keys.empty());
  if (std::ranges::any_of(terms.keys, [](const SortKey& key) { return key.kind == KeyKind::collated; }))
    terms.collation.emplace(next_collation(in));
  std::optional<formats::RecordMarks> marks;
  if (in.has_more()) marks.emplace(in.next_text());
  in.end();
  auto order = std::make_unique<LineOrder>(terms, terminator, HeaderLines{header_lines, {}});
  if (marks) order->mark_records(*std::move(marks));
  return order;
}

}  // namespace ecosort::lines
