// Peer: stxxl::ksort, which sorts by an integer key.
#include <limits>
#include <stxxl/ksort>

#include "peers/stxxl_in_place.h"

namespace {

// Ten printable characters are 65.7 bits: as digits of base 95, the last one divided by 4, they fit in 64 bits. Keys that agree
// in all but that may come out in either order; the validation of the output would show it (1 in 3000 for 10^8 random records).
struct Key {
  using key_type = std::uint64_t;
  key_type operator()(const peers::Record& record) const {
    key_type key = 0;
    for (int i = 0; i < peers::key_bytes - 1; ++i) key = key * 95 + static_cast<unsigned char>(record.bytes[i] - ' ');
    return key * 24 + static_cast<unsigned char>(record.bytes[peers::key_bytes - 1] - ' ') / 4;
  }
  peers::Record min_value() const { return peers::Less::filled(' '); }
  peers::Record max_value() const { return peers::Less::filled('~'); }
};

}  // namespace

int main(int argc, char** argv) {
  return peers::run(argc, argv, [](const peers::Arguments& arguments) {
    peers::copy_and_sort(arguments, [](peers::Vector& records, std::uint64_t memory_bytes) {
      stxxl::ksort(records.begin(), records.end(), Key(), memory_bytes);
    });
  });
}
