#include "job/groups.h"

#include <fmt/format.h>

#include <algorithm>
#include <variant>
#include <vector>

#include "base/errors.h"

namespace ecosort::job {
namespace {

// The user may leave out what a key is, where it is clear which one is meant.
bool means(const ValueKey& key, const ValueKey& given) { return key == given || given == ValueKey(key.name, ValueType::text); }
bool means(const LineKey& key, const LineKey& given) {
  LineKey place = key;
  place.ordering.clear();
  place.skips_blanks_at_begin = place.skips_blanks_at_end = false;
  return key == given || place == given;
}
bool means(const RecordKey& key, const RecordKey& given) { return key == given || given == RecordKey{key.offset, key.length}; }

template <class Key>
unsigned match(const std::vector<Key>& keys, const std::vector<std::string>& names) {
  for (std::size_t i = 0; i < names.size(); ++i) {
    if (i == keys.size())
      throw UsageError(
          fmt::format("rows can be unique by the first keys of the order only, which has {}: leave '{}' out, or sort by it, too",
                      keys.empty() ? "none" : fmt::format("{}", keys.size()), names[i]));
    if (!means(keys[i], Key(names[i])))
      throw UsageError(fmt::format(
          "rows can be unique by the first keys of the order only: write '{}' in place of '{}', or sort by that first",
          to_string(keys[i]), names[i]));
  }
  return static_cast<unsigned>(names.size());
}

std::size_t keys_of(const Request& request) {
  if (const Records* const of = std::get_if<Records>(&request.rows)) return records::make_record_format(*of).keys.size();
  return std::visit([](const auto& rows) { return rows.keys.size(); }, request.rows);
}

// A limit by group: so many of the first keys make groups.
unsigned keys_of_limit(const Request& request) {
  const std::size_t keys = keys_of(request);
  if (*request.by_group > keys)
    throw UsageError(fmt::format("groups by the first {} keys, but the order has only {}", *request.by_group, keys));
  const std::size_t wanted = *request.by_group > 0 ? *request.by_group : keys - std::min<std::size_t>(keys, 1);
  refuse_if(wanted == 0,
            "a limit by group needs a key that makes the groups, in front of the last one, which orders the rows of each; or say "
            "how many keys make groups");
  return static_cast<unsigned>(wanted);
}

void check_limit(const Request& request) {
  const Groups& groups = request.groups;
  refuse_if(request.by_group && !request.limit, "a limit by group needs a limit: how many rows of each group stay");
  refuse_if(request.by_group && (request.unique || groups != Groups{}),
            "a limit by group cannot be combined with other options for equal rows, such as unique rows and counts");
  refuse_if(
      request.limit && (groups.count || groups.only != GroupsThatStay::all || groups.keep == RowThatStays::last),
      "a limit cannot be combined with counts, repeated rows, singles and the last of equal rows, which are known only when "
      "all rows are merged; cut the output with `head`");
}

}  // namespace

void check_groups(const Request& request) {
  const Groups& groups = request.groups;
  const Lines* const lines = std::get_if<Lines>(&request.rows);
  refuse_if(groups.keep == RowThatStays::last && !request.has_groups(),
            "only one of equal rows can be the last that stays: ask for unique rows, too");
  refuse_if(groups.whole_rows && !groups.by.empty(), "rows are unique by some keys or as a whole: leave one of them out");
  refuse_if(groups.whole_rows && lines != nullptr && lines->stable,
            "unique whole rows cannot be combined with a stable order: all bytes of a row decide last");
  refuse_if(groups.count_name != Groups{}.count_name && !groups.count, "a name for the count needs a count: ask for that, too");
  refuse_if(groups.count && request.verification.reread,
            "an output with counts cannot be verified by reading it again; verify it as usual");
  check_limit(request);
  (void)group_keys_of(request);
}

engine::GroupPolicy group_policy_of(const Request& request) {
  using Only = engine::GroupPolicy::Only;
  const Groups& groups = request.groups;
  if (request.by_group && request.limit == 0) return {};  // nothing goes out of any group
  return {.is_on = request.has_groups(),
          .keeps_last = groups.keep == RowThatStays::last,
          .counts = groups.count,
          .only = groups.only == GroupsThatStay::repeated  ? Only::repeated
                  : groups.only == GroupsThatStay::singles ? Only::singles
                                                           : Only::all,
          .most = request.by_group ? request.limit.value_or(1) : 1,
          .is_limit = request.by_group.has_value()};
}

std::optional<unsigned> group_keys_of(const Request& request) {
  if (request.by_group) return keys_of_limit(request);
  if (request.groups.by.empty()) return std::nullopt;
  if (const Records* const of = std::get_if<Records>(&request.rows); of != nullptr && of->keys.empty())
    return match(records::make_record_format(*of).keys, request.groups.by);
  return std::visit([&](const auto& rows) { return match(rows.keys, request.groups.by); }, request.rows);
}

bool keys_make_groups(const Request& request) noexcept {
  return request.has_groups() && !request.by_group && !request.groups.whole_rows;
}

records::RecordFormat record_format_of(const Request& request) {
  records::RecordFormat format = records::make_record_format(std::get<Records>(request.rows));
  if (request.groups.whole_rows) format.keys.emplace_back(0, format.record_size);
  return format;
}

records::RecordFormat group_format_of(const Request& request) {
  records::RecordFormat format = record_format_of(request);
  if (const auto keys = group_keys_of(request)) format.keys.erase(format.keys.begin() + *keys, format.keys.end());
  return format;
}

}  // namespace ecosort::job
