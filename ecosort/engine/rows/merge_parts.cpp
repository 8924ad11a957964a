#include "engine/rows/merge_parts.h"

#include <algorithm>

#include "engine/rows/merge_groups.h"
#include "formats/shuffle/shuffle_format.h"

namespace ecosort::engine::rows {
namespace {

// A part that is merged sooner than its runs are cut does not pay: a cut reads some blocks of each run.
constexpr std::uint64_t least_part_bytes = std::uint64_t{1} << 20U, least_part_blocks = 8;
// The smallest part has at least this share of an even one; else one thread would do most of the work, and more would be read.
constexpr std::uint64_t least_share = 5;
constexpr unsigned slots_of_part = 2;

bool fits(const planner::LinePlan& plan, const std::vector<MergeInput>& inputs, const io::File& output, unsigned parts) {
  const std::uint64_t merges = parts * merge_memory_bytes(plan, inputs, slots_of_part) + SplitRuns::kept_bytes(inputs, parts) +
                               BorderPages::bytes_for(output, parts);
  return std::max(merges, SplitRuns::search_bytes(plan, inputs, parts)) <= plan.merge_bytes();
}

bool is_balanced(const SplitRuns& split, unsigned parts) {
  std::uint64_t total = 0, least = UINT64_MAX;
  for (unsigned part = 0; part < parts; ++part) {
    total += split.bytes(part);
    least = std::min(least, split.bytes(part));
  }
  return least * parts * least_share >= total;
}

}  // namespace

unsigned parts_that_pay(const planner::LinePlan& plan, unsigned threads, const MergeTerms& terms,
                        const std::vector<MergeInput>& inputs, const io::File& output) {
  const bool can_place = !output.facts().is_stream && plan.block_bytes % output.write_unit() == 0;
  const bool drops = terms.groups.is_on || terms.limit != UINT64_MAX || terms.skip > 0;
  if (!can_place || drops || terms.is_of_files || !SplitRuns::can_split(plan, inputs)) return 1;
  std::uint64_t bytes = 0;
  for (const MergeInput& input : inputs) bytes += input.run.bytes;
  const std::uint64_t least = std::max(least_part_bytes, inputs.size() * least_part_blocks * plan.block_bytes);
  // Half of the write blocks are filled while the others are written.
  unsigned parts = std::min(threads, plan.write_blocks / 2);
  while (parts > 1 && (parts * least > bytes || !fits(plan, inputs, output, parts))) --parts;
  return std::max(parts, 1U);
}

// The parts of shuffled runs, whose cuts were found when they were formed.
class MergeParts::ShuffleCuts {
 public:
  ShuffleCuts(const std::vector<MergeInput>& runs, unsigned parts) : splitters_(parts - 1), parts_(parts) {
    for (unsigned part = 0; part < parts; ++part) {
      const unsigned begin = first_of(part), end = first_of(part + 1);
      for (const MergeInput& input : runs) {
        const formats::KeyCut &from = input.run.cuts[begin], &to = input.run.cuts[end];
        parts_of_runs_[part].ranges.push_back({from.bytes, to.bytes});
        parts_of_runs_[part].bytes += to.bytes - from.bytes - (to.rows - from.rows) * sizeof(shuffle::RowHead);
      }
      if (part + 1 == parts) continue;
      splitters_[part] = {formats::least_prefix(end), 0, 0};
      parts_of_runs_[part].splitter = Text(reinterpret_cast<const char*>(&splitters_[part]), sizeof(shuffle::RowHead));
    }
  }

  [[nodiscard]] const std::vector<PartOfRuns>& parts() const noexcept { return parts_of_runs_; }

 private:
  [[nodiscard]] unsigned first_of(unsigned part) const noexcept { return formats::key_parts * part / parts_; }

  std::vector<shuffle::RowHead> splitters_;
  unsigned parts_;
  std::vector<PartOfRuns> parts_of_runs_ = std::vector<PartOfRuns>(parts_);
};

struct MergeParts::Part {
  Part(const MergeParts& whole, BorderPages& pages, const ByteRange& bytes, const MergePart& part, bool is_last,
       std::uint64_t total)
      : sink(whole.tools_, whole.output_, pages, bytes, is_last, total),
        merge(whole.tools_, whole.terms_, whole.inputs_, slots_of_part, part),
        beginning(sink.lead(), '\0') {}

