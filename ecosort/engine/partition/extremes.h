// The smallest and the largest record of a part so far; of equal ones the first and the last one.
#pragma once

#include <cstddef>
#include <string>

#include "formats/records/encoder.h"
#include "formats/records/record_table.h"
#include "sorting/entry.h"

namespace ecosort::engine::partition {

// One thread at a time.
class Extremes {
 public:
  // Records that come behind all of before; nothing of them is kept but copies.
  void take(const sorting::Entry* rows, std::size_t n, const records::Encoder& encoder, const records::RecordTable& table);

  [[nodiscard]] const std::string& first() const noexcept { return first_; }
  [[nodiscard]] const std::string& last() const noexcept { return last_; }

 private:
  std::string first_, last_;  // whole records; empty before the first
};

}  // namespace ecosort::engine::partition
