// A file that is read in order by one thread, decompressed where it is compressed. For looking through it once; what is sorted or
// merged comes through decoded_input.h.
#pragma once

#include <cstddef>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include "codec/decoder.h"
#include "io/plain_file.h"

namespace ecosort::engine::rows {

class DecodedFile {
 public:
  // `name`: "-" is standard input. Decoding takes at most half of `memory_bytes`; with `decompresses` false everything is read as
  // it is.
  DecodedFile(const std::string& name, bool decompresses, std::uint64_t memory_bytes);

  // Fewer bytes only at the end. IoError, with the place in the file where the data is damaged or ends; InputRefused for what no
  // rows come out of; NotEnoughMemory.
  [[nodiscard]] std::size_t read(std::span<std::byte> data);
  // A regular file that is read as it is.
  [[nodiscard]] bool is_plain() const noexcept { return decoder_ == nullptr && file_.has_positions(); }
  // Behind what was read, whether that may be due to damage: see RefusedRow. Nothing in a file that is not compressed.
  void check_rest();

 private:
  void begin();
  void read_chunk();
  [[nodiscard]] std::size_t decode(std::span<std::byte> data);

  std::string name_;
  io::PlainFile file_;
  codec::Allowance allowance_;
  bool has_begun_;
  std::unique_ptr<codec::Decoder> decoder_;
  std::vector<std::byte> chunk_;
  std::size_t at_ = 0, size_ = 0;  // in the chunk
  bool is_last_ = false, has_decoded_ = false;
};

}  // namespace ecosort::engine::rows
