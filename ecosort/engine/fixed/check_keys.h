// Refuses records whose keys hold no value of their type, before anything depends on their order.
#pragma once

#include <cstdint>
#include <string>

#include "formats/records/encoder.h"

namespace ecosort::engine::fixed {

// InputRefused for record `number` of a file, whose key cannot be ordered.
[[noreturn]] void refuse_record(const records::Encoder& encoder, const std::byte* record, const std::string& name,
                                std::uint64_t number);

// Refuses the first of these records that cannot be ordered; `first` is the number of the first one in its file. Thread-safe.
inline void check_keys(const records::Encoder& encoder, const std::byte* records, std::uint64_t count, const std::string& name,
                       std::uint64_t first) {
  if (!encoder.may_refuse()) return;
  const std::size_t refused = encoder.first_refused(records, count);
  if (refused < count) refuse_record(encoder, records + refused * encoder.record_size(), name, first + refused);
}

}  // namespace ecosort::engine::fixed
