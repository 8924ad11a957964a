#include "engine/rows/split_rows.h"

#include <fmt/format.h>

#include <algorithm>
#include <string_view>
#include <utility>

#include "base/uint128.h"
#include "formats/lines/line_run.h"
#include "formats/lines/text.h"
#include "hash/multiset_hash.h"

namespace ecosort::engine::rows {
namespace {

constexpr std::size_t most_value_bytes = 150;  // of 255 that a name may have

constexpr bool may_stay(unsigned char c) noexcept {
  constexpr std::string_view signs = "-_.,=+@ ";
  return c >= 0x80 || lines::is_letter(static_cast<char>(c)) || lines::is_digit(static_cast<char>(c)) ||
         signs.find(static_cast<char>(c)) != std::string_view::npos;
}

}  // namespace

std::string name_of_value(const std::optional<std::string>& value) {
  if (!value) return "(none)";
  if (value->empty()) return "(empty)";
  std::string name;
  for (const char c : *value) {
    const bool hides = name.empty() && c == '.';
    if (may_stay(static_cast<unsigned char>(c)) && !hides)
      name += c;
    else
      name += fmt::format("%{:02X}", static_cast<unsigned char>(c));
  }
  if (name.size() <= most_value_bytes) return name;
  hash::MultisetHash hash;
  lines::add_line(hash, *value);
  const std::string end = "~" + hash.to_hex();
  std::size_t kept = most_value_bytes - end.size();
  while (kept > 0 && (static_cast<unsigned char>(name[kept]) & 0xc0U) == 0x80U) --kept;  // no part of a character
  return name.substr(0, kept) + end;
}

std::string SplitRows::number() const { return fmt::format("{:05}", files_ + 1); }

bool SplitRows::has_other_value(const std::optional<std::string>& value) const {
  if (value.has_value() != value_.has_value()) return true;
  if (!value) return false;
  return terms_.beginning ? *value != *value_ : !format_.are_first_values_equal(*value, *value_);
}

void SplitRows::take_value(Text row, std::size_t at, std::vector<SplitPlace>& places) {
  std::optional<std::string> value = format_.first_value(row);
  if (value && terms_.beginning) value->resize(std::min(value->size(), *terms_.beginning));
  if (files_ > 0 && !has_other_value(value)) return;
  value_ = std::move(value);
  begin_file(at, places, name_of_value(value_));
}

bool SplitRows::begins_file(Text row) const {
  if (files_ == 0) return true;
  switch (terms_.kind) {
    case SplitKind::rows:
      return rows_ == terms_.count;
    case SplitKind::size:
      return rows_ > 0 && top_bytes_ + bytes_ + row.size() + 1 > terms_.count;
    case SplitKind::files:
    case SplitKind::key:
      break;
  }
  return false;
}

void SplitRows::begin_file(std::size_t at, std::vector<SplitPlace>& places, std::string name) {
  places.push_back({at, std::move(name), rows_});
  ++files_;
  rows_ = bytes_ = 0;
}

void SplitRows::take_row(Text row, std::size_t at, std::vector<SplitPlace>& places) {
  if (terms_.kind == SplitKind::key) {
    take_value(row, at, places);
  } else if (terms_.kind == SplitKind::files) {
    const auto of_all = static_cast<std::uint64_t>(static_cast<uint128>(all_bytes_) * terms_.count / total_bytes_);
    while (files_ <= of_all && files_ < terms_.count) begin_file(at, places, number());
  } else if (begins_file(row)) {
    begin_file(at, places, number());
  }
  ++rows_;
  bytes_ += row.size() + 1;
  all_bytes_ += row.size() + 1;
}

std::vector<SplitPlace> SplitRows::take(Text rows) {
  std::vector<SplitPlace> places;
  const char* const end = rows.data() + rows.size();
  for (const char* at = rows.data(); at < end;) {
    formats::Inside inside;
    const char* const row_end = format_.find_end(at, end, inside);
    take_row({at, static_cast<std::size_t>(row_end - at)}, static_cast<std::size_t>(at - rows.data()), places);
    at = row_end + 1;
  }
  return places;
}

std::vector<SplitPlace> SplitRows::end() {
  std::vector<SplitPlace> places;
  const std::uint64_t least = terms_.kind == SplitKind::files ? terms_.count : terms_.kind == SplitKind::key ? 0 : 1;
  while (files_ < least) begin_file(0, places, number());
  return places;
}

}  // namespace ecosort::engine::rows
