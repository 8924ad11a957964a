#include "engine/fixed/check_keys.h"

#include <fmt/format.h>

#include "base/errors.h"

namespace ecosort::engine::fixed {

void refuse_record(const records::Encoder& encoder, const std::byte* record, const std::string& name, std::uint64_t number) {
  throw InputRefused(fmt::format("'{}': record {} (counted from 0) cannot be ordered: {}; correct it, or give another key", name,
                                 number, encoder.why_refused(record)));
}

}  // namespace ecosort::engine::fixed
