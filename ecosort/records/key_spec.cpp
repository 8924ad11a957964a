#include "records/key_spec.h"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>

#include "base/errors.h"

namespace ecosort::records {
namespace {

[[noreturn]] void refuse(std::string_view text, std::string_view reason) {
  throw UsageError(fmt::format("key '{}': {}; write OFFSET:LENGTH[:bytes][:desc], for example 0:10", text, reason));
}

std::vector<std::string_view> split_at_colons(std::string_view text) {
  std::vector<std::string_view> parts;
  for (;;) {
    const std::size_t colon = text.find(':');
    parts.push_back(text.substr(0, colon));
    if (colon == std::string_view::npos) return parts;
    text.remove_prefix(colon + 1);
  }
}

std::uint32_t parse_number(std::string_view text, std::string_view part, std::string_view name) {
  std::uint32_t value = 0;
  const char* end = part.data() + part.size();
  const auto [stop, error] = std::from_chars(part.data(), end, value);
  if (error == std::errc::result_out_of_range) refuse(text, fmt::format("the {} is too large", name));
  if (error != std::errc{} || stop != end) refuse(text, fmt::format("the {} is not a whole number", name));
  return value;
}

}  // namespace

KeyField parse_key_field(std::string_view text) {
  const std::vector<std::string_view> parts = split_at_colons(text);
  if (parts.size() < 2) refuse(text, "no length");
  KeyField field;
  field.offset = parse_number(text, parts[0], "offset");
  field.length = parse_number(text, parts[1], "length");
  if (field.length == 0) refuse(text, "the length is 0");
  std::size_t next = 2;
  if (next < parts.size() && parts[next] == "bytes") ++next;
  if (next < parts.size() && parts[next] == "desc") {
    field.descending = true;
    ++next;
  }
  if (next < parts.size()) refuse(text, fmt::format("'{}' is not understood here", parts[next]));
  return field;
}

RecordFormat make_record_format(std::uint64_t record_size, const std::vector<std::string>& key_texts) {
  if (record_size == 0 || record_size > max_record_size) {
    throw UsageError(fmt::format("record size {}: a record has 1 to {} bytes", record_size, max_record_size));
  }
  RecordFormat format;
  format.record_size = static_cast<std::uint32_t>(record_size);
  format.keys = {KeyField{0, std::min(default_key_length, format.record_size)}};
  if (!key_texts.empty()) {
    format.keys.clear();
    for (const std::string& text : key_texts) format.keys.push_back(parse_key_field(text));
  }
  check_record_format(format);
  return format;
}

void check_record_format(const RecordFormat& format) {
  if (format.record_size == 0 || format.record_size > max_record_size) {
    throw UsageError(fmt::format("record size {}: a record has 1 to {} bytes", format.record_size, max_record_size));
  }
  if (format.keys.empty()) throw UsageError("no key: give at least one, for example --key 0:10");
  for (const KeyField& field : format.keys) {
    if (field.length == 0) throw UsageError(fmt::format("key {} has no bytes", to_string(field)));
    const std::uint64_t end = std::uint64_t{field.offset} + field.length;
    if (end > format.record_size) {
      throw UsageError(
          fmt::format("key {} ends at byte {}, beyond the record of {} bytes", to_string(field), end, format.record_size));
    }
  }
}

std::string to_string(const KeyField& field) {
  return fmt::format("{}:{}{}", field.offset, field.length, field.descending ? ":desc" : "");
}

}  // namespace ecosort::records
