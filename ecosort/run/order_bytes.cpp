#include "run/order_bytes.h"

#include "base/byte_stream.h"
#include "base/errors.h"
#include "formats/all/each_format.h"

namespace ecosort::run {
namespace {

[[noreturn]] void fail() { throw UsageError("the description of a run names keys that there are not"); }

}  // namespace

// In the words of --key.
std::vector<std::byte> order_bytes(const records::RecordFormat& format) {
  ByteWriter out;
  out.add(std::uint64_t{format.keys.size()});
  for (const RecordKey& key : format.keys) out.add(to_string(key));
  return out.take();
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
  std::unique_ptr<formats::RowFormat> format = formats::order_of(description.format, in, header_lines);
  if (format == nullptr) fail();
  return format;
}

}  // namespace ecosort::run
