// Peer: stxxl::sort, comparison-based, with the parallel mode's sort inside.
#include <stxxl/sort>

#include "peers/stxxl_in_place.h"

int main(int argc, char** argv) {
  return peers::run(argc, argv, [](const peers::Arguments& arguments) {
    peers::copy_and_sort(arguments, [](peers::Vector& records, std::uint64_t memory_bytes) {
      stxxl::sort(records.begin(), records.end(), peers::Less(), memory_bytes);
    });
  });
}
