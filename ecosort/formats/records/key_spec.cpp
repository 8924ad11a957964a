#include "formats/records/key_spec.h"

#include <fmt/format.h>

#include <algorithm>
#include <cctype>
#include <charconv>
#include <optional>

#include "base/errors.h"

namespace ecosort::records {
namespace {

[[noreturn]] void refuse(std::string_view text, std::string_view reason) {
  throw UsageError(fmt::format("key '{}': {}; write OFFSET:LENGTH[:TYPE][:desc], for example 0:10 or 8:8:u64le", text, reason));
}

std::string type_names() {
  std::string names;
  for (const RecordTypeFacts& type : record_types) names += fmt::format("{}{}", names.empty() ? "" : ", ", type.name);
  return names;
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

// A type as it is written, such as "u64be".
struct WrittenType {
  const RecordTypeFacts* type;
  bool big_endian;
};

std::optional<WrittenType> find_type(std::string_view name) {
  for (const RecordTypeFacts& type : record_types) {
    if (name == type.name) return WrittenType{&type, false};
    if (type.width <= 1 || !name.starts_with(type.name)) continue;
    const std::string_view order = name.substr(type.name.size());
    if (order == "le" || order == "be") return WrittenType{&type, order == "be"};
  }
  return std::nullopt;
}

bool begins_with_letter(std::string_view text) noexcept {
  return !text.empty() && std::isalpha(static_cast<unsigned char>(text.front())) != 0;
}

[[noreturn]] void refuse_type(std::string_view text, std::string_view word) {
  refuse(text,
         fmt::format("'{}' is no type; there are {}, numbers of more than one byte also with le or be", word, type_names()));
}

const RecordTypeFacts* type_of(const RecordKey& field) {
  for (const RecordTypeFacts& type : record_types) {
    if (type.type == field.type && (type.width == 0 || type.width == field.length)) return &type;
  }
  return nullptr;
}

// The type and its byte order, as find_type reads them. The field suits its type.
std::string type_name(const RecordKey& field) {
  const RecordTypeFacts& type = *type_of(field);
  return fmt::format("{}{}", type.name, type.width <= 1 ? "" : field.is_big_endian ? "be" : "le");
}

}  // namespace

RecordFormat make_record_format(std::uint64_t record_size, const std::vector<RecordKey>& keys, bool reverse) {
  if (record_size == 0 || record_size > max_record_size) {
    throw UsageError(fmt::format("record size {}: a record has 1 to {} bytes", record_size, max_record_size));
  }
  RecordFormat format;
  format.record_size = static_cast<std::uint32_t>(record_size);
  format.keys = {RecordKey{0, std::min(default_key_length, format.record_size)}};
  if (!keys.empty()) format.keys = keys;
  check_record_format(format);
  for (RecordKey& field : format.keys) field.descends ^= reverse;
  return format;
}

RecordFormat make_record_format(const Records& records) {
  return make_record_format(size_of(records), records.keys, records.reverse);
}

std::uint64_t size_of(const Records& records) noexcept {
  return records.record_size != 0 ? records.record_size : usual_record_size;
}

bool is_assumed(const Records& records) noexcept {
  return records.record_size == 0 && records.keys.empty() && records.skip_bytes == 0;
}

void check_record_format(const RecordFormat& format) {
  if (format.record_size == 0 || format.record_size > max_record_size) {
    throw UsageError(fmt::format("record size {}: a record has 1 to {} bytes", format.record_size, max_record_size));
  }
  if (format.keys.empty()) throw UsageError("no key: give at least one, for example 0:10");
  for (const RecordKey& field : format.keys) {
    if (field.length == 0) throw UsageError(fmt::format("key {}:{} has no bytes", field.offset, field.length));
    if (type_of(field) == nullptr) {
      throw UsageError(fmt::format("key {}:{}: no number of its type has this length", field.offset, field.length));
    }
    const std::uint64_t end = std::uint64_t{field.offset} + field.length;
    if (end > format.record_size) {
      throw UsageError(
          fmt::format("key {} ends at byte {}, beyond the record of {} bytes", to_string(field), end, format.record_size));
    }
  }
}

std::string explain(const RecordKey& field) {
  const RecordTypeFacts& type = *type_of(field);
  const std::string_view order = type.width <= 1 ? "" : field.is_big_endian ? ", big-endian" : ", little-endian";
  return fmt::format("{} ({}{}, {} first)", to_string(field), type.explanation, order, field.descends ? "largest" : "smallest");
}

}  // namespace ecosort::records

namespace ecosort {

std::string to_string(const RecordKey& key) {
  const std::string type = key.type == RecordKeyType::bytes ? "" : ":" + records::type_name(key);
  return fmt::format("{}:{}{}{}", key.offset, key.length, type, key.descends ? ":desc" : "");
}

RecordKey::RecordKey(std::string_view text) {
  const std::vector<std::string_view> parts = records::split_at_colons(text);
  if (parts.size() < 2) records::refuse(text, "no length");
  offset = records::parse_number(text, parts[0], "offset");
  const auto take = [this](const records::WrittenType& written) {
    type = written.type->type;
    is_big_endian = written.big_endian;
  };
  std::size_t next = 2;
  if (const auto number = records::find_type(parts[1]); number && number->type->width > 0) {
    take(*number);
    length = number->type->width;
  } else {
    if (!number && records::begins_with_letter(parts[1])) records::refuse_type(text, parts[1]);
    length = records::parse_number(text, parts[1], "length");
    if (length == 0) records::refuse(text, "the length is 0");
    if (next < parts.size() && parts[next] != "desc") {
      const auto written = records::find_type(parts[next]);
      if (!written) records::refuse_type(text, parts[next]);
      if (const std::uint32_t width = written->type->width; width != 0 && width != length)
        records::refuse(text, fmt::format("{} has the length {}, not {}", parts[next], width, length));
      take(*written);
      ++next;
    }
  }
  if (next < parts.size() && parts[next] == "desc") {
    descends = true;
    ++next;
  }
  if (next < parts.size()) records::refuse(text, fmt::format("'{}' is not understood here", parts[next]));
}

}  // namespace ecosort
