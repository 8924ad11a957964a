#include "job/prepare_lines.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/random.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstdlib>
#include <cstring>
#include <filesystem>
#include <span>
#include <utility>

#include "base/open_files.h"
#include "base/size_text.h"
#include "formats/lines/key_words.h"
#include "formats/lines/quoted.h"
#include "io/plain_file.h"
#include "job/plan_codecs.h"
#include "job/space.h"
#include "plan/machine.h"

namespace ecosort::job {

void cannot(const char* what, const std::string& name, int error) {
  throw UsageError(fmt::format("{}: {}: {}", what, lines::quoted_name(name), std::strerror(error)));
}

namespace {

using lines::LinesOptions;

constexpr std::uint64_t least_threaded_bytes = std::uint64_t{4} << 20U;  // less is sorted sooner than threads are started

std::vector<lines::LineInput> open_inputs(const LinesOptions& options, io::Storage& storage) {
  std::vector<lines::LineInput> inputs;
  for (const std::string& name : options.inputs) {
    struct stat info{};
    if (name != "-") {
      if (::stat(name.c_str(), &info) != 0 || ::access(name.c_str(), R_OK) != 0) cannot("cannot read", name, errno);
      if (S_ISDIR(info.st_mode)) cannot("read failed", name, EISDIR);
    }
    lines::LineInput input;
    input.name = name;
    input.decompresses = options.compression.decompress;
    input.open(storage);
    input.look_at_beginning();
    inputs.push_back(std::move(input));
  }
  return inputs;
}

// Whether the inputs are worth a thread of computing besides the coordinator.
bool are_small(const std::vector<lines::LineInput>& inputs) {
  std::uint64_t bytes = 0;
  for (const lines::LineInput& input : inputs) {
    if (!input.file || input.is_stream()) return false;
    bytes += input.file->facts().size_bytes;
  }
  return bytes < least_threaded_bytes;
}

// The output gets its name when it is complete, so that its directory has to be writable: not the file that it replaces.
void check_directory_of(const std::string& output) {
  const std::string parent = std::filesystem::path(output).parent_path().string(), directory = parent.empty() ? "." : parent;
  if (::access(directory.c_str(), W_OK | X_OK) == 0) return;
  if (errno == ENOENT || errno == ENOTDIR) cannot("open failed", output, errno);
  throw UsageError(fmt::format("open failed: {}: {} (in the directory {})", lines::quoted_name(output), std::strerror(errno),
                               lines::quoted_word(directory)));
}

// Where the output goes. What is no regular file, such as /dev/null or a FIFO, becomes standard output.
std::string resolve_output(const std::string& output, SpecialOutput special) {
  if (output.empty()) return "-";
  struct stat info{};
  const int error = ::stat(output.c_str(), &info) == 0 ? 0 : errno;
  if (error != 0 && error != ENOENT) cannot("open failed", output, error);
  if (error != 0 || S_ISREG(info.st_mode)) {
    if (output == "-") return "./-";  // sort makes a file of this name
    check_directory_of(output);
    return io::resolve_output(output).path;
  }
  if (S_ISDIR(info.st_mode)) cannot("open failed", output, EISDIR);
  if (special == SpecialOutput::refused) throw UsageError(fmt::format("output '{}' is not a regular file", output));
  const int fd = ::open(output.c_str(), O_WRONLY | O_CLOEXEC);
  if (fd < 0 || ::dup2(fd, STDOUT_FILENO) < 0) cannot("open failed", output, errno);
  ::close(fd);
  return "-";
}

std::vector<std::string> run_directories(const LinesOptions& options, const std::string& output) {
  std::vector<std::string> directories = options.temp;
  if (directories.empty()) {
    const char* const named = std::getenv("TMPDIR");
    const std::string parent = output == "-" ? "" : std::filesystem::path(output).parent_path().string();
    directories.push_back(named != nullptr && *named != '\0' ? named : output == "-" ? "/tmp" : parent.empty() ? "." : parent);
  }
  return directories;
}

// Only where they are needed: sort does not look at them before.
void check_directories(const std::vector<std::string>& directories) {
  for (const std::string& directory : directories)
    if (::access(directory.c_str(), W_OK | X_OK) != 0) cannot("cannot create temporary file in", directory, errno);
}

constexpr std::size_t most_merged = 100'000;  // at a time, where nothing else is said

// As many as sort runs at a time. Each has two files open.
std::size_t most_programs(std::uint64_t batch_size) {
  constexpr std::size_t usual = 16, files_each = 2;
  return std::clamp<std::uint64_t>(batch_size == 0 ? usual : batch_size, 2,
                                   std::max<std::size_t>(open_files_share() / files_each, 2));
}

}  // namespace

void choose_salt(LinesOptions& options) {
  if (!options.uses_random()) return;
  lines::Digest& salt = options.order.salt;
  if (options.random_source.empty()) {
    if (::getrandom(salt.data(), salt.size(), 0) != static_cast<ssize_t>(salt.size())) cannot("getrandom", "random bytes", errno);
    return;
  }
  try {
    engine::PlainFile file = engine::PlainFile::open_for_reading(options.random_source);
    if (file.read(std::as_writable_bytes(std::span(salt))) < salt.size())
      throw UsageError(fmt::format("{}: end of file", lines::quoted_word(options.random_source)));
  } catch (const IoError& error) {
    cannot("open failed", options.random_source, error.error_number());
  }
}

std::uint64_t line_memory_of(const LinesOptions& options) {
  const planner::Machine machine = planner::read_machine();
  const std::uint64_t least = lines::least_line_memory_bytes, most = std::max(machine.available_bytes, least);
  std::uint64_t bytes = planner::default_memory_bytes(machine);
  if (!options.memory.empty()) {
    bytes = parse_bytes(options.memory, "memory");
    if (bytes < least)
      throw NotEnoughMemory(
          fmt::format("{} of memory are too little: at least {} is needed", format_bytes(bytes), format_bytes(least)), bytes,
          least);
    if (bytes > most)
      throw MemoryNotThere(fmt::format("{} of memory are more than the {} that are available ({}); give less",
                                       format_bytes(bytes), format_bytes(most), machine.limited_by),
                           most, bytes);
  }
  if (options.memory_bytes != 0) bytes = options.memory_bytes;
  if (options.memory_percent != 0) {
    const auto pages = static_cast<std::uint64_t>(::sysconf(_SC_PHYS_PAGES)),
               size = static_cast<std::uint64_t>(::sysconf(_SC_PAGESIZE));
    bytes = pages * size / 100 * options.memory_percent;
  }
  return std::clamp(bytes, least, most);
}

std::optional<lines::Disorder> find_row_disorder(const LinesOptions& options, rows::RowFormat& format,
                                                 const lines::FirstLook& look) {
  const lines::CheckedFile file{options.inputs.front(), line_memory_of(options), options.compression.decompress};
  return lines::find_disorder(file, format, options.unique, look);
}

std::uint64_t known_bytes(const std::vector<lines::LineInput>& inputs) {
  std::uint64_t bytes = 0;
  for (const lines::LineInput& input : inputs)
    if (input.file && !input.is_stream()) bytes += input.file->facts().bytes_to_read();
  return bytes;
}

bool are_known(const std::vector<lines::LineInput>& inputs) {
  return std::ranges::all_of(inputs, [](const lines::LineInput& input) { return input.file && !input.is_stream(); });
}

namespace {

// The output is as long as the input (with -u, shorter). More than a run buffer holds makes runs of all lines, whose space the
// merge gives back to the output where both are on one drive. What is known of the inputs before they are read is checked, so
// that what cannot fit is refused at once.
void check_lines_space(lines::LinesJob& job, io::Storage& storage) {
  const std::uint64_t bytes = known_bytes(job.inputs);
  if (job.unique || bytes == 0) return;
  using For = NotEnoughSpace::For;
  std::vector<job::SpaceNeed> needs;
  const bool has_runs = !job.merge && bytes > job.plan.run_buffer_bytes;
  if (has_runs) check_directories(job.directories);
  std::vector<std::string> places;
  if (job.output != "-") {
    places.push_back(io::resolve_output(job.output).directory);
    // What compression makes of the output shows when it is made.
    if (!job.codecs.packing) needs.push_back({For::output, places, bytes, 0});
  }
  // What a compress program makes of the runs shows when they are made.
  if (has_runs && job.compress_program.empty() && !job.codecs.runs.reserves_nothing)
    needs.push_back({For::runs, job.directories, job.codecs.runs.space_of(bytes), 0});
  for (job::SpaceNeed& need : needs)
    for (const std::string& directory : need.directories) need.free_bytes += storage.settled_free_bytes(directory, need.bytes);
  const bool is_alone = job.inputs.size() == 1 && are_known(job.inputs) && !job.merge && job.header_bytes == 0 &&
                        job.format->kind() == rows::Kind::lines && !job.inputs.front().is_decoded();
  job::check_space(needs, is_alone ? if_fit_in_place(*job.inputs.front().file, job.inputs.front().opened.device) : "");
  const bool shared = has_runs && !places.empty() && std::ranges::any_of(job.directories, [&](const std::string& directory) {
                        return job::drive_of(directory) == job::drive_of(places.front());
                      });
  if (!places.empty() && !job.codecs.packing && !shared && bytes >= least_threaded_bytes) job.reserved_bytes = bytes;
}

}  // namespace

namespace {

// How temporary runs are compressed. --compress-program names programs whose work is done here, too: with less of it, and with no
// process.
void plan_runs(const LinesOptions& options, const CodecTerms& terms, std::uint64_t known_bytes, lines::LinesJob& job) {
  const std::string& word = options.compression.runs;
  codec::RunCompression wanted = codec::run_compression_of_word(word.empty() ? "auto" : word);
  const std::uint64_t ratio = options.compression.assumed_ratio;
  const bool is_own = options.compress_program == "lz4" || options.compress_program == "zstd";
  if (!options.compress_program.empty()) {
    if (!wanted.is_auto) throw UsageError("a codec and a program both say how runs are compressed; leave one of them out");
    wanted = is_own ? codec::run_compression_of_word(options.compress_program) : codec::RunCompression{};
    if (!is_own) job.compress_program = options.compress_program;
  }
  // Who asks for compressed runs may have little space, or a drive that is slow enough for them to move fewer bytes.
  job.leaves_in_inputs = options.compress_program.empty() && (wanted.is_auto || wanted.is_none());
  check_assumed_ratio(ratio, !wanted.is_none() && !is_own);
  // A merge says nothing of the pace of the drives before its first run; what fits a run buffer with its index makes no run; of
  // runs that outlive a crash whoever makes these decides.
  const bool makes_no_runs = !job.merge && known_bytes > 0 && 2 * known_bytes <= job.plan.run_buffer_bytes;
  if (makes_no_runs || (job.merge && wanted.is_auto) || options.resumable) return;
  job.codecs.runs = plan_run_packing(terms, wanted, known_bytes);
  job.codecs.runs.assumed_ratio = ratio;
  job.codecs.runs.reserves_nothing = is_own;
  job.codecs.runs.power = power_of(options.compression);
}

struct Means {
  std::uint64_t memory_bytes = 0;
  unsigned threads = 1;
  std::uint64_t assumed_bytes = 0;  // of rows that are not there; 0: the inputs are
};

// Divides the memory, by what is known of the inputs.
void plan_memory(const LinesOptions& options, const Means& means, lines::LinesJob& job) {
  const CodecTerms codec_terms{means.memory_bytes - job.header_bytes, means.threads, options.merge};
  job.codecs = plan_codecs(codec_terms, job.inputs, codec::output_codec_of(options.compression, options.output));
  const std::size_t batch_size = options.batch_size == 0 ? most_merged : std::min<std::uint64_t>(options.batch_size, most_merged);
  const auto plan_rest = [&] {
    return lines::plan_lines(codec_terms.memory_bytes - job.codecs.bytes(), means.threads, batch_size, options.unique);
  };
  job.plan = plan_rest();
  const std::uint64_t bytes = means.assumed_bytes != 0 ? means.assumed_bytes : known_bytes(job.inputs);
  plan_runs(options, codec_terms, means.assumed_bytes != 0 || are_known(job.inputs) ? bytes : 0, job);
  if (job.codecs.runs.coders > 0) job.plan = plan_rest();
  if (!job.merge && bytes > job.plan.run_buffer_bytes) {
    job.plan = lines::plan_for_stored_runs(job.plan);
    // What -u leaves of the lines is not known, nor how many runs a program takes.
    if (are_known(job.inputs) && !job.unique && options.compress_program.empty()) job.plan.spread_bytes = bytes;
  }
  job.plan.most_programs = most_programs(options.batch_size);
}

// The queue is there by then.
void plan_memory_again(const LinesOptions& options, const Means& means, lines::LinesJob& job) {
  const lines::LinePlan before = job.plan;
  plan_memory(options, means, job);
  job.plan.read_depth = std::min(job.plan.read_depth, before.read_depth);
  job.plan.write_depth = std::min(job.plan.write_depth, before.write_depth);
}

}  // namespace

lines::LinesJob make_rows_job(const LinesOptions& options, std::unique_ptr<rows::RowFormat> format, bool has_top,
                              io::Storage& storage, SpecialOutput special, std::uint64_t assumed_bytes) {
  const planner::Machine machine = planner::read_machine();
  const unsigned threads = options.parallel == 0
                               ? machine.cpus
                               : static_cast<unsigned>(std::min<std::uint64_t>(options.parallel, planner::most_threads));
  const Means means{line_memory_of(options), threads, assumed_bytes};
  lines::LinesJob job;
  job.header_bytes = has_top ? means.memory_bytes / header_share : 0;
  job.unique = options.unique;
  job.merge = options.merge;
  job.checks_order = options.checks_order;
  job.reread = options.verify == "reread";
  if (assumed_bytes == 0) job.inputs = open_inputs(options, storage);
  plan_memory(options, means, job);
  if (std::ranges::any_of(job.inputs, &lines::LineInput::may_be_compressed))
    job.plan_again = [options, means](lines::LinesJob& planned) { plan_memory_again(options, means, planned); };
  job.format = std::move(format);
  job.output = resolve_output(options.output, special);
  job.directories = run_directories(options, job.output);
  if (job.reread && job.codecs.packing)
    throw UsageError("a compressed output cannot be verified by reading it again; verify it as usual");
  return job;
}

namespace {

PreparedLines complete(lines::LinesJob job, io::Storage& storage) {
  PreparedLines prepared{std::move(job)};
  prepared.is_small = are_small(prepared.job.inputs);
  if (prepared.is_small) prepared.job.plan = lines::plan_for_small_input(prepared.job.plan);
  check_lines_space(prepared.job, storage);
  return prepared;
}

}  // namespace

lines::LinesJob make_lines_job(const LinesOptions& options, io::Storage& storage, SpecialOutput special,
                               std::uint64_t assumed_bytes) {
  return make_rows_job(options, std::make_unique<lines::LineOrder>(options.order, options.terminator(), options.header_lines),
                       options.header_lines > 0, storage, special, assumed_bytes);
}

PreparedLines prepare_lines(const LinesOptions& options, io::Storage& storage, SpecialOutput special) {
  return complete(make_lines_job(options, storage, special), storage);
}

PreparedLines prepare_rows(const LinesOptions& options, std::unique_ptr<rows::RowFormat> format, bool has_top,
                           io::Storage& storage, SpecialOutput special) {
  return complete(make_rows_job(options, std::move(format), has_top, storage, special, 0), storage);
}

namespace {

// Blocks of the runs are read as they are, and unpacked where they are packed.
void fit_run_blocks(lines::LinesJob& job) {
  std::uint64_t block = job.plan.block_bytes;
  std::vector<const run::Description*> runs;
  for (const lines::LineInput& input : job.inputs) {
    block = std::max(block, input.run->block_bytes);
    runs.push_back(&*input.run);
  }
  job.codecs.runs = plan_unpacking({job.plan.memory_bytes, job.plan.threads, true}, runs, block);
  job.plan.memory_bytes -= job.codecs.runs.bytes();
  lines::LinePlan plan = job.plan;
  while (!lines::plan_for_kept_runs(plan, block)) plan.memory_bytes += plan.memory_bytes / 4;
  if (plan.memory_bytes > job.plan.memory_bytes)
    throw NotEnoughMemory(fmt::format("{} of memory are too little for runs with blocks of {}",
                                      format_bytes(job.plan.memory_bytes), format_bytes(block)),
                          job.plan.memory_bytes + job.codecs.runs.bytes() + job.header_bytes,
                          plan.memory_bytes + job.codecs.runs.bytes() + job.header_bytes);
  job.plan = *lines::plan_for_kept_runs(plan, block);
}

}  // namespace

PreparedLines prepare_kept_rows(const LinesOptions& options, std::unique_ptr<rows::RowFormat> format,
                                std::vector<run::Description> descriptions, lines::RunContents kept, io::Storage& storage) {
  PreparedLines prepared{make_rows_job(options, std::move(format), !kept.top.empty(), storage, SpecialOutput::redirected, 0)};
  lines::LinesJob& job = prepared.job;
  for (std::size_t i = 0; i < job.inputs.size(); ++i) job.inputs[i].run = std::move(descriptions[i]);
  job.kept = std::move(kept);
  fit_run_blocks(job);
  check_lines_space(job, storage);
  return prepared;
}

void read_file_names(lines::LinesOptions& options) {
  const std::string& from = options.files0_from;
  if (from.empty()) return;
  std::vector<std::byte> content;
  try {
    content = engine::read_whole_file(from == "-" ? "/dev/stdin" : from);
  } catch (const IoError& error) {
    if (error.error_number() == EISDIR) throw UsageError(fmt::format("cannot read file names from {}", lines::quoted_word(from)));
    cannot("open failed", from, error.error_number());
  }
  const std::string_view text(reinterpret_cast<const char*>(content.data()), content.size());
  for (std::size_t begin = 0; begin < text.size();) {
    const std::size_t end = std::min(text.find('\0', begin), text.size());
    options.inputs.emplace_back(text.substr(begin, end - begin));
    begin = end + 1;
    if (options.inputs.back().empty())
      throw UsageError(fmt::format("{}:{}: invalid zero-length file name", lines::quoted_name(from), options.inputs.size()));
    if (options.inputs.back() == "-")  // as sort does, wherever the names come from
      throw UsageError("when reading file names from stdin, no file name of '-' allowed");
  }
  if (options.inputs.empty()) throw UsageError(fmt::format("no input from {}", lines::quoted_word(from)));
}

io::Backend make_line_queue(const std::string& name, const PreparedLines& prepared) {
  const io::BackendChoice choice = io::parse_backend(name);
  const unsigned depth = prepared.job.plan.read_depth + prepared.job.plan.write_depth + 2;
  return prepared.is_small && choice == io::BackendChoice::auto_ ? io::make_queue_for_small_input(depth)
                                                                 : io::make_queue(choice, depth);
}

namespace {

lines::KeyWords ordering_of(const std::string& letters) {
  lines::KeyWords words;
  for (const char letter : letters)
    if (letter == 's' || letter == 'u' || !words.set(letter, lines::BlankSide::both))
      throw UsageError(fmt::format("'{}' is no ordering option of lines: give letters of bdfghiMnRrV", letter));
  return words;
}

}  // namespace

lines::LinesOptions line_options_of(const SortSpec& spec) {
  const LineTerms& terms = spec.lines;
  LinesOptions options;
  std::vector<lines::KeyWords> keys;
  keys.reserve(terms.keys.size());
  for (const std::string& key : terms.keys) keys.push_back(lines::parse_key_words(key));
  const lines::KeyWords global = ordering_of(terms.ordering + (spec.reverse ? "r" : ""));
  lines::resolve_keys(keys, global, !terms.stable && !spec.unique, options.order);
  options.order.separator = terms.field_separator;
  options.inputs = spec.inputs;
  if (spec.output != "-") options.output = spec.output;
  if (spec.reread) options.verify = "reread";
  options.temp = spec.temp_directories;
  if (spec.memory_bytes > 0) options.memory = fmt::format("{}B", spec.memory_bytes);
  options.parallel = spec.threads;
  options.header_lines = terms.header_lines;
  options.zero_terminated = terms.terminator == '\0';
  options.unique = spec.unique;
  options.io = spec.io;
  options.compression = spec.compression;
  choose_salt(options);
  return options;
}

}  // namespace ecosort::job
