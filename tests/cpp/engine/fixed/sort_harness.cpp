#include "cpp/engine/fixed/sort_harness.h"

#include <fmt/format.h>

#include <algorithm>
#include <atomic>
#include <cstring>
#include <filesystem>
#include <random>

#include "base/errors.h"
#include "cpp/io/test_support.h"
#include "cpp/support/test_environment.h"
#include "doubles/memory_store.h"
#include "io/backends.h"
#include "io/posix_storage.h"

namespace ecosort::engine::fixed {

namespace {

// Key order by the definition, one byte after the other.
int compare_keys(const records::RecordFormat& format, const char* a, const char* b) {
  for (const RecordKey& field : format.keys) {
    for (std::uint32_t i = field.offset; i < field.offset + field.length; ++i) {
      const auto x = static_cast<unsigned char>(a[i]), y = static_cast<unsigned char>(b[i]);
      if (x != y) return (x < y) != field.descends ? -1 : 1;
    }
  }
  return 0;
}

// Returns as one number what compare_keys() looks at first: it decides most comparisons, and all of short keys.
std::uint64_t first_bytes(const records::RecordFormat& format, const char* record) {
  std::uint64_t number = 0;
  unsigned taken = 0;
  for (const RecordKey& field : format.keys) {
    for (std::uint32_t i = field.offset; i < field.offset + field.length && taken < 8; ++i, ++taken) {
      const auto byte = static_cast<unsigned char>(record[i]);
      number = number << 8U | (field.descends ? 255U - byte : byte);
    }
  }
  return number;
}

std::vector<std::uint64_t> sorted_numbers(const records::RecordFormat& format, const std::string& records) {
  struct Numbered {
    std::uint64_t first_bytes, number;
  };
  std::uint64_t key_length = 0;
  for (const RecordKey& field : format.keys) key_length += field.length;
  std::vector<Numbered> all(records.size() / format.record_size);
  for (std::uint64_t i = 0; i < all.size(); ++i) all[i] = {first_bytes(format, &records[i * format.record_size]), i};
  std::ranges::stable_sort(all, [&](const Numbered& a, const Numbered& b) {
    if (a.first_bytes != b.first_bytes || key_length <= 8) return a.first_bytes < b.first_bytes;
    return compare_keys(format, &records[a.number * format.record_size], &records[b.number * format.record_size]) < 0;
  });
  std::vector<std::uint64_t> numbers;
  numbers.reserve(all.size());
  for (const Numbered& one : all) numbers.push_back(one.number);
  return numbers;
}

// Returns which bytes of a record belong to its key, most significant first.
std::vector<std::uint32_t> key_bytes(const records::RecordFormat& format) {
  std::vector<std::uint32_t> places;
  for (const RecordKey& field : format.keys)
    for (std::uint32_t i = 0; i < field.length; ++i) places.push_back(field.offset + i);
  return places;
}

constexpr unsigned queue_depth = 40;  // more than any plan has in flight

class MemoryPlace : public SortPlace {
 public:
  MemoryPlace(const SortSetup& setup, std::uint64_t seed)
      : SortPlace("/disk"),
        store_(io::make_image(input_files(setup)), {.seed = seed, .records_events = setup.records_events}),
        queue_(store_.make_queue(queue_depth)) {
    if (setup.inputs.empty()) store_.make_directory(root());
    for (const std::string& directory : run_directories(setup)) store_.make_directory(directory);
  }
  io::NamedStorage& storage() override { return store_; }
  io::Queue& queue() override { return *queue_; }
  std::string contents(const std::string& path) override { return store_.contents(path); }

