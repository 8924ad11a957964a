// Decompression of a stream: whatever pieces the compressed bytes come in, the same plain bytes come out.
//
//   file | member | member | zeros      a member: what one call of the usual program writes (for zstd and lz4: a frame)
//
// Members follow each other. Frames that decoders of zstd and lz4 skip may come first, before it is known of which of both the
// others are. Zeros behind gzip and bzip2, and those that pad xz, mean nothing; anything else that is no member is
// damage: gzip(1) and bzip2(1) pass it over, and with it every row of a member whose first byte has changed.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <stdexcept>
#include <string>
#include <string_view>

#include "codec/allowance.h"
#include "codec/codec.h"

namespace ecosort::codec {

// The compressed bytes are not what they were. `offset`: in them, where it showed; the damage lies there or shortly before.
struct Damaged : std::runtime_error {
  Damaged(std::uint64_t at, const std::string& why) : std::runtime_error(why), offset(at) {}
  std::uint64_t offset;
};

// They end in the middle of a member, at `offset`.
struct Truncated : Damaged {
  using Damaged::Damaged;
};

// They are whole, and cannot be decompressed here: why, and what to do.
struct Unreadable : std::runtime_error {
  using std::runtime_error::runtime_error;
};

// The allowance does not suffice: `need_bytes` may.
struct TooLarge : std::runtime_error {
  explicit TooLarge(std::uint64_t need) : std::runtime_error("decompression takes more memory"), need_bytes(need) {}
  std::uint64_t need_bytes;
};

// Returns what a decoder takes for a file that begins so. Later members may take more.
[[nodiscard]] std::uint64_t decoder_bytes(Codec codec, std::string_view first) noexcept;

// One thread at a time. Not usable any more after it threw.
class Decoder {
 public:
  // TooLarge.
  [[nodiscard]] static std::unique_ptr<Decoder> make(Codec codec, Allowance& allowance);
  Decoder(const Decoder&) = delete;
  Decoder& operator=(const Decoder&) = delete;
  virtual ~Decoder() = default;

  struct Step {
    std::size_t consumed = 0, produced = 0;  // bytes
  };
  // Takes of `in` what it can, and writes plain bytes to `out` until it is full or `in` is used up. `is_last`: nothing follows
  // `in`. Damaged, Truncated, TooLarge, Unreadable.
  [[nodiscard]] Step decode(std::span<const std::byte> in, std::span<std::byte> out, bool is_last);

  // All is decoded; only after `is_last`.
  [[nodiscard]] bool has_ended() const noexcept { return has_ended_; }

 protected:
  // Bytes of a member that are looked at before it begins; no member is shorter.
  static constexpr std::size_t head_bytes = 6;

  struct MemberStep {
    std::size_t consumed = 0, produced = 0;
    bool ends = false;
  };

  Decoder(Codec codec, Allowance& allowance) : allowance_(allowance), codec_(codec) {}
  [[nodiscard]] std::uint64_t position() const noexcept { return position_; }  // of the compressed bytes that step() gets
  [[noreturn]] void damaged(const std::string& why) const;
  [[noreturn]] void too_large() const { throw TooLarge(allowance_.refused_bytes()); }

  Allowance& allowance_;

 private:
  virtual void begin_member(std::string_view head) = 0;
  // Consumes all of a head with which the member begins, whatever `out` is.
  virtual MemberStep step(std::span<const std::byte> in, std::span<std::byte> out) = 0;

  bool find_member(std::span<const std::byte> in, bool is_last, Step& done);
  bool pass_zero(std::byte next);
  bool end_or_begin(bool is_last);
  [[nodiscard]] bool begins_member(std::string_view head) const noexcept;
  void become_lz4();
  bool work_on_member(std::span<const std::byte> in, std::span<std::byte> out, bool is_last, Step& done);

  Codec codec_;
  std::uint64_t position_ = 0;
  std::uint64_t members_ = 0, zeros_ = 0;  // zeros: since the last member
  std::byte head_[head_bytes]{};
  std::size_t head_size_ = 0, head_taken_ = 0;
  bool is_in_member_ = false, has_ended_ = false;
  bool has_data_ = false;             // a member that is not skipped
  std::unique_ptr<Decoder> instead_;  // of lz4, where this one was taken for zstd
};

// gzip has two of them; gzip_decoders_test holds them against each other. The first two exist where ECOSORT_ISAL is defined.
[[nodiscard]] bool has_isal();  // the library is installed here; loads it
[[nodiscard]] std::unique_ptr<Decoder> make_isal_decoder(Allowance& allowance);
[[nodiscard]] std::unique_ptr<Decoder> make_zlib_decoder(Allowance& allowance);

}  // namespace ecosort::codec
