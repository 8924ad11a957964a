// One of the rotating buffers of run formation: the records of a run and the index that sorts them.
#pragma once

#include <cstddef>
#include <cstdint>

#include "base/memory.h"
#include "records/entry.h"

namespace ecosort::pipeline {

//   bytes   | up to one alignment unit | records of the run, contiguous | slack |
//           ^ reads land aligned       ^ `records`
struct RunBuffer {
  Buffer bytes;
  Buffer index;                  // one Entry per record, sorted once the run is
  std::byte* records = nullptr;  // the first record
  std::uint64_t count = 0;       // records

  [[nodiscard]] records::Entry* entries() const noexcept { return index.as<records::Entry>().data(); }
};

}  // namespace ecosort::pipeline
