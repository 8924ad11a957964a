#include "formats/fixed/key_spec.h"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <optional>

#include "base/errors.h"

namespace ecosort::records {
namespace {

struct NamedType {
  std::string_view name;
  KeyType type;
  std::uint32_t width;  // bytes; 0: any
  std::string_view explanation;
};

constexpr NamedType types[] = {{"bytes", KeyType::bytes, 0, "bytes"},
                               {"nocase", KeyType::nocase, 0, "bytes, ASCII letters of either case equal"},
                               {"dec", KeyType::dec, 0, "decimal number"},
                               {"u8", KeyType::unsigned_integer, 1, "unsigned integer"},
                               {"u16", KeyType::unsigned_integer, 2, "unsigned integer"},
                               {"u32", KeyType::unsigned_integer, 4, "unsigned integer"},
                               {"u64", KeyType::unsigned_integer, 8, "unsigned integer"},
                               {"i8", KeyType::signed_integer, 1, "signed integer"},
                               {"i16", KeyType::signed_integer, 2, "signed integer"},
                               {"i32", KeyType::signed_integer, 4, "signed integer"},
                               {"i64", KeyType::signed_integer, 8, "signed integer"},
                               {"f32", KeyType::floating, 4, "floating-point number"},
                               {"f64", KeyType::floating, 8, "floating-point number"}};

[[noreturn]] void refuse(std::string_view text, std::string_view reason) {
  throw UsageError(fmt::format("key '{}': {}; write OFFSET:LENGTH[:TYPE][:desc], for example 0:10 or 8:8:u64le", text, reason));
}

std::string type_names() {
  std::string names;
  for (const NamedType& type : types) names += fmt::format("{}{}", names.empty() ? "" : ", ", type.name);
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
  const NamedType* type;
  bool big_endian;
};

std::optional<WrittenType> find_type(std::string_view name) {
  for (const NamedType& type : types) {
    if (name == type.name) return WrittenType{&type, false};
    if (type.width <= 1 || !name.starts_with(type.name)) continue;
    const std::string_view order = name.substr(type.name.size());
    if (order == "le" || order == "be") return WrittenType{&type, order == "be"};
  }
  return std::nullopt;
}

const NamedType* type_of(const KeyField& field) {
  for (const NamedType& type : types) {
    if (type.type == field.type && (type.width == 0 || type.width == field.length)) return &type;
  }
  return nullptr;
}

// The type and its byte order, as find_type reads them. The field suits its type.
std::string type_name(const KeyField& field) {
  const NamedType& type = *type_of(field);
  return fmt::format("{}{}", type.name, type.width <= 1 ? "" : field.big_endian ? "be" : "le");
}

void set_type(KeyField& field, const WrittenType& written) {
  field.type = written.type->type;
  field.big_endian = written.big_endian;
}

}  // namespace

KeyField parse_key_field(std::string_view text) {
  const std::vector<std::string_view> parts = split_at_colons(text);
  if (parts.size() < 2) refuse(text, "no length");
  KeyField field;
  field.offset = parse_number(text, parts[0], "offset");
  std::size_t next = 2;
  if (const auto number = find_type(parts[1]); number && number->type->width > 0) {
    set_type(field, *number);
    field.length = number->type->width;
  } else {
    field.length = parse_number(text, parts[1], "length");
    if (field.length == 0) refuse(text, "the length is 0");
    if (next < parts.size() && parts[next] != "desc") {
      const auto written = find_type(parts[next]);
      if (!written)
        refuse(text, fmt::format("'{}' is no type; there are {}, numbers of more than one byte also with le or be", parts[next],
                                 type_names()));
      if (const std::uint32_t width = written->type->width; width != 0 && width != field.length)
        refuse(text, fmt::format("{} has the length {}, not {}", parts[next], width, field.length));
      set_type(field, *written);
      ++next;
    }
  }
  if (next < parts.size() && parts[next] == "desc") {
    field.descending = true;
    ++next;
  }
  if (next < parts.size()) refuse(text, fmt::format("'{}' is not understood here", parts[next]));
  return field;
}

RecordFormat make_record_format(std::uint64_t record_size, const std::vector<std::string>& key_texts, bool reverse) {
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
  for (KeyField& field : format.keys) field.descending ^= reverse;
  return format;
}

void check_record_format(const RecordFormat& format) {
  if (format.record_size == 0 || format.record_size > max_record_size) {
    throw UsageError(fmt::format("record size {}: a record has 1 to {} bytes", format.record_size, max_record_size));
  }
  if (format.keys.empty()) throw UsageError("no key: give at least one, for example 0:10");
  for (const KeyField& field : format.keys) {
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

std::string to_string(const KeyField& field) {
  const std::string type = field.type == KeyType::bytes ? "" : ":" + type_name(field);
  return fmt::format("{}:{}{}{}", field.offset, field.length, type, field.descending ? ":desc" : "");
}

std::string explain(const KeyField& field) {
  const NamedType& type = *type_of(field);
  const std::string_view order = type.width <= 1 ? "" : field.big_endian ? ", big-endian" : ", little-endian";
  return fmt::format("{} ({}{}, {} first)", to_string(field), type.explanation, order, field.descending ? "largest" : "smallest");
}

}  // namespace ecosort::records
