// ecosort check: the output validator of the Sort Benchmark, with the reports and summary files of valsort 1.5.
#include <fmt/format.h>
#include <sys/stat.h>

#include <algorithm>
#include <atomic>
#include <filesystem>
#include <functional>
#include <map>
#include <mutex>
#include <optional>

#include "base/errors.h"
#include "base/text.h"
#include "cli/addresses.h"
#include "cli/command_line.h"
#include "cli/commands.h"
#include "cli/option_table.h"
#include "cli/progress_line.h"
#include "cli/reference_words.h"
#include "cli/say.h"
#include "sortbenchmark/block_files.h"
#include "sortbenchmark/gensort.h"
#include "sortbenchmark/validate.h"

namespace ecosort::cli {
namespace {

using sortbenchmark::KeyCase;
using sortbenchmark::PartitionSummary;

struct CheckOptions {
  KeyCase key_case = KeyCase::exact;
  bool quiet = false, of_summaries = false;
  unsigned threads = 1;
  std::optional<std::string> summary_file{};
  std::vector<FileWord> files{};
  ProgressMode progress = ProgressMode::automatic;
};

CheckOptions parse_check(const ReferenceWords& words) {
  if (words.positionals.empty()) throw UsageError("needs a FILE");
  CheckOptions options{.key_case = words.has('i') ? KeyCase::ignored : KeyCase::exact,
                       .quiet = words.has('q'),
                       .of_summaries = words.has('s'),
                       .threads = thread_count(words)};
  const bool is_silent = options.quiet && words.progress == ProgressMode::automatic;
  options.progress = is_silent ? ProgressMode::none : words.progress;
  for (const std::string& word : words.positionals) options.files.push_back(parse_file_word(word));
  if (!words.has('o')) return options;
  options.summary_file = words.flags.at('o');
  for (const FileWord& file : options.files) {
    if (!io::is_same_file(*options.summary_file, file.name)) continue;
    throw UsageError(fmt::format("-o {} would overwrite what is to be checked; give it another name", *options.summary_file));
  }
  return options;
}

// Everything so far, as one summary. Announces the first record out of order as soon as it is known.
class Findings {
 public:
  explicit Findings(const CheckOptions& options) : options_(options) {}

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
  explicit BlockOrder(Findings& findings) : findings_(findings) {}

  void add(std::uint64_t index, const PartitionSummary& summary) {
    const std::lock_guard lock(mutex_);
    waiting_.emplace(index, summary);
    for (auto first = waiting_.begin(); first != waiting_.end() && first->first == next_;
         first = waiting_.erase(first), ++next_) {
      findings_.append(first->second);
    }
  }