 private:
  io::MemoryStore store_;
  std::unique_ptr<io::Queue> queue_;
};

// The directory, made before the base class that keeps its name.
struct RealDirectory {
  io::TempDirectory directory;
};

class RealPlace : private RealDirectory, public SortPlace {
 public:
  RealPlace(const SortSetup& setup, Disk disk)
      : SortPlace(directory.path()), queue_(io::make_queue(io::parse_backend(to_string(disk)), queue_depth).queue) {
    for (const auto& [path, contents] : input_files(setup)) io::write_file(path, contents);
    for (const std::string& path : run_directories(setup)) std::filesystem::create_directory(path);
  }
  io::NamedStorage& storage() override { return storage_; }
  io::Queue& queue() override { return *queue_; }
  std::string contents(const std::string& path) override { return io::read_file(path); }

 private:
  io::PosixStorage storage_;
  std::unique_ptr<io::Queue> queue_;
};

char key_byte(Keys keys, std::size_t place, std::size_t length, bool second_value, std::mt19937_64& random) {
  switch (keys) {
    case Keys::all_equal:
      return 'e';
    case Keys::two_values:
      return second_value && place + 1 == length ? 'b' : 'a';
    case Keys::common_prefix:
      return place + 2 < length ? 'p' : static_cast<char>(random() % 7);
    case Keys::two_letters:  // ties at every depth
      return static_cast<char>('a' + random() % 2);
    case Keys::highest:
      return random() % 64 == 0 ? '\xfe' : '\xff';
    default:
      return static_cast<char>(random());
  }
}

}  // namespace

const char* to_string(Keys keys) {
  static constexpr std::array names{"uniform", "all_equal",     "two_values",  "sorted",
                                    "reverse", "common_prefix", "two_letters", "highest"};
  return names[static_cast<std::size_t>(keys)];
}

std::string make_records(const records::RecordFormat& format, Keys keys, std::uint64_t count, unsigned seed) {
  std::mt19937_64 random(seed);
  const std::vector<std::uint32_t> places = key_bytes(format);
  std::string records(count * format.record_size, '\0');
  for (std::uint64_t i = 0; i < count; ++i) {
    char* record = &records[i * format.record_size];
    for (std::uint32_t at = 0; at < format.record_size; at += 8) {
      const std::uint64_t number = at == 0 ? i : random();
      std::memcpy(record + at, &number, std::min<std::size_t>(8, format.record_size - at));
    }
    const bool second_value = random() % 2 == 0;
    for (std::size_t p = 0; p < places.size(); ++p) record[places[p]] = key_byte(keys, p, places.size(), second_value, random);
  }
  if (keys != Keys::sorted && keys != Keys::reverse) return records;
  std::vector<std::uint64_t> order = sorted_numbers(format, records);
  if (keys == Keys::reverse) std::ranges::reverse(order);
  std::string ordered;
  for (const std::uint64_t number : order) ordered += records.substr(number * format.record_size, format.record_size);
  return ordered;
}

std::vector<std::string> cut(const std::string& records, std::uint32_t record_size, const std::vector<std::uint64_t>& after) {
  std::vector<std::string> parts;
  std::size_t from = 0;
  for (const std::uint64_t records_before : after) {
    const std::size_t until = records_before * record_size;
    parts.push_back(records.substr(from, until - from));
    from = until;
  }
  parts.push_back(records.substr(from));
  return parts;
}

std::string sorted_copy(const records::RecordFormat& format, const std::string& records, bool unique) {
  std::string out;
  out.reserve(records.size());
  const char* last = nullptr;
  for (const std::uint64_t number : sorted_numbers(format, records)) {
    const char* record = &records[number * format.record_size];
    if (unique && last != nullptr && compare_keys(format, last, record) == 0) continue;
    out.append(record, format.record_size);
    last = record;
  }
  return out;
}

const char* to_string(Disk disk) {
  static constexpr std::array names{"memory", "pool", "uring", "stxxl"};
  return names[static_cast<std::size_t>(disk)];
}

std::vector<Disk> usable_disks() {
  std::vector<Disk> usable{Disk::memory};
  for (const Disk disk : {Disk::pool, Disk::uring, Disk::stxxl}) {
    try {
      (void)io::make_queue(io::parse_backend(to_string(disk)), queue_depth);
      usable.push_back(disk);
    } catch (const UsageError& refused) {
      if (is_strict()) ADD_FAILURE() << refused.what();
    }
  }
  return usable;
}

std::map<std::string, std::string> SortPlace::input_files(const SortSetup& setup) const {
  std::map<std::string, std::string> files;
  for (std::size_t i = 0; i < setup.inputs.size(); ++i) files[fmt::format("{}/input-{}", root_, i)] = setup.inputs[i];
  if (setup.previous_output) files[output_path()] = *setup.previous_output;
  return files;
}

std::vector<std::string> SortPlace::run_directories(const SortSetup& setup) const {
  std::vector<std::string> directories;
  for (unsigned i = 0; i < setup.directories; ++i) directories.push_back(fmt::format("{}/runs-{}", root_, i));
  return directories;
}

SortJob SortPlace::prepare(const SortSetup& setup, io::Storage& storage) const {
  SortJob job;
  planner::Wanted wanted;
  wanted.format = setup.format;
  wanted.memory_bytes = setup.memory_bytes;
  wanted.threads = setup.threads;
  wanted.several_inputs = setup.inputs.size() > 1;
  wanted.input_alignment = 1;
  for (std::size_t i = 0; i < setup.inputs.size(); ++i) {
    Input input;
    input.file = storage.open_input(fmt::format("{}/input-{}", root_, i), setup.caching);
    input.records = setup.inputs[i].size() / setup.format.record_size;
    input.opened = storage.state(*input.file);
    wanted.input_records += input.records;
    wanted.input_alignment = std::max<std::uint64_t>(wanted.input_alignment, input.file->alignment());
    job.inputs.push_back(std::move(input));
  }
  wanted.compression = setup.compression;
  job.directories = run_directories(setup);
  job.plan = planner::make_plan(wanted);
  job.output = output_path();
  job.groups = {{.is_on = setup.unique}, setup.format};
  job.reread = setup.reread;
  return job;
}

std::unique_ptr<SortPlace> make_place(const SortSetup& setup, Disk disk, std::uint64_t seed) {
  if (disk == Disk::memory) return std::make_unique<MemoryPlace>(setup, seed);
  return std::make_unique<RealPlace>(setup, disk);
}

SortResult run_sort(const SortSetup& setup, SortPlace& place, io::Storage& storage, io::Queue& queue) {
  SortResult result;
  SortJob job = place.prepare(setup, storage);
  result.planned = job.plan;
  Progress progress;
  PhaseLog log("");
  const std::atomic<int> nothing{0};
  result.report = sort(job, {storage, queue, progress, log, nothing});
  result.output = place.contents(place.output_path());
  return result;
}

SortResult run_sort(const SortSetup& setup, Disk disk, std::uint64_t seed) {
  const std::unique_ptr<SortPlace> place = make_place(setup, disk, seed);
  EXPECT_STREQ(place->queue().backend_name(), to_string(disk));
  return run_sort(setup, *place, place->storage(), place->queue());
}

std::string difference(const std::string& actual, const std::string& expected, std::uint32_t record_size) {
  if (actual == expected) return {};
  const auto at = static_cast<std::size_t>(std::ranges::mismatch(actual, expected).in1 - actual.begin());
  return fmt::format("{} bytes instead of {}, different from record {} on (its byte {})", actual.size(), expected.size(),
                     at / record_size, at % record_size);
}

std::string describe(const SortSetup& setup) {
  std::string keys;
  for (const RecordKey& field : setup.format.keys) keys += " " + ecosort::to_string(field);
  std::uint64_t bytes = 0;
  for (const std::string& input : setup.inputs) bytes += input.size();
  return fmt::format("{} bytes in {} files of {}-byte records, keys{}, {} bytes of memory, {} threads, {} directories{}{}", bytes,
                     setup.inputs.size(), setup.format.record_size, keys, setup.memory_bytes, setup.threads, setup.directories,
                     setup.unique ? ", unique" : "",
                     setup.compression.is_none() ? "" : ", runs by " + codec::text_of(setup.compression.terms));
}

}  // namespace ecosort::engine::fixed
