#include "cpp/support/fault_sweep.h"

#include <fmt/format.h>

#include <algorithm>
#include <cerrno>
#include <set>
#include <utility>

#include "cpp/support/test_environment.h"

namespace ecosort::demsort_inplace {

namespace {

using io::Effect;
using io::Fault;
using io::FaultPoint;
using io::Role;

constexpr Role all_roles[] = {Role::input, Role::run, Role::output, Role::journal};
constexpr std::uint64_t some = 6;  // of each (role, operation) between the first and the last

struct Variant {
  Effect effect;
  bool is_persistent;
};

std::vector<Variant> variants(FaultPoint point) {
  std::vector<Variant> variants;
  for (const bool is_persistent : {false, true}) {
    for (const int number : {EIO, ENOSPC}) variants.push_back({{.kind = Effect::Kind::error, .number = number}, is_persistent});
    if (point != FaultPoint::read && point != FaultPoint::write) continue;
    for (const std::size_t bytes : {std::size_t{0}, std::size_t{3'000}})
      variants.push_back({{.kind = Effect::Kind::short_count, .bytes = bytes}, is_persistent});
  }
  return variants;
}

}  // namespace

std::vector<Fault> faults_to_try(const io::FaultPlan& counted) {
  std::vector<Fault> faults;
  std::size_t turn = 0;
  for (const Role role : all_roles) {
    for (std::size_t i = 0; i < io::fault_point_count; ++i) {
      const auto point = static_cast<FaultPoint>(i);
      const std::uint64_t seen = counted.seen(role, point), step = is_soak() ? 1 : 1 + seen / some;
      const std::vector<Variant> all = variants(point);
      for (std::uint64_t nth = 1; nth <= seen; nth = nth == seen ? nth + 1 : std::min(nth + step, seen)) {
        const bool has_all = is_soak() || nth == 1;
        for (std::size_t k = 0; k < (has_all ? all.size() : 1); ++k, ++turn) {
          const Variant& variant = all[(has_all ? k : turn) % all.size()];
          faults.push_back({role, point, nth, variant.effect, variant.is_persistent});
        }
      }
    }
  }
  return faults;
}

std::vector<Fault> syncs_to_fail(const io::FaultPlan& counted) {
  std::vector<Fault> faults;
  for (const Role role : all_roles)
    for (const FaultPoint point : {FaultPoint::sync, FaultPoint::sync_directory})
      for (std::uint64_t nth = 1; nth <= counted.seen(role, point); ++nth)
        faults.push_back({role, point, nth, {.kind = Effect::Kind::error, .number = EIO}});
  return faults;
}

std::string to_text(const Fault& fault) {
  const std::string effect = fault.effect.kind == Effect::Kind::error ? fmt::format("error {}", fault.effect.number)
                                                                      : fmt::format("short={}", fault.effect.bytes);
  return fmt::format("{}:{}:{}:{}{}", io::to_string(fault.role), io::to_string(fault.point), fault.nth, effect,
                     fault.is_persistent ? ":persistent" : "");
}

std::size_t distinct_points(const std::vector<Fault>& faults) {
  std::set<std::pair<Role, FaultPoint>> points;
  for (const Fault& fault : faults) points.emplace(fault.role, fault.point);
  return points.size();
}

}  // namespace ecosort::demsort_inplace