  PartSink sink;
  MergeLines merge;
  std::string beginning;
};

MergeParts::MergeParts(const RowTools& tools, const MergeTerms& terms, std::vector<MergeInput>& inputs, const io::File& output)
    : tools_(tools), terms_(terms), inputs_(inputs), output_(output) {}

void MergeParts::add(const MergedLines& merged) noexcept {
  merged_.in += merged.in;
  merged_.out += merged.out;
  merged_.dropped += merged.dropped;
  merged_.rows_of_groups += merged.rows_of_groups;
  merged_.skipped += merged.skipped;
  merged_.longest = std::max(merged_.longest, merged.longest);
  merged_.blank_lines += merged.blank_lines;
  formats::add(merged_.key_counts, merged.key_counts);
  formats::add(merged_.repeated_header, merged.repeated_header);
}

Task<void> MergeParts::merge_to(OutputSink& sink, const std::string& header) {
  const unsigned parts = parts_that_pay(tools_.plan, tools_.bench.compute.threads(), terms_, inputs_, output_);
  if (parts > 1 && shuffle::as_shuffle(tools_.format) != nullptr) {
    parts_ = std::min(parts, formats::key_parts);
    const ShuffleCuts cuts(inputs_, parts_);
    co_await merge_split(cuts.parts(), sink, header);
    co_return;
  }
  if (parts > 1) {
    SplitRuns split(tools_, inputs_, parts);
    co_await split.split();
    if (is_balanced(split, parts)) {
      parts_ = parts;
      co_await merge_split(parts_of(split), sink, header);
      co_return;
    }
  }
  sink.expect(header.size() + bytes_of(inputs_));
  co_await merge_whole(sink, header);
}

Task<void> MergeParts::merge_whole(LineSink& sink, const std::string& header) {
  const unsigned slots = inputs_.empty() ? slots_of_part : fit_merge(tools_.plan, inputs_, 0).slots;
  MergeLines merge(tools_, terms_, inputs_, slots);
  co_await merge.merge_to(sink, header);
  add(merge.merged());
}

std::vector<MergeParts::PartOfRuns> MergeParts::parts_of(const SplitRuns& split) const {
  std::vector<PartOfRuns> parts;
  parts.reserve(parts_);
  for (unsigned part = 0; part < parts_; ++part)
    parts.push_back({split.ranges(part), split.bytes(part), part + 1 < parts_ ? split.splitter(part) : Text()});
  return parts;
}

std::unique_ptr<MergeParts::Part> MergeParts::make_part(const std::vector<PartOfRuns>& split, unsigned number, BorderPages& pages,
                                                        const ByteRange& bytes, std::uint64_t total) {
  MergePart part{parts_, split[number].ranges, {}, {}};
  if (number > 0) part.not_before = split[number - 1].splitter;
  if (number + 1 < parts_) part.not_after = split[number].splitter;
  return std::make_unique<Part>(*this, pages, bytes, part, number + 1 == parts_, total);
}

Task<void> MergeParts::merge_split(const std::vector<PartOfRuns>& split, OutputSink& sink, const std::string& header) {
  std::vector<std::uint64_t> ends;  // in the output
  ends.reserve(parts_);
  for (const PartOfRuns& part : split) ends.push_back((ends.empty() ? header.size() : ends.back()) + part.bytes);
  const std::uint64_t bytes = ends.back();
  BorderPages pages(tools_.bench.memory, output_, {ends.begin(), ends.end() - 1}, bytes);
  std::vector<std::unique_ptr<Part>> parts;
  parts.reserve(parts_);
  for (unsigned part = 0; part < parts_; ++part)
    parts.push_back(make_part(split, part, pages, {part == 0 ? 0 : ends[part - 1], ends[part]}, sink.is_reserved() ? 0 : bytes));
  parts.front()->beginning = header;
  TaskGroup merges(tools_.bench.reactor.scope());
  for (const auto& part : parts) merges.spawn(part->merge.merge_to(part->sink, part->beginning));
  co_await merges.join();
  for (const auto& part : parts) {
    part->sink.check_complete();
    add(part->merge.merged());
  }
  co_await pages.write(tools_.bench.reactor);
  sink.account_for(bytes, bytes % pages.unit() != 0);
}

}  // namespace ecosort::engine::rows
