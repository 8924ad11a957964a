#include "formats/keys/order_bytes.h"

#include <string>

#include "base/byte_stream.h"
#include "formats/csv/csv_format.h"

namespace ecosort::csv {
namespace {

// One that is not simple has no byte in the place of the delimiter, and begins behind it.
void add_dialect(ByteWriter& out, Dialect dialect) {
  if (dialect.is_simple()) {
    out.add_byte(dialect.delimiter.first());
  } else {
    out.add(no_byte);
    out.add(std::string(dialect.delimiter.text()));
    out.add_byte(dialect.escape);
  }
  out.add_byte(dialect.quote);
}

Dialect next_dialect(ByteReader& in) {
  Dialect dialect;
  if (const std::optional<char> delimiter = in.next_byte_or_none()) {
    dialect.delimiter = *delimiter;
  } else {
    const std::string bytes = in.next_text();
    in.require(!bytes.empty() && bytes.size() <= Delimiter::most_bytes);
    dialect.delimiter = Delimiter(bytes);
    dialect.escape = in.next_byte_or_none();
  }
  dialect.quote = in.next_byte_or_none();
  return dialect;
}

}  // namespace

std::vector<std::byte> CsvFormat::order_bytes() const {
  ByteWriter out;
  add_dialect(out, terms_.dialect);
  for (const bool flag : {terms_.has_header, terms_.nulls_first, terms_.strict}) out.add(std::uint64_t{flag});
  out.add(terms_.date_format);
  keys::add_keys(out, terms_.keys);
  return out.take();
}

std::unique_ptr<CsvFormat> CsvFormat::of_order_bytes(ByteReader& in, std::uint64_t /*header_lines*/) {
  CsvTerms terms;
  terms.dialect = next_dialect(in);
  for (bool* flag : {&terms.has_header, &terms.nulls_first, &terms.strict}) *flag = in.next_flag();
  terms.date_format = in.next_text();
  terms.keys = keys::next_keys(in);
  in.end();
  return std::make_unique<CsvFormat>(terms);
}

}  // namespace ecosort::csv
