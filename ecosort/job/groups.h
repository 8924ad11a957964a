// Reads what a request says of groups of equal rows: whether it can be, and what it means to the engine.
#pragma once

#include <optional>

#include "ecosort/request.hpp"
#include "engine/group_policy.h"
#include "formats/records/key_spec.h"

namespace ecosort::job {

// UsageError for groups that cannot be, with what to write instead.
void check_groups(const Request& request);

[[nodiscard]] engine::GroupPolicy group_policy_of(const Request& request);

// Returns how many of the first keys rows of a group agree in; nothing: in all levels of the order.
[[nodiscard]] std::optional<unsigned> group_keys_of(const Request& request);

// Returns whether rows with equal keys are one group, so that no last comparison of whole rows may part them.
[[nodiscard]] bool keys_make_groups(const Request& request) noexcept;

// Returns the order of the records, where the whole record may be the last key, and the keys by which they are grouped.
[[nodiscard]] records::RecordFormat record_format_of(const Request& request);
[[nodiscard]] records::RecordFormat group_format_of(const Request& request);

}  // namespace ecosort::job
