#include "cpp/demsort_inplace/resumable_harness.h"

#include <map>
#include <utility>

namespace ecosort::demsort_inplace {

namespace {

// In front of all other names, so that every disk numbers their inodes alike.
constexpr const char* first_input = "/disk/a";
constexpr const char* second_input = "/disk/b";

std::map<std::string, std::string> files_of(const SmallSort& sort) {
  const std::vector<std::string> parts =
      engine::fixed::cut(sort.job.input(), sort.job.format.record_size, {sort.job.records / 3});
  std::map<std::string, std::string> files{{first_input, parts[0]}, {second_input, parts[1]}};
  return files;
}

}  // namespace

io::DiskImage SmallSort::disk() const {
  std::map<std::string, std::string> files = files_of(*this);
  if (has_previous) files[sort_output] = previous();
  return io::make_image(files);
}

JobHeader SmallSort::header() const {
  JobHeader header = job.header();
  header.kind = JobHeader::Kind::resumable_sort;
  header.layout.keeps_runs = keeps_runs;
  header.reread = reread;
  header.compression = codec::run_compression_of_word(compress);
  header.layout.packs = !header.compression.is_none();
  return header;
}

bool SmallSort::holds_only(const io::DiskImage& image, const std::string& output) const {
  std::map<std::string, std::string> wanted = files_of(*this);
  if (!output.empty()) wanted[sort_output] = output;
  if (image.files.size() != wanted.size() || image.directories != std::set<std::string>{"/disk"}) return false;
  for (const auto& [path, contents] : image.files)
    if (!wanted.contains(path) || !contents.holds(wanted[path])) return false;
  return true;
}

std::vector<SmallSort> small_sorts() {
  std::vector<SmallSort> sorts;
  for (const SmallJob& job : small_jobs()) sorts.push_back({.job = job, .has_previous = sorts.size() % 2 == 1});
  sorts.push_back({.job = small_jobs().front(), .keeps_runs = true});
  // Records with many zeros.
  const SmallJob numbers{
      .name = "packed", .format = {16, {{8, 4}}}, .records = 7'000, .piece_records = 1'800, .run_block_bytes = 16'384};
  sorts.push_back({.job = numbers, .keeps_runs = true, .compress = "lz4"});
  SmallJob windows = numbers;
  windows.run_block_bytes = 8'192;
  windows.reads_keys = true;
  sorts.push_back({.job = windows, .compress = "lz4"});
  sorts.push_back({.job = numbers, .has_previous = true, .compress = "lz4"});
  return sorts;
}

engine::fixed::SortReport SortMachine::start(const SmallSort& sort) {
  std::vector<engine::fixed::Input> inputs;
  for (const char* path : {first_input, second_input}) {
    engine::fixed::Input input;
    input.file = storage_.open_input(path, io::Caching::direct_if_possible);
    input.opened = storage_.state(*input.file);
    input.records = input.opened.size_bytes / sort.job.format.record_size;
    inputs.push_back(std::move(input));
  }
  JobHeader header = sort.header();
  header.inputs = identities(inputs);
  return demsort_inplace::start(sort_output, std::move(inputs), header, plan_of(header, sort.job.memory_bytes), environment());
}

engine::fixed::SortReport SortMachine::resume(std::uint64_t memory_bytes) {
  JobStatus status = look();
  const JobHeader header = status.contents.value().header;
  const planner::RecordPlan plan = plan_of(header, memory_bytes == 0 ? header.memory_bytes : memory_bytes);
  return demsort_inplace::resume(sort_output, std::move(status), plan, environment());
}

engine::fixed::SortReport SortMachine::abandon() {
  JobStatus status = look();
  const JobHeader header = status.contents.value().header;
  return demsort_inplace::abandon(sort_output, std::move(status), plan_of(header, header.memory_bytes), environment());
}

}  // namespace ecosort::demsort_inplace
