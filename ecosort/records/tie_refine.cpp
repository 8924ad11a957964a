#include "records/tie_refine.h"

#include <algorithm>
#include <type_traits>

#include "records/parallel_parts.h"
#include "records/range_sort.h"

// A group of tied entries gets new 12-byte windows of its keys, from where the keys first differ, and is sorted by them with the
// same radix sort; then the groups that still tie, and so on. URLs and dates with long common beginnings cost one look at the
// common bytes for the group as a whole, not one pass per 12 bytes. Pairs and small groups are compared.

namespace ecosort::records {
namespace {

constexpr std::size_t compare_limit = 16;  // entries; smaller groups are ordered by comparing whole keys
constexpr std::size_t prefetch_distance = 16;
constexpr std::size_t rekey_parts_per_thread = 4;
constexpr std::size_t parallel_group = std::size_t{1} << 14U;

void prefetch_key(const TieContext& context, std::size_t at, std::size_t end, std::uint64_t depth) {
  if (at < end) __builtin_prefetch(context.encoder.key_byte(context.record_of(context.entries[at]), depth));
}

// Stable insertion by the full key.
void sort_by_comparing(const TieContext& context, const TiedGroup& group) {
  Entry* entries = context.entries;
  for (std::size_t i = group.begin + 1; i < group.end; ++i) {
    const Entry moving = entries[i];
    const std::byte* record = context.record_of(moving);
    std::size_t hole = i;
    while (hole > group.begin && context.encoder.compare(record, context.record_of(entries[hole - 1])) < 0) {
      entries[hole] = entries[hole - 1];
      --hole;
    }
    entries[hole] = moving;
  }
}

struct Parts {
  unsigned threads;
  std::size_t count;
};

Parts parts_for(const TiedGroup& group, unsigned threads) {
  if (threads <= 1 || group.size() < parallel_group) return {1, 1};
  return {threads, rekey_parts_per_thread * threads};
}

// How many leading key bytes a sample of the group has in common: at least those of the whole group.
std::uint64_t sampled_common_bytes(const TieContext& context, const TiedGroup& group) {
  constexpr std::size_t samples = 32;
  const std::byte* first = context.record_of(context.entries[group.begin]);
  std::uint64_t common = context.encoder.key_length();
  for (std::size_t i = 0; i < samples && common > group.depth; ++i) {
    const Entry& entry = context.entries[group.begin + part_begin(group.size(), samples, i)];
    common = std::min(common, context.encoder.common_key_bytes(first, context.record_of(entry), group.depth));
  }
  return common;
}

// use(window_of) with the cheapest way to read the windows at `depth`.
template <class Use>
void with_windows(const Encoder& encoder, std::uint64_t depth, Use use) {
  const auto with_words = [&]<class Reader>() {
    if constexpr (std::is_same_v<Reader, Encoder::AnyReader>) {
      use([&](const std::byte* record) { return encoder.window(record, depth); });
    } else {
      use([prefix = Reader(encoder, depth), extension = Reader(encoder, depth + Encoder::word_bytes)](const std::byte* record) {
        return KeyWindow{prefix(record), static_cast<std::uint32_t>(extension(record) >> 32U)};
      });
    }
  };
  encoder.with_reader(with_words, depth);
}

// Gives the entries of the group the key windows at `depth`. Returns the number of leading key bytes that all of them have in
// common, or `depth` where that is more: the windows order the group only if it is `depth`.
std::uint64_t rekey(const TieContext& context, const TiedGroup& group, std::uint64_t depth, const Parts& parts) {
  const std::byte* first = context.record_of(context.entries[group.begin]);
  std::vector<std::uint64_t> common(parts.count, depth);
  for_each_part(parts.threads, parts.count, [&](std::size_t part) {
    const std::size_t end = group.begin + part_begin(group.size(), parts.count, part + 1);
    std::uint64_t shared = depth;
    with_windows(context.encoder, depth, [&](auto window_of) {
      for (std::size_t i = group.begin + part_begin(group.size(), parts.count, part); i < end; ++i) {
        prefetch_key(context, i + prefetch_distance, end, depth);
        Entry& entry = context.entries[i];
        const std::byte* record = context.record_of(entry);
        if (shared > group.depth) shared = std::min(shared, context.encoder.common_key_bytes(first, record, group.depth));
        const KeyWindow window = window_of(record);
        entry = {window.prefix, window.extension, entry.index};
      }
    });
    common[part] = shared;
  });
  return *std::min_element(common.begin(), common.end());
}

// Appends the groups of entries[begin..end) that tie after a sort by the key bytes before `depth`; orders the small ones at once.
void find_groups(const TieContext& context, std::size_t begin, std::size_t end, std::uint64_t depth,
                 std::vector<TiedGroup>& groups) {
  for (std::size_t at = begin; at < end;) {
    TiedGroup group{at, at + 1, depth};
    while (group.end < end && key_equal(context.entries[group.end], context.entries[at])) ++group.end;
    at = group.end;
    if (group.size() == 1) continue;
    if (group.size() <= compare_limit) {
      sort_by_comparing(context, group);
    } else {
      groups.push_back(group);
    }
  }
}

class GroupRefiner {
 public:
  explicit GroupRefiner(const TieContext& context) : context_(context) {}

  void refine(const TiedGroup& group, unsigned threads) {
    const Entry key = context_.entries[group.begin];
    pending_.assign(1, group);
    while (!pending_.empty()) {
      const TiedGroup next = pending_.back();
      pending_.pop_back();
      split(next, threads);
    }
    for (std::size_t i = group.begin; i < group.end; ++i) {
      Entry& entry = context_.entries[i];
      entry = {key.prefix, key.extension, entry.index};
    }
  }

 private:
  void split(const TiedGroup& group, unsigned threads) {
    const Parts parts = parts_for(group, threads);
    const std::uint64_t guess = sampled_common_bytes(context_, group);
    const std::uint64_t depth = rekey(context_, group, guess, parts);
    if (depth == context_.encoder.key_length()) return;  // equal keys lie in their old order
    if (depth != guess) rekey(context_, group, depth, parts);
    sort_range(context_.entries + group.begin, context_.scratch + group.begin, group.size(), Target::same_array, workspace_,
               parts.threads);
    const std::uint64_t next_depth = depth + Encoder::window_bytes;
    if (next_depth < context_.encoder.key_length()) find_groups(context_, group.begin, group.end, next_depth, pending_);
  }

  const TieContext& context_;
  BucketWorkspace workspace_;
  std::vector<TiedGroup> pending_;
};

}  // namespace

void refine_range(const TieContext& context, std::size_t begin, std::size_t end, std::size_t postponed_from,
                  std::vector<TiedGroup>& postponed) {
  GroupRefiner refiner(context);
  for (std::size_t at = begin; at < end;) {
    TiedGroup group{at, at + 1, Encoder::window_bytes};
    while (group.end < end && key_equal(context.entries[group.end], context.entries[at])) ++group.end;
    at = group.end;
    if (group.size() >= postponed_from) {
      postponed.push_back(group);
    } else if (group.size() > compare_limit) {
      refiner.refine(group, 1);
    } else if (group.size() > 1) {
      sort_by_comparing(context, group);
    }
  }
}

void refine_group(const TieContext& context, const TiedGroup& group, unsigned threads) {
  GroupRefiner(context).refine(group, threads);
}

}  // namespace ecosort::records
