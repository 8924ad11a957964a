// ecosort check: the output validator of the Sort Benchmark, with the reports and summary files of valsort 1.5.
#include <fmt/format.h>

#include <array>
#include <functional>
#include <map>
#include <mutex>
#include <optional>

#include "base/errors.h"
#include "cli/commands.h"
#include "cli/option_table.h"
#include "cli/reference_words.h"
#include "cli/say.h"
#include "pipeline/block_files.h"
#include "pipeline/plain_file.h"
#include "records/validate.h"

namespace ecosort::cli {
namespace {

using records::KeyCase;
using records::PartitionSummary;

constexpr std::array grammar{ReferenceFlag{'i'}, ReferenceFlag{'q'}, ReferenceFlag{'s'},
                             ReferenceFlag{'t', ReferenceFlag::Value::number},
                             ReferenceFlag{'o', ReferenceFlag::Value::next_word}};

struct CheckOptions {
  KeyCase key_case = KeyCase::exact;
  bool quiet = false, of_summaries = false;
  unsigned threads = 1;
  std::optional<std::string> summary_file{};
  std::vector<FileWord> files{};
};

CheckOptions parse(const ReferenceWords& words) {
  if (words.positionals.empty()) throw UsageError("needs a FILE");
  CheckOptions options{.key_case = words.has('i') ? KeyCase::ignored : KeyCase::exact,
                       .quiet = words.has('q'),
                       .of_summaries = words.has('s'),
                       .threads = thread_count(words)};
  for (const std::string& word : words.positionals) options.files.push_back(parse_file_word(word));
  if (!words.has('o')) return options;
  options.summary_file = words.flags.at('o');
  for (const FileWord& file : options.files) {
    if (!pipeline::is_same_file(*options.summary_file, file.name)) continue;
    throw UsageError(fmt::format("-o {} would overwrite what is to be checked; give it another name", *options.summary_file));
  }
  return options;
}

// Everything so far, as one summary. Announces the first record out of order as soon as it is known.
class Progress {
 public:
  explicit Progress(const CheckOptions& options) : options_(options) {}

  void append(const PartitionSummary& next) {
    const bool was_in_order = total_.first_unordered == 0;
    total_.append(next, options_.key_case);
    if (was_in_order && total_.first_unordered != 0 && !options_.quiet) {
      report(fmt::format("First unordered record is record {}\n", to_decimal(total_.first_unordered)));
    }
  }
  [[nodiscard]] const PartitionSummary& total() const noexcept { return total_; }

 private:
  const CheckOptions& options_;
  PartitionSummary total_;
};

// Passes the summaries of blocks on in the order of the blocks. Thread-safe. Blocks are handed out in order, so no more wait
// than there are threads.
class BlockOrder {
 public:
  explicit BlockOrder(Progress& progress) : progress_(progress) {}

  void add(std::uint64_t index, const PartitionSummary& summary) {
    const std::lock_guard lock(mutex_);
    waiting_.emplace(index, summary);
    for (auto first = waiting_.begin(); first != waiting_.end() && first->first == next_;
         first = waiting_.erase(first), ++next_) {
      progress_.append(first->second);
    }
  }

 private:
  std::mutex mutex_;
  std::map<std::uint64_t, PartitionSummary> waiting_;
  std::uint64_t next_ = 0;
  Progress& progress_;
};

void check_records(const FileWord& file, const CheckOptions& options, Progress& progress) {
  BlockOrder order(progress);
  const std::uint64_t size_bytes = pipeline::read_record_file(
      file.name, {.compute_threads = options.threads, .caching = file.caching},
      [&](std::uint64_t index, std::span<const std::byte> block) {
        order.add(index, records::summarize(block.data(), block.size() / records::gensort_record_bytes, options.key_case));
      });
  if (size_bytes % records::gensort_record_bytes != 0) throw Error(ExitCode::not_in_order, "partial record found at end");
}

void check_summaries(const FileWord& file, Progress& progress) {
  const std::vector<std::byte> content = pipeline::read_whole_file(file.name);
  std::span<const std::byte> rest = content;
  for (; rest.size() >= records::summary_bytes; rest = rest.subspan(records::summary_bytes)) {
    progress.append(PartitionSummary::from_bytes(rest.first<records::summary_bytes>()));
  }
  if (!rest.empty()) throw Error(ExitCode::not_in_order, "partial partition summary found at end");
}

void print_report(const PartitionSummary& total) {
  report(fmt::format("Records: {}\nChecksum: {}\n", to_decimal(total.records), total.checksum.to_hex()));
  if (total.unordered != 0) {
    report(fmt::format("ERROR - there are {} unordered records\n", to_decimal(total.unordered)));
  } else {
    report(fmt::format("Duplicate keys: {}\nSUCCESS - all records are in order\n", to_decimal(total.duplicates)));
  }
}

int check(const CheckOptions& options) {
  std::optional<pipeline::PlainFile> summary_file;
  if (options.summary_file) summary_file.emplace(pipeline::PlainFile::create(*options.summary_file));
  Progress progress(options);
  for (const FileWord& file : options.files) {
    options.of_summaries ? check_summaries(file, progress) : check_records(file, options, progress);
  }
  const PartitionSummary& total = progress.total();
  if (total.records == 0) throw Error(ExitCode::not_in_order, "there must be at least one record to be validated");
  if (!options.quiet) print_report(total);
  if (summary_file) {
    summary_file->write(total.to_bytes());
    summary_file->close();
  }
  return total.unordered == 0 ? 0 : 1;
}

}  // namespace

int run_check(const Words& words) {
  return with_reference_exit_codes("check", [&] {
    const ReferenceWords parsed = parse_reference_words(words, grammar);
    if (!parsed.wants_help) return check(parse(parsed));
    print_out(help_text(command_table("check")));
    return 0;
  });
}

}  // namespace ecosort::cli
