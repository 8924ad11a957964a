#include "cpp/support/power_cut.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cstdio>
#include <map>
#include <utility>

#include "cpp/demsort_inplace/inplace_harness.h"
#include "cpp/support/test_environment.h"
#include "hash/block_checksum.h"

namespace ecosort::demsort_inplace {

using io::CutPolicy;
using io::StoreEvent;

std::uint64_t digest(const io::DiskImage& image) {
  std::array<std::byte, 16 * io::PagedBytes::page_bytes> part;
  std::uint64_t sum = image.directories.size();
  for (const auto& [path, contents] : image.files) {
    sum = hash::block_checksum(reinterpret_cast<const std::byte*>(path.c_str()), path.size() + 1, sum + contents.size());
    for (std::uint64_t at = 0; at < contents.size(); at += part.size())
      sum = hash::block_checksum(part.data(), contents.read(at, part.data(), part.size()), sum);
  }
  return sum;
}

std::vector<Cut> cuts(std::uint64_t chances) {
  std::vector<Cut> cuts{{CutPolicy::all_kept, 0}, {CutPolicy::all_lost, 0}};
  for (std::uint64_t seed = 1; seed <= chances; ++seed) {
    cuts.push_back({CutPolicy::random_subset, seed});
    cuts.push_back({CutPolicy::torn, seed});
  }
  return cuts;
}

namespace {

bool is_chance(const Cut& cut) { return cut.policy == CutPolicy::random_subset || cut.policy == CutPolicy::torn; }

// Each chance has its turn, and after every other event there is none.
std::vector<Cut> cuts_after(std::size_t event, const Sweep& sweep) {
  if (!sweep.in_turn) return sweep.policies;
  const auto chances = static_cast<std::size_t>(std::ranges::count_if(sweep.policies, is_chance));
  std::size_t number = event % (2 * std::max<std::size_t>(chances, 1));
  std::vector<Cut> cuts;
  for (const Cut& cut : sweep.policies)
    if (!is_chance(cut) || number-- == 0) cuts.push_back(cut);
  return cuts;
}

}  // namespace

Outcome cut_everywhere(const Sweep& sweep, const Judge& judge) {
  Outcome outcome;
  std::set<std::pair<std::uint64_t, std::uint64_t>> judged;  // images, epochs
  io::CrashModel model(sweep.initial);
  const auto look_at = [&](const io::DiskImage& image, std::size_t event, const std::string& what) {
    ++outcome.images;
    const std::uint64_t number = digest(image);
    outcome.distinct.insert(number);
    if (!judged.emplace(number, sweep.epoch ? sweep.epoch(event) : 0).second) return;
    if (!sweep.keeps && judged.size() % slowness != 0) return;
    const std::string loss = judge(image, event);
    if (!loss.empty() && outcome.losses++ == 0) outcome.first_loss = fmt::format("event {}, {}: {}", event, what, loss);
  };
  for (std::size_t i = 0; i < sweep.log.size(); ++i) {
    if (!sweep.keeps || sweep.keeps(i)) model.apply(sweep.log[i]);
    if (i < sweep.from) continue;
    ++outcome.events;
    for (const Cut& cut : cuts_after(i, sweep)) {
      look_at(model.image(cut.policy, cut.seed + i), i, fmt::format("{} {}", to_string(cut.policy), cut.seed));
      if (sweep.stops_at_loss && outcome.losses > 0) return outcome;
      if (!model.has_unsynced()) break;
    }
  }
  // A program that said it is done has left nothing to chance.
  const std::string loss = judge(model.image(CutPolicy::all_lost, 0), sweep.log.size());
  if (!loss.empty() && outcome.losses++ == 0) outcome.first_loss = "at the end: " + loss;
  return outcome;
}

bool is_found_out(Sweep sweep, const Judge& judge) {
  while (sweep.from < sweep.log.size() && sweep.keeps(sweep.from)) ++sweep.from;  // until then nothing was ignored
  sweep.stops_at_loss = true;
  for (const std::vector<Cut>& policies : {std::vector<Cut>{{CutPolicy::all_lost, 0}}, cuts(8)}) {
    sweep.policies = policies;
    if (cut_everywhere(sweep, judge).losses > 0) return true;
  }
  return false;
}

void print_outcome(const char* name, const Outcome& outcome) {
  std::printf("%s: cut after events 0-%llu, %llu images, %zu distinct, %llu losses\n", name,
              static_cast<unsigned long long>(outcome.events - 1), static_cast<unsigned long long>(outcome.images),
              outcome.distinct.size(), static_cast<unsigned long long>(outcome.losses));
}

std::vector<std::string> label_syncs(const EventLog& log, const std::string& job_directory, std::uint64_t runs) {
  std::map<std::uint64_t, std::string> names;  // by inode
  std::map<std::string, std::uint64_t> total, seen;
  for (const StoreEvent& event : log) {
    if (event.kind == StoreEvent::Kind::link) names[event.inode] = event.name.substr(job_directory.size() + 1);
    if (event.kind == StoreEvent::Kind::issue_sync) ++total[names[event.inode]];
  }
  std::vector<std::string> labels(log.size());
  std::map<std::uint64_t, std::string> requests;
  for (std::size_t i = 0; i < log.size(); ++i) {
    const StoreEvent& event = log[i];
    if (event.kind == StoreEvent::Kind::sync_directory) labels[i] = fmt::format("{} {}", event.name, ++seen[event.name]);
    if (event.kind == StoreEvent::Kind::complete_sync) labels[i] = requests[event.request];
    if (event.kind != StoreEvent::Kind::issue_sync) continue;
    const std::string& name = names[event.inode];
    const std::uint64_t number = ++seen[name];
    const bool is_last = number == total[name];
    labels[i] = name.starts_with("run-") ? "run"
                                         : name + (is_last                                   ? " at the end"
                                                   : number == 1 && name == "journal"        ? " header"
                                                   : number <= runs + 1 && name == "journal" ? " run"
                                                                                             : " checkpoint");
    requests[event.request] = labels[i];
  }
  return labels;
}

}  // namespace ecosort::demsort_inplace
