// The tests of the engine share small inputs with interesting keys, one sort in this process, and an independent oracle.
//
// The least memory on a few MB reaches the external path: many runs, and several passes where the input is some ten times that.
#pragma once

#include <array>
#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "engine/fixed/sort.h"
#include "formats/records/key_spec.h"
#include "io/named_storage.h"

namespace ecosort::engine::fixed {

// Says what the keys of an input look like; the other bytes number the records, so that the order of equal keys shows.
enum class Keys : std::uint8_t { uniform, all_equal, two_values, sorted, reverse, common_prefix, two_letters, highest };
inline constexpr std::array all_keys{Keys::uniform, Keys::all_equal,     Keys::two_values,  Keys::sorted,
                                     Keys::reverse, Keys::common_prefix, Keys::two_letters, Keys::highest};
[[nodiscard]] const char* to_string(Keys keys);

[[nodiscard]] std::string make_records(const records::RecordFormat& format, Keys keys, std::uint64_t count, unsigned seed = 1);

// The text cut after each of the given numbers of records.
[[nodiscard]] std::vector<std::string> cut(const std::string& records, std::uint32_t record_size,
                                           const std::vector<std::uint64_t>& after);

// Oracle: the numbers of the records, stably sorted by their key fields; with `unique` only the first of equal keys.
[[nodiscard]] std::string sorted_copy(const records::RecordFormat& format, const std::string& records, bool unique = false);

struct SortSetup {
  records::RecordFormat format;
  std::vector<std::string> inputs;  // contents of the input files
  std::uint64_t memory_bytes = planner::least_memory_bytes;
  unsigned threads = 0;  // 0: everything on the coordinator
  unsigned directories = 1;
  bool unique = false;
  io::Caching caching = io::Caching::direct_if_possible;  // of the inputs
  bool reread = false;
  std::optional<std::string> previous_output = std::nullopt;  // what has the output's name
  bool records_events = false;                                // of the disk in memory
  codec::RunCompression compression = {};                     // of runs
};

// The disks a sort can be tried on: one in memory, whose completions come in an order drawn from a seed, and the real ones.
enum class Disk : std::uint8_t { memory, pool, uring, stxxl };
[[nodiscard]] const char* to_string(Disk disk);

// Returns the disks that work here. Refused ones fail the test where everything is required (ECOSORT_STRICT).
[[nodiscard]] std::vector<Disk> usable_disks();

// A storage and its queue, with the input files of a setup, the directories for its runs and room for its output.
class SortPlace {
 public:
  virtual ~SortPlace() = default;
  [[nodiscard]] virtual io::NamedStorage& storage() = 0;
  [[nodiscard]] virtual io::Queue& queue() = 0;
  [[nodiscard]] virtual std::string contents(const std::string& path) = 0;
  [[nodiscard]] const std::string& root() const { return root_; }
  [[nodiscard]] std::string output_path() const { return root_ + "/output"; }

  // Opens the inputs and makes the plan; `storage` is this one or a decorator of it.
  [[nodiscard]] SortJob prepare(const SortSetup& setup, io::Storage& storage) const;

 protected:
  explicit SortPlace(std::string root) : root_(std::move(root)) {}
  [[nodiscard]] std::map<std::string, std::string> input_files(const SortSetup& setup) const;  // contents by path
  [[nodiscard]] std::vector<std::string> run_directories(const SortSetup& setup) const;

 private:
  const std::string root_;
};
[[nodiscard]] std::unique_ptr<SortPlace> make_place(const SortSetup& setup, Disk disk = Disk::memory, std::uint64_t seed = 1);

struct SortResult {
  planner::RecordPlan planned;
  SortReport report;
  std::string output;
};

// Sorts and reads the output back. Whatever the sort throws comes out.
[[nodiscard]] SortResult run_sort(const SortSetup& setup, SortPlace& place, io::Storage& storage, io::Queue& queue);
[[nodiscard]] SortResult run_sort(const SortSetup& setup, Disk disk = Disk::memory, std::uint64_t seed = 1);

// The first record in which two texts differ, for a message that can be read.
[[nodiscard]] std::string difference(const std::string& actual, const std::string& expected, std::uint32_t record_size);

// The setup as a line, to show which case of a matrix failed.
[[nodiscard]] std::string describe(const SortSetup& setup);

}  // namespace ecosort::engine::fixed
