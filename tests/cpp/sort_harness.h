// What the tests of the engine share: small inputs with interesting keys, one sort in this process, and an independent oracle.
//
// The least memory on a few MB reaches the external path: many runs, and several passes where the input is some ten times that.
#pragma once

#include <atomic>
#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "io/backends.h"
#include "io/posix_storage.h"
#include "io_test_support.h"
#include "pipeline/sort.h"
#include "records/key_spec.h"

namespace ecosort::pipeline {

// What the keys of an input look like; the other bytes number the records, so that the order of equal keys shows.
enum class Keys : std::uint8_t { uniform, all_equal, two_values, sorted, reverse, common_prefix, highest };
inline constexpr std::array all_keys{Keys::uniform, Keys::all_equal,     Keys::two_values, Keys::sorted,
                                     Keys::reverse, Keys::common_prefix, Keys::highest};
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
  std::uint64_t memory_bytes = plan::least_memory_bytes;
  unsigned threads = 0;  // 0: everything on the coordinator
  unsigned directories = 1;
  bool unique = false;
  io::Caching caching = io::Caching::direct_if_possible;  // of the inputs
};

// Input files, directories for runs and the output of sorts below one directory, which vanishes with it.
class SortPlace {
 public:
  explicit SortPlace(const std::string& parent = std::filesystem::temp_directory_path()) : directory_(parent) {}

  // Writes the input files, opens them and makes the plan.
  [[nodiscard]] SortJob prepare(const SortSetup& setup, io::Storage& storage);

  [[nodiscard]] std::string output_path() const { return directory_ / "output"; }
  [[nodiscard]] std::string output() const { return io::read_file(output_path()); }
  [[nodiscard]] const io::TempDirectory& directory() const { return directory_; }

 private:
  io::TempDirectory directory_;
};

struct SortResult {
  plan::Plan planned;
  SortReport report;
  std::string output;
};

// `depth` that a queue needs for the sort of any plan.
inline constexpr unsigned queue_depth = 40;

// Sorts and reads the output back. Whatever the sort throws comes out.
[[nodiscard]] SortResult run_sort(const SortSetup& setup, SortPlace& place, io::Storage& storage, io::Queue& queue,
                                  const std::atomic<int>* interrupted = nullptr);
[[nodiscard]] SortResult run_sort(const SortSetup& setup, io::BackendChoice backend = io::BackendChoice::pool);

// Backends that work here. Refused ones fail the test where everything is required (ECOSORT_REQUIRE_ALL).
[[nodiscard]] std::vector<io::BackendChoice> usable_backends();
[[nodiscard]] const char* to_string(io::BackendChoice backend);

// The first record in which two texts differ, for a message that can be read.
[[nodiscard]] std::string difference(const std::string& actual, const std::string& expected, std::uint32_t record_size);

// The setup as a line, to tell which case of a matrix failed.
[[nodiscard]] std::string describe(const SortSetup& setup);

}  // namespace ecosort::pipeline
