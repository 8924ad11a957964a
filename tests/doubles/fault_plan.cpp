#include "doubles/fault_plan.h"

#include <fmt/format.h>

#include <charconv>
#include <csignal>
#include <cstring>
#include <optional>

#include "base/errors.h"

namespace ecosort::io {

namespace {

constexpr std::array point_names{"read",   "write",    "sync",       "release",        "reserve",          "open",
                                 "create", "set_size", "attributes", "link",           "rename",           "sync_directory",
                                 "close",  "state",    "remove",     "make_directory", "remove_directory", "list"};
static_assert(point_names.size() == fault_point_count);
constexpr std::array roles{Role::input, Role::run, Role::output, Role::journal};

[[nodiscard]] std::vector<std::string_view> split(std::string_view text, char separator) {
  std::vector<std::string_view> parts;
  while (true) {
    const std::size_t at = text.find(separator);
    parts.push_back(text.substr(0, at));
    if (at == std::string_view::npos) return parts;
    text.remove_prefix(at + 1);
  }
}

[[nodiscard]] std::optional<std::uint64_t> number_in(std::string_view text) {
  std::uint64_t number = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), number);
  if (error != std::errc() || end != text.data() + text.size() || text.empty()) return std::nullopt;
  return number;
}

[[nodiscard]] std::optional<Role> role_in(std::string_view text) {
  for (const Role role : roles)
    if (text == to_string(role)) return role;
  return std::nullopt;
}

[[nodiscard]] std::optional<FaultPoint> point_in(std::string_view text) {
  for (std::size_t i = 0; i < point_names.size(); ++i)
    if (text == point_names[i]) return static_cast<FaultPoint>(i);
  return std::nullopt;
}

[[nodiscard]] std::optional<int> error_number_in(std::string_view text) {
  constexpr int numbers = 134;
  for (int number = 1; number < numbers; ++number)
    if (const char* name = ::strerrorname_np(number); name != nullptr && text == name) return number;
  return std::nullopt;
}

[[nodiscard]] std::optional<int> signal_in(std::string_view text) {
  if (!text.starts_with("SIG")) return std::nullopt;
  for (int number = 1; number < SIGRTMIN; ++number)
    if (const char* name = ::sigabbrev_np(number); name != nullptr && text.substr(3) == name) return number;
  return std::nullopt;
}

// "short=1000" with the mark "short=": 1000. Zero is no size.
[[nodiscard]] std::optional<std::size_t> size_behind(std::string_view mark, std::string_view text) {
  if (!text.starts_with(mark)) return std::nullopt;
  const auto bytes = number_in(text.substr(mark.size()));
  return bytes && *bytes > 0 ? std::optional(static_cast<std::size_t>(*bytes)) : std::nullopt;
}

[[nodiscard]] Effect altered(Alteration alteration, std::size_t bytes = 0) {
  return {Effect::Kind::alteration, 0, bytes, alteration};
}

// Only reads and writes can meet these.
[[nodiscard]] std::optional<Effect> movement_in(std::string_view text, FaultPoint point) {
  if (text == "zero") return Effect{Effect::Kind::short_count, 0, 0};
  if (const auto bytes = size_behind("short=", text)) return Effect{Effect::Kind::short_count, 0, *bytes};
  if (text == "flip") return altered(Alteration::flip);
  if (const auto bytes = size_behind("swap=", text)) return altered(Alteration::swap, *bytes);
  if (const auto bytes = size_behind("repeat=", text)) return altered(Alteration::repeat, *bytes);
  if (text == "lost" && point == FaultPoint::write) return altered(Alteration::lost);
  if (text == "decay" && point == FaultPoint::read) return altered(Alteration::decay);
  return std::nullopt;
}

[[nodiscard]] std::optional<Effect> effect_in(std::string_view text, FaultPoint point) {
  if (point == FaultPoint::read || point == FaultPoint::write)
    if (const auto effect = movement_in(text, point)) return effect;
  if (const auto number = error_number_in(text)) return Effect{Effect::Kind::error, *number, 0};
  if (const auto number = signal_in(text)) return Effect{Effect::Kind::signal, *number, 0};
  return std::nullopt;
}

[[nodiscard]] std::optional<Fault> fault_in(std::string_view text) {
  const std::vector<std::string_view> parts = split(text, ':');
  if (parts.size() != 4 && parts.size() != 5) return std::nullopt;
  const auto role = role_in(parts[0]);
  const auto point = point_in(parts[1]);
  const auto nth = number_in(parts[2]);
  if (!role || !point || !nth || *nth == 0) return std::nullopt;
  const auto effect = effect_in(parts[3], *point);
  const bool is_persistent = parts.size() == 5 && parts[4] == "persistent";
  if (!effect || (parts.size() == 5 && !is_persistent && parts[4] != "once")) return std::nullopt;
  return Fault{*role, *point, *nth, *effect, is_persistent};
}

}  // namespace

const char* to_string(FaultPoint point) noexcept { return point_names[static_cast<std::size_t>(point)]; }

std::vector<Fault> parse_faults(std::string_view text) {
  std::vector<Fault> faults;
  if (text.empty()) return faults;
  for (const std::string_view part : split(text, ',')) {
    const auto fault = fault_in(part);
    if (!fault)
      throw UsageError(
          fmt::format("not a fault: '{}' (ROLE:OPERATION:N:EFFECT[:once|persistent], e.g. run:write:3:ENOSPC)", part));
    faults.push_back(*fault);
  }
  return faults;
}

Effect FaultPlan::next(Role role, FaultPoint point) {
  Effect effect;
  {
    const std::lock_guard lock(mutex_);
    const std::uint64_t nth = ++seen_[static_cast<std::size_t>(role)][static_cast<std::size_t>(point)];
    for (const Fault& fault : faults_) {
      if (fault.role != role || fault.point != point || nth < fault.nth || (nth > fault.nth && !fault.is_persistent)) continue;
      effect = fault.effect;
      ++fired_;
      break;
    }
  }
  if (effect.kind != Effect::Kind::signal) return effect;
  std::raise(effect.number);
  return {};
}

std::uint64_t FaultPlan::seen(Role role, FaultPoint point) const {
  const std::lock_guard lock(mutex_);
  return seen_[static_cast<std::size_t>(role)][static_cast<std::size_t>(point)];
}

std::uint64_t FaultPlan::fired() const {
  const std::lock_guard lock(mutex_);
  return fired_;
}

}  // namespace ecosort::io
