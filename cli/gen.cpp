// ecosort gen: the input generator of the Sort Benchmark, bit-compatible with gensort 1.5.
#include <fmt/format.h>

#include <algorithm>
#include <filesystem>
#include <mutex>
#include <optional>
#include <system_error>

#include "base/errors.h"
#include "cli/command_line.h"
#include "cli/commands.h"
#include "cli/option_table.h"
#include "cli/progress_line.h"
#include "cli/reference_words.h"
#include "cli/say.h"
#include "cli/signals.h"
#include "sortbenchmark/block_files.h"
#include "sortbenchmark/gensort.h"
#include "sortbenchmark/valsort_crc.h"

namespace ecosort::cli {
namespace {

struct GenOptions {
  sortbenchmark::GensortFormat format;
  bool checksum = false;
  uint128 first = 0;
  std::uint64_t count = 0;
  unsigned threads = 1;
  FileWord file;
  ProgressMode progress = ProgressMode::automatic;
};

GenOptions parse_gen(const ReferenceWords& words) {
  if (words.positionals.size() != 2) {
    throw UsageError(fmt::format("needs NUM_RECS and FILE, got {} word{}", words.positionals.size(),
                                 words.positionals.size() == 1 ? "" : "s"));
  }
  for (const char flag : {'a', 's'})
    if (words.teragen && words.has(flag))
      throw UsageError(fmt::format("--teragen and -{} are two kinds of records: leave one of them out", flag));
  return {
      .format = {.ascii = words.has('a'), .skewed = words.has('s'), .teragen = words.teragen},
      .checksum = words.has('c'),
      .first = words.has('b') ? parse_number("-b", words.flags.at('b'), 128) : 0,
      .count = low_half(parse_number("NUM_RECS", words.positionals[0], 64)),
      .threads = thread_count(words),
      .file = parse_file_word(words.positionals[1]),
      .progress = words.progress,
  };
}

// Fills a block and returns its checksum if that is wanted, piece by piece so that the records are still in the L1 cache then.
sortbenchmark::Checksum fill(std::span<std::byte> block, uint128 first, const GenOptions& options) {
  constexpr std::size_t piece = 256 * sortbenchmark::gensort_record_bytes;
  sortbenchmark::GensortRecords generator(options.format, first);
  sortbenchmark::Checksum checksum;
  while (!block.empty()) {
    const auto now = block.first(std::min(piece, block.size()));
    const std::size_t count = now.size() / sortbenchmark::gensort_record_bytes;
    generator.generate(now.data(), count);
    if (options.checksum) checksum += sortbenchmark::crc_sum(now.data(), count);
    block = block.subspan(now.size());
  }
  return checksum;
}

// Returns whether signals may end the work in order, so that the file is left empty. A stream may wait for its reader for ever.
bool ends_in_order(const std::string& name) {
  std::error_code none;
  const std::filesystem::file_type type = std::filesystem::status(name, none).type();
  return name != "/dev/stdout" && (type == std::filesystem::file_type::regular || type == std::filesystem::file_type::not_found);
}

int generate(const GenOptions& options) {
  std::optional<SignalGuard> signals;
  if (ends_in_order(options.file.name)) signals.emplace();
  std::mutex mutex;
  sortbenchmark::Checksum checksum;
  const std::uint64_t bytes = options.count * sortbenchmark::gensort_record_bytes;
  engine::Progress progress;
  progress.plan_job(1, bytes);
  progress.begin(engine::Phase::generate, bytes, std::max<std::uint64_t>(bytes, 1));
  ProgressLine line(progress, options.progress, options.file.name);
  sortbenchmark::write_record_file(options.file.name, options.count,
                                   {.compute_threads = options.threads, .caching = options.file.caching},
                                   [&](std::uint64_t first, std::span<std::byte> block) {
                                     if (const int number = signals ? signals->received().load() : 0; number != 0)
                                       throw Interrupted(number);
                                     const sortbenchmark::Checksum of_block = fill(block, options.first + first, options);
                                     const std::lock_guard lock(mutex);
                                     checksum += of_block;
                                     progress.add_bytes(block.size());
                                   });
  progress.begin(engine::Phase::done, 0);
  line.finish({"made", bytes, records_text(options.count)});
  if (options.checksum) report(checksum.to_hex() + "\n");
  return 0;
}

}  // namespace

int run_gen(const Words& words) {
  return with_reference_exit_codes("gen", [&] {
    const ReferenceWords parsed = parse_reference_words(words, command_table("gen"));
    return parsed.wants_help ? print_help(command_table("gen")) : generate(parse_gen(parsed));
  });
}

}  // namespace ecosort::cli
