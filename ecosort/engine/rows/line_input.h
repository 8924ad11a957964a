// A file that is sorted or merged: how it is opened, what it is compressed with, and whether it stayed what it was.
#pragma once

#include <algorithm>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "codec/codec.h"
#include "codec/contents.h"
#include "io/storage.h"
#include "run/description.h"

namespace ecosort::engine::rows {

struct LineInput {
  std::string name;  // as it was given
  io::FilePtr file;
  io::FileState opened{};
  std::uint64_t end = UINT64_MAX;       // of the range that is read; a row ends there, or the file
  std::optional<run::Description> run;  // only of a merge: the file is this run of a job
  bool decompresses = false;            // what is compressed is decompressed; otherwise it is sorted as it is

  // The beginning says it, of a stream its first bytes; the name, too, shows the codec of an input that is decompressed.
  const codec::Contents* contents = nullptr;
  std::optional<codec::Codec> codec;
  std::size_t first_bytes = 0, first_rows = 0;  // of its first page; 0: not known
  std::uint64_t decoder_bytes = 0;              // memory; 0: not known
  // Keeps what was read of a stream to look at it, so that its bytes begin with this; less than codec::beginning_bytes is all of
  // it.
  std::optional<std::string> beginning;
  // Count the bytes of an input that is decompressed, so far.
  std::uint64_t compressed_bytes = 0, plain_bytes = 0;

  void open(io::Storage& storage);
  // Finds `contents` and `codec`, and counts rows that end so. Of files of the system; does nothing for a stream, whose bytes
  // can be read once. IoError; InputRefused where it is to be decompressed and holds what cannot be read.
  void look_at_beginning(char terminator);
  // Looks at a stream that begins so.
  void look_at_beginning(std::string first);
  // Looks at bytes that stay elsewhere.
  void take_beginning(std::string_view first);
  // Returns whether its bytes come through a decoder, which may find a stream to be plain.
  [[nodiscard]] bool is_decoded() const noexcept { return decompresses && (codec || (file && file->facts().is_stream)); }
  // Returns whether it is a stream that may be compressed and was not looked at.
  [[nodiscard]] bool may_be_compressed() const noexcept { return decompresses && file && file->facts().is_stream && !beginning; }
  // Returns whether its first bytes said that it comes as it is, although it is read as if it were compressed.
  [[nodiscard]] bool is_plain_stream() const noexcept { return beginning && !codec; }
  // Returns where reading ends, of a file that is open.
  [[nodiscard]] std::uint64_t end_offset() const noexcept { return std::min(end, file->facts().size_bytes); }
  // Returns whether its bytes come in order only, as many as there will be.
  [[nodiscard]] bool is_stream() const noexcept { return is_decoded() || (file && file->facts().is_stream); }
  // Returns whether the file only grew since it was opened, as logs do; IoError if it is not what it was then in another way.
  [[nodiscard]] bool has_grown(io::Storage& storage) const;
};

}  // namespace ecosort::engine::rows
