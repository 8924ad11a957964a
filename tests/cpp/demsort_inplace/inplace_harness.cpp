#include "cpp/demsort_inplace/inplace_harness.h"

#include <algorithm>
#include <list>
#include <utility>
#include <vector>

#include "demsort_inplace/describe_run.h"
#include "run/description.h"

namespace ecosort::demsort_inplace {

namespace {

// Holds what a job sorts, and what comes of it. Sweeps ask for both after each fault, and to make them takes longer than the job.
struct Made {
  records::RecordFormat format;
  engine::fixed::Keys keys;
  std::string input, sorted;
};

const Made& made_for(const SmallJob& job) {
  static std::list<Made> all;
  for (const Made& made : all)
    if (made.format.record_size == job.format.record_size && made.format.keys == job.format.keys && made.keys == job.keys &&
        made.input.size() == job.records * job.format.record_size)
      return made;
  std::string input = engine::fixed::make_records(job.format, job.keys, job.records);
  std::string sorted = engine::fixed::sorted_copy(job.format, input);
  all.push_back({job.format, job.keys, std::move(input), std::move(sorted)});
  return all.back();
}

}  // namespace

const std::string& SmallJob::input() const { return made_for(*this).input; }
const std::string& SmallJob::sorted() const { return made_for(*this).sorted; }

JobHeader SmallJob::header() const {
  JobHeader header;
  header.job = 0x5eed;
  header.format = format;
  header.memory_bytes = memory_bytes;
  header.reread = reread;
  header.layout = {.records = records,
                   .record_size = format.record_size,
                   .run_block = planner::RunBlock::of(run_block_bytes, format.record_size),
                   .piece_records = piece_records,
                   .unit = unit,
                   .interval_bytes = interval_bytes};
  if (!describes_runs) return header;
  header.layout.key_stride = reads_keys ? 1 : engine_plan(header, memory_bytes, 0).forecast_stride;
  header.layout.head_bytes = head_bytes(format, header.layout);
  return header;
}

// All small jobs would merge blocks as large as their runs.
planner::RecordPlan plan_of(const JobHeader& header, std::uint64_t memory_bytes) {
  planner::RecordPlan plan = engine_plan(header, memory_bytes, 0);
  if (header.layout.key_stride != 1) return plan;
  plan.forecast_stride = 1;
  plan.forecast_window = 2;
  plan.merge.final.block_bytes = plan.run_block.bytes;
  return plan;
}

const std::vector<SmallJob>& small_jobs() {
  using engine::fixed::Keys;
  static const std::vector<SmallJob> jobs{
      {.name = "odd", .format = {101, {{0, 10}}}, .records = 1'500, .piece_records = 400},
      {.name = "ties",
       .format = {77, {{5, 3}}},
       .keys = Keys::two_values,
       .records = 1'700,
       .piece_records = 450,
       .reads_keys = true},
      {.name = "even",
       .format = {64, {{60, 4, true}, {1, 13}}},
       .keys = Keys::common_prefix,
       .records = 1'900,
       .piece_records = 512},
      {.name = "one_run", .format = {100, {{0, 10}}}, .records = 400, .piece_records = 400},
      {.name = "large_records",
       .format = {5'003, {{4'990, 12}}},
       .records = 31,
       .piece_records = 7,
       .run_block_bytes = 12'288,
       .interval_bytes = std::uint64_t{48} * 1024},
      {.name = "aligned", .format = {64, {{0, 10}}}, .records = 1'920, .piece_records = 512, .describes_runs = false},
      {.name = "large_blocks",
       .format = {100, {{3, 9}}},
       .records = 3'000,
       .piece_records = 800,
       .run_block_bytes = 16'384,
       .interval_bytes = std::uint64_t{64} * 1024,
       .memory_bytes = 4 * planner::least_memory_bytes,
       .unit = 16'384},
  };
  return jobs;
}

engine::fixed::SortReport JobMachine::start(const SmallJob& job) {
  const JobHeader header = job.header();
  io::FilePtr input = storage_.open_named(job_file, io::Role::input, io::Caching::direct_if_possible);
  std::vector<engine::fixed::Input> inputs(1);
  inputs.front().file = std::move(input);
  return demsort_inplace::start(job_file, std::move(inputs), header, plan_of(header, job.memory_bytes), environment());
}

engine::fixed::SortReport JobMachine::resume(std::uint64_t memory_bytes) {
  JobStatus status = examine(job_file, storage_, queue_);
  const JobHeader header = status.contents.value().header;
  const planner::RecordPlan plan = plan_of(header, memory_bytes == 0 ? header.memory_bytes : memory_bytes);
  return demsort_inplace::resume(job_file, std::move(status), plan, environment());
}

engine::fixed::SortReport JobMachine::abandon() {
  JobStatus status = examine(job_file, storage_, queue_);
  const JobHeader header = status.contents.value().header;
  return demsort_inplace::abandon(job_file, std::move(status), plan_of(header, header.memory_bytes), environment());
}

std::string undescribed_run(const io::DiskImage& image, const std::string& file, const JournalContents& contents) {
  if (contents.header.layout.head_bytes == 0) return "";
  for (const RunDone& done : contents.runs) {
    const auto found = image.files.find(JobPaths(file).run(done.run));
    if (found == image.files.end() || found->second.size() == 0) continue;
    std::vector<std::byte> head(std::min(found->second.size(), contents.header.layout.head_bytes));
    found->second.read(0, head.data(), head.size());
    const run::Description description = run::decode_description(head, found->first);
    if (description.job != contents.header.job || description.run != done.run || !(description.hash == done.tally.hash))
      return "run " + std::to_string(done.run) + " describes another one";
  }
  return "";
}

std::string text_of(const io::PagedBytes& contents) {
  std::string text(contents.size(), '\0');
  contents.read(0, reinterpret_cast<std::byte*>(text.data()), text.size());
  return text;
}

bool have_same_files(const io::DiskImage& a, const io::DiskImage& b) {
  return std::ranges::equal(a.files, b.files,
                            [](const auto& x, const auto& y) { return x.first == y.first && x.second.holds(text_of(y.second)); });
}

void flip_byte(io::PagedBytes& contents, std::uint64_t at) {
  std::byte byte{};
  contents.read(at, &byte, 1);
  byte ^= std::byte{4};
  contents.write(at, &byte, 1);
}

bool holds_only(const io::DiskImage& image, const std::string& contents) {
  return image.files.size() == 1 && image.directories == std::set<std::string>{"/disk"} &&
         image.files.begin()->first == job_file && image.files.begin()->second.holds(contents);
}

std::string as_multiset(const std::string& records, std::uint32_t record_size) {
  std::vector<std::string> all;
  for (std::size_t at = 0; at < records.size(); at += record_size) all.push_back(records.substr(at, record_size));
  std::ranges::sort(all);
  std::string text;
  for (const std::string& record : all) text += record;
  return text;
}

}  // namespace ecosort::demsort_inplace
