// One of the rotating buffers of run formation: the records of a run and the index that sorts them.
#pragma once

#include <cstddef>
#include <cstdint>

#include "base/memory.h"
#include "engine/fixed/tally.h"
#include "formats/records/record_table.h"
#include "sorting/entry.h"

namespace ecosort::engine::fixed {

//   bytes   | up to one alignment unit | records of the run, contiguous | slack |
//           ^ reads land aligned       ^ `records`
struct RunBuffer {
  Buffer bytes;
  Buffer index;                   // one Entry per record, sorted once the run is
  std::byte* records = nullptr;   // the first record
  std::uint64_t count = 0;        // records
  std::uint64_t first = 0;        // among the records of all inputs
  std::uint32_t first_index = 0;  // of the index entries: tells the run buffers of one sort apart
  bool is_ordered = false;        // its records came in order
  Tally tally;                    // of the records as they were read

  [[nodiscard]] sorting::Entry* entries() const noexcept { return index.as<sorting::Entry>().data(); }
  [[nodiscard]] records::RecordTable table(std::uint32_t record_size) const noexcept {
    records::RecordTable table(record_size);
    table.add(first_index, records);
    return table;
  }
};

}  // namespace ecosort::engine::fixed