 private:
  std::mutex mutex_;
  std::map<std::uint64_t, PartitionSummary> waiting_;
  std::uint64_t next_ = 0;
  Findings& findings_;
};

// Returns what regular files hold; 0: one of them is a stream, and no one knows.
std::uint64_t bytes_to_check(const std::vector<FileWord>& files) {
  std::uint64_t bytes = 0;
  for (const FileWord& file : files) {
    struct stat info{};
    if (::stat(file.name.c_str(), &info) != 0 || !S_ISREG(info.st_mode)) return 0;
    bytes += static_cast<std::uint64_t>(info.st_size);
  }
  return bytes;
}

void check_records(const FileWord& file, const CheckOptions& options, Findings& findings, engine::Progress& done) {
  BlockOrder order(findings);
  std::atomic<bool> looks_generated = false;
  const std::uint64_t size_bytes = sortbenchmark::read_record_file(
      file.name, {.compute_threads = options.threads, .caching = file.caching},
      [&](std::uint64_t index, std::span<const std::byte> block) {
        if (index == 0)
          looks_generated = block.size() >= sortbenchmark::gensort_record_bytes && sortbenchmark::looks_generated(block.data());
        order.add(index,
                  sortbenchmark::summarize(block.data(), block.size() / sortbenchmark::gensort_record_bytes, options.key_case));
        done.add_bytes(block.size());
      });
  if (size_bytes % sortbenchmark::gensort_record_bytes != 0)
    throw Error(
        ExitCode::not_in_order,
        fmt::format("partial record found at end{}",
                    looks_generated ? "" : "; for text: ecosort check lines, csv or jsonl, with the options of the sort"));
}

void check_summaries(const FileWord& file, Findings& findings) {
  const std::vector<std::byte> content = io::read_whole_file(file.name);
  std::span<const std::byte> rest = content;
  for (; rest.size() >= sortbenchmark::summary_bytes; rest = rest.subspan(sortbenchmark::summary_bytes)) {
    findings.append(PartitionSummary::from_bytes(rest.first<sortbenchmark::summary_bytes>()));
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

void check_files(const CheckOptions& options, Findings& findings) {
  if (options.of_summaries) {
    for (const FileWord& file : options.files) check_summaries(file, findings);
    return;
  }
  const std::uint64_t bytes = bytes_to_check(options.files);
  engine::Progress done;
  done.plan_job(1, bytes);
  done.begin(engine::Phase::check, bytes, std::max<std::uint64_t>(bytes, 1));
  ProgressLine line(done, options.progress);
  for (const FileWord& file : options.files) check_records(file, options, findings, done);
  const std::uint64_t checked = done.read().bytes;
  done.begin(engine::Phase::done, 0);
  line.finish({"checked", checked, records_text(checked / sortbenchmark::gensort_record_bytes)});
}

int check(const CheckOptions& options) {
  std::optional<io::PlainFile> summary_file;
  if (options.summary_file) summary_file.emplace(io::PlainFile::create(*options.summary_file));
  Findings findings(options);
  check_files(options, findings);
  const PartitionSummary& total = findings.total();
  if (total.records == 0) throw Error(ExitCode::not_in_order, "there must be at least one record to be validated");
  if (!options.quiet) print_report(total);
  if (summary_file) {
    summary_file->write(total.to_bytes());
    summary_file->close();
  }
  return total.unordered == 0 ? 0 : 1;
}

// Returns whether it is what a cluster writes beside its parts or its file: another program knows it.
bool is_manifest(const ReferenceWords& words) {
  const std::string name = words.positionals.size() == 1 ? std::filesystem::path(words.positionals.front()).filename() : "";
  return name == "MANIFEST.json" || name.ends_with(".MANIFEST.json");
}

int check_manifest(const ReferenceWords& words) {
  for (const auto& [flag, value] : words.flags)
    if (flag != 'q')
      throw UsageError(fmt::format("-{} is for records; a manifest says of which rows its parts are (ecosort check [-q] {})",
                                   flag, words.positionals.front()));
  Words check{"check"};
  if (words.has('q')) check.emplace_back("--quiet");
  check.push_back(words.positionals.front());
  return run_cluster(check);
}

// Parquet says itself in which order its rows are; another program reads it.
bool is_parquet(std::string_view name) { return has_ending(name, ".parquet"); }

int check_claims(const ReferenceWords& words) {
  if (const auto other = std::ranges::find_if_not(words.positionals, is_parquet); other != words.positionals.end())
    throw UsageError(fmt::format("check: {} is no .parquet file, and others are; name it in a call of its own", *other));
  if (std::ranges::any_of(words.positionals, is_address))
    throw UsageError("check: Parquet is read from files here; copy the objects into files first");
  for (const auto& [flag, value] : words.flags)
    if (flag != 'q')
      throw UsageError(fmt::format("-{} is for records; a Parquet file says itself what its rows are (ecosort check [-q] {})",
                                   flag, words.positionals.front()));
  return check_parquet(words.positionals, words.has('q'));
}

// Addresses are streamed into the same command.
int check_streams(const Words& words, const ReferenceWords& parsed) {
  Words remote{"check"};
  remote.insert(remote.end(), words.begin(), words.end());
  remote.insert(remote.end() - static_cast<std::ptrdiff_t>(parsed.positionals.size()), "--");
  return run_remote(remote);
}

}  // namespace

// Other programs, and what is said of them, have the exit codes of all commands.
int run_check(const Words& words) {
  if (names_format(words)) return check_order(words);
  ReferenceWords parsed;
  std::function<int()> other;
  const int code = with_reference_exit_codes("check", [&] {
    parsed = parse_reference_words(words, command_table("check"));
    if (parsed.wants_help) return print_help(command_table("check"));
    if (is_manifest(parsed))
      other = [&] { return check_manifest(parsed); };
    else if (std::ranges::any_of(parsed.positionals, is_parquet))
      other = [&] { return check_claims(parsed); };
    else if (std::ranges::any_of(parsed.positionals, is_address))
      other = [&] { return check_streams(words, parsed); };
    return other ? 0 : check(parse_check(parsed));
  });
  return other ? other() : code;
}

}  // namespace ecosort::cli
