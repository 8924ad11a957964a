// ecosort gen: the input generator of the Sort Benchmark, bit-compatible with gensort 1.5.
#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <mutex>

#include "base/errors.h"
#include "cli/commands.h"
#include "cli/reference_words.h"
#include "pipeline/block_files.h"
#include "records/gensort.h"
#include "records/valsort_crc.h"

namespace ecosort::cli {
namespace {

constexpr const char* usage = R"(Examples
  ecosort gen -a 10000000 in.dat        10 million ASCII records, 1 GB
  ecosort gen -a -s 10000000 in.dat     the same with skewed keys
  ecosort gen -c 10000000 /dev/null     only the checksum, on stderr
  ecosort gen -b500 500 part2.dat       records 500 to 999 of a larger set
  ecosort gen -a 1000 /dev/stdout | less

Usage
  ecosort gen [-a] [-c] [-bN] [-s] [-tN] NUM_RECS FILE[,buf|,dir]

Makes records of 100 bytes with keys of 10 bytes, the same bytes as gensort 1.5 of sortbenchmark.org.
  -a        ASCII records (printable); otherwise binary
  -c        print the sum of the records' CRC-32s on stderr
  -bN       number of the first record, up to 128 bits (0)
  -s        skewed keys
  -tN       compute with N threads (the CPUs this process may use)
  NUM_RECS  how many records, in decimal digits; 0 makes an empty file
  FILE      created or overwritten in place; /dev/null writes nothing, /dev/stdout writes a stream
  ,buf ,dir write through the page cache, or bypass it; by default it is bypassed for large files where that is possible

Exit status: 0 done; 1 an error, told in one line on stderr. A write that fails, or data that does not reach the drive, is an
error; FILE is then left empty. A run that is killed leaves FILE incomplete, perhaps at its full size: delete it or run again.
)";

constexpr std::array grammar{ReferenceFlag{'a'}, ReferenceFlag{'c'}, ReferenceFlag{'s'},
                             ReferenceFlag{'b', ReferenceFlag::Value::number}, ReferenceFlag{'t', ReferenceFlag::Value::number}};

struct GenOptions {
  records::GensortFormat format;
  bool checksum = false;
  uint128 first = 0;
  std::uint64_t count = 0;
  unsigned threads = 1;
  FileWord file;
};

GenOptions parse(const ReferenceWords& words) {
  if (words.positionals.size() != 2) {
    throw UsageError(fmt::format("needs NUM_RECS and FILE, got {} word{}", words.positionals.size(),
                                 words.positionals.size() == 1 ? "" : "s"));
  }
  return {
      .format = {.ascii = words.has('a'), .skewed = words.has('s')},
      .checksum = words.has('c'),
      .first = words.has('b') ? parse_number("-b", words.flags.at('b'), 128) : 0,
      .count = low_half(parse_number("NUM_RECS", words.positionals[0], 64)),
      .threads = thread_count(words),
      .file = parse_file_word(words.positionals[1]),
  };
}

// Fills a block and returns its checksum if that is wanted, piece by piece so that the records are still in the L1 cache then.
records::Checksum fill(std::span<std::byte> block, uint128 first, const GenOptions& options) {
  constexpr std::size_t piece = 256 * records::gensort_record_bytes;
  records::GensortRecords generator(options.format, first);
  records::Checksum checksum;
  while (!block.empty()) {
    const auto now = block.first(std::min(piece, block.size()));
    const std::size_t count = now.size() / records::gensort_record_bytes;
    generator.generate(now.data(), count);
    if (options.checksum) checksum += records::crc_sum(now.data(), count);
    block = block.subspan(now.size());
  }
  return checksum;
}

int generate(const GenOptions& options) {
  std::mutex mutex;
  records::Checksum checksum;
  pipeline::write_record_file(options.file.name, options.count,
                              {.compute_threads = options.threads, .caching = options.file.caching},
                              [&](std::uint64_t first, std::span<std::byte> block) {
                                const records::Checksum of_block = fill(block, options.first + first, options);
                                const std::lock_guard lock(mutex);
                                checksum += of_block;
                              });
  if (options.checksum) fmt::print(stderr, "{}\n", checksum.to_hex());
  return 0;
}

}  // namespace

int run_gen(const Words& words) {
  return with_reference_exit_codes("gen", [&] {
    const ReferenceWords parsed = parse_reference_words(words, grammar);
    if (!parsed.wants_help) return generate(parse(parsed));
    fmt::print("{}", usage);
    return 0;
  });
}

}  // namespace ecosort::cli
