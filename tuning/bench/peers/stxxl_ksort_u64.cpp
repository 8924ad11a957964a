// Peer: stxxl::ksort of 16-byte records by their first 8 bytes, a little-endian number.
#define PEER_RECORD_BYTES 16
#include <cstring>
#include <stxxl/ksort>

#include "peers/stxxl_in_place.h"

namespace {

struct Key {
  using key_type = std::uint64_t;
  key_type operator()(const peers::Record& record) const {
    key_type key = 0;
    std::memcpy(&key, record.bytes, sizeof key);
    return key;
  }
  peers::Record min_value() const { return peers::Less::filled(0x00); }
  peers::Record max_value() const { return peers::Less::filled(0xff); }
};

}  // namespace

int main(int argc, char** argv) {
  return peers::run(argc, argv, [](const peers::Arguments& arguments) {
    peers::copy_and_sort(arguments, [](peers::Vector& records, std::uint64_t memory_bytes) {
      stxxl::ksort(records.begin(), records.end(), Key(), memory_bytes);
    });
  });
}
