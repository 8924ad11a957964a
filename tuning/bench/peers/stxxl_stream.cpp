// Peer: STXXL's stream sorter, from file to file.
#include <stxxl/stream>

#include "peers/stxxl_records.h"

namespace {

void sort(const peers::Arguments& arguments) {
  const auto input_file = peers::open_input(arguments);
  const peers::Vector input(input_file.get());
  auto records = stxxl::stream::streamify(input.begin(), input.end(), peers::stream_blocks);
  using Input = decltype(records);
  // Both files have a stream's buffers beside the sorter's memory.
  const std::uint64_t memory_bytes =
      arguments.memory_bytes - 2 * peers::vector_cache_bytes - 2 * peers::stream_blocks * peers::block_bytes;
  stxxl::stream::sort<Input, peers::Less, peers::block_bytes> sorted(records, peers::Less(), memory_bytes);

  const auto output_file = peers::create_output(arguments);
  output_file->set_size(input_file->size());
  peers::Vector output(output_file.get());
  stxxl::stream::materialize(sorted, output.begin(), output.end(), peers::stream_blocks);
  output.flush();
}

}  // namespace

int main(int argc, char** argv) { return peers::run(argc, argv, sort); }
