#include "formats/records/tie_refine.h"

#include <algorithm>
#include <type_traits>

#include "base/prefetch.h"
#include "sorting/parallel_parts.h"
#include "sorting/range_sort.h"

// A group of tied entries gets new 12-byte windows of its keys, from where the keys first differ, and is sorted by them with the
// same radix sort; then the groups that still tie, and so on. URLs and dates with long common beginnings cost one look at the
// common bytes for the group as a whole, not one pass per 12 bytes. Pairs and small groups are ordered by insertion.

namespace ecosort::records {
namespace {

constexpr std::size_t compare_limit = 16;  // entries; groups of no more are ordered by insertion
constexpr std::size_t prefetch_distance = 32;
constexpr std::size_t samples = 64;
constexpr std::size_t rekey_parts_per_thread = 4;
constexpr std::size_t parallel_group = std::size_t{1} << 14U;

void prefetch_key(const TieContext& context, std::size_t at, std::size_t end, std::uint64_t depth) {
  if (at < end) prefetch(context.encoder.key_byte(context.record_of(context.entries[at]), depth));
}

// Stable insertion by the full key.
void sort_by_comparing(const TieContext& context, const TiedGroup& group) {
  sorting::Entry* entries = context.entries;
  for (std::size_t i = group.begin + 1; i < group.end; ++i) {
    const sorting::Entry moving = entries[i];
    const std::byte* record = context.record_of(moving);
    std::size_t hole = i;
    while (hole > group.begin && context.encoder.compare(record, context.record_of(entries[hole - 1])) < 0) {
      entries[hole] = entries[hole - 1];
      --hole;
    }
    entries[hole] = moving;
  }
}

// A group of up to compare_limit entries: by their key windows at its depth, and by whole keys where these tie as well.
template <class WindowOf>
void sort_small_group(const TieContext& context, const TiedGroup& group, WindowOf window_of) {
  sorting::Entry* const entries = context.entries + group.begin;
  sorting::Entry keyed[compare_limit];
  for (std::size_t i = 0; i < group.size(); ++i) {
    const KeyWindow window = window_of(context.record_of(entries[i]));
    keyed[i] = {window.prefix, window.extension, entries[i].index};
  }
  sorting::insertion_sort(keyed, group.size());
  bool tied = false;
  for (std::size_t i = 0; i < group.size(); ++i) {
    entries[i].index = keyed[i].index;
    tied |= i > 0 && sorting::key_equal(keyed[i - 1], keyed[i]);
  }
  if (tied && group.depth + Encoder::window_bytes < context.encoder.key_length()) sort_by_comparing(context, group);
}

struct Parts {
  unsigned threads;
  std::size_t count;
};

Parts parts_for(const TiedGroup& group, unsigned threads) {
  if (threads <= 1 || group.size() < parallel_group) return {1, 1};
  return {threads, rekey_parts_per_thread * threads};
}

// The leading key bytes that a group has in common: those of all entries if there are few, else at most those of a sample.
struct CommonBytes {
  std::uint64_t guess;  // of the entries that were looked at
  std::uint64_t known;  // of all of them
};

CommonBytes look_for_common_bytes(const TieContext& context, const TiedGroup& group) {
  const std::byte* first = context.record_of(context.entries[group.begin]);
  const std::size_t looks = std::min(group.size(), samples);
  const auto place = [&](std::size_t look) { return group.begin + sorting::part_begin(group.size(), looks, look); };
  std::uint64_t common = context.encoder.key_length();
  for (std::size_t i = 0; i < looks && common > group.depth; ++i) {
    prefetch_key(context, place(std::min(i + prefetch_distance, looks - 1)), group.end, group.depth);
    common = std::min(common, context.encoder.common_key_bytes(first, context.record_of(context.entries[place(i)]), group.depth));
  }
  return {common, looks == group.size() ? common : group.depth};
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
// common, or `depth` where that is more: the windows order the group only if it is `depth`. `known` of them are not looked at.
std::uint64_t rekey(const TieContext& context, const TiedGroup& group, std::uint64_t depth, std::uint64_t known,
                    const Parts& parts) {
  const std::byte* first = context.record_of(context.entries[group.begin]);
  std::vector<std::uint64_t> common(parts.count, depth);
  sorting::for_each_part(parts.threads, parts.count, [&](std::size_t part) {
    const std::size_t end = group.begin + sorting::part_begin(group.size(), parts.count, part + 1);
    std::uint64_t shared = depth;
    with_windows(context.encoder, depth, [&](auto window_of) {
      for (std::size_t i = group.begin + sorting::part_begin(group.size(), parts.count, part); i < end; ++i) {
        if (shared > known) prefetch_key(context, i + prefetch_distance, end, known);
        prefetch_key(context, i + prefetch_distance, end, depth);
        sorting::Entry& entry = context.entries[i];
        const std::byte* record = context.record_of(entry);
        if (shared > known) shared = std::min(shared, context.encoder.common_key_bytes(first, record, known));
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
    while (group.end < end && sorting::key_equal(context.entries[group.end], context.entries[at])) ++group.end;
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
    const sorting::Entry key = context_.entries[group.begin];
    pending_.assign(1, group);
    while (!pending_.empty()) {
      const TiedGroup next = pending_.back();
      pending_.pop_back();
      split(next, threads);
    }
    for (std::size_t i = group.begin; i < group.end; ++i) {
      sorting::Entry& entry = context_.entries[i];
      entry = {key.prefix, key.extension, entry.index};
    }
  }

 private:
  void split(const TiedGroup& group, unsigned threads) {
    const Parts parts = parts_for(group, threads);
    const CommonBytes common = look_for_common_bytes(context_, group);
    if (common.known == context_.encoder.key_length()) return;  // equal keys lie in their old order
    const std::uint64_t depth = rekey(context_, group, common.guess, common.known, parts);
    if (depth == context_.encoder.key_length()) return;
    if (depth != common.guess) rekey(context_, group, depth, depth, parts);
    sorting::sort_range(context_.entries + group.begin, context_.scratch + group.begin, group.size(), sorting::Target::same_array,
                        workspace_, parts.threads);
    const std::uint64_t next_depth = depth + Encoder::window_bytes;
    if (next_depth < context_.encoder.key_length()) find_groups(context_, group.begin, group.end, next_depth, pending_);
  }

  const TieContext& context_;
  sorting::BucketWorkspace workspace_;
  std::vector<TiedGroup> pending_;
};

}  // namespace

void refine_range(const TieContext& context, std::size_t begin, std::size_t end, std::size_t postponed_from,
                  std::vector<TiedGroup>& postponed) {
  GroupRefiner refiner(context);
  const sorting::Entry* const entries = context.entries;
  const auto ask_for_tied = [&](std::size_t at) {
    if (at + 1 < end && sorting::key_equal(entries[at], entries[at + 1])) prefetch_key(context, at, end, Encoder::window_bytes);
  };
  with_windows(context.encoder, Encoder::window_bytes, [&](auto window_of) {
    for (std::size_t at = begin; at < end;) {
      TiedGroup group{at, at + 1, Encoder::window_bytes};
      ask_for_tied(at + prefetch_distance);
      for (; group.end < end && sorting::key_equal(entries[group.end], entries[at]); ++group.end)
        ask_for_tied(group.end + prefetch_distance);
      at = group.end;
      if (group.size() >= postponed_from) {
        postponed.push_back(group);
      } else if (group.size() > compare_limit) {
        refiner.refine(group, 1);
      } else if (group.size() > 1) {
        sort_small_group(context, group, window_of);
      }
    }
  });
}

void refine_group(const TieContext& context, const TiedGroup& group, unsigned threads) {
  GroupRefiner(context).refine(group, threads);
}

}  // namespace ecosort::records
