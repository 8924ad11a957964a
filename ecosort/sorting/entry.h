// An entry shows the kernels of a record the leading bytes of its key, and where it is.
#pragma once

#include <cstdint>

namespace ecosort::sorting {

// Sort key of one record during run formation (papers: EcoSort section 4, "sorts only the keys associated with an index").
// Contract of every key encoder, for records a and b: key(a) < key(b) implies (prefix, extension)(a) <= (prefix, extension)(b).
// A 10-byte key fits as a whole: 8 bytes big-endian in `prefix`, the next 4 (zero-padded) big-endian in `extension`.
struct Entry {
  std::uint64_t prefix;
  std::uint32_t extension;
  std::uint32_t index;  // of the record: formats/records/record_table.h
};
static_assert(sizeof(Entry) == 16);

}  // namespace ecosort::sorting
