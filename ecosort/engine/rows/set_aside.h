// Rows that cannot be sorted and are left out: they are counted, the first ones are named, and where a file is wanted it gets
// them byte for byte, in the order of the inputs. The file has no name until the output gets its own.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "base/memory.h"
#include "base/task.h"
#include "engine/bench.h"
#include "formats/row_format.h"
#include "hash/multiset_hash.h"
#include "io/storage.h"

namespace ecosort::engine::rows {

// Says where such rows go.
struct SetAsideTerms {
  std::string path;                // empty: nowhere
  std::uint64_t memory_bytes = 0;  // besides the plan's; 0 without a file
};

// Coordinator only.
class SetAside {
 public:
  // Creates the file: IoError, NameError.
  SetAside(Bench& bench, const SetAsideTerms& terms);

  // Takes a row with its end. `told` is what to say of it, of the first ones.
  [[nodiscard]] Task<void> add(std::string_view row);
  void name(std::string told) { named_.push_back(std::move(told)); }
  [[nodiscard]] bool wants_name() const noexcept { return named_.size() < formats::named_bad_rows; }

  // Writes what is left, and makes the file durable.
  [[nodiscard]] Task<void> finish();
  // Then: the file, to be named. Null: there is none.
  [[nodiscard]] io::File* file() const noexcept { return file_.get(); }
  [[nodiscard]] const std::string& path() const noexcept { return path_; }

  [[nodiscard]] const hash::MultisetHash& hash() const noexcept { return hash_; }
  [[nodiscard]] std::uint64_t rows() const noexcept { return hash_.count; }
  [[nodiscard]] std::uint64_t bytes() const noexcept { return written_ + filled_; }
  [[nodiscard]] const std::vector<std::string>& named() const noexcept { return named_; }
  [[nodiscard]] std::uint64_t peak_memory_bytes() const noexcept { return memory_.peak_bytes(); }

 private:
  Task<void> write();

  Bench& bench_;
  const std::string path_;
  io::FilePtr file_;
  MemoryBudget memory_;
  Buffer block_;
  std::size_t filled_ = 0;
  std::uint64_t written_ = 0;
  hash::MultisetHash hash_;
  std::vector<std::string> named_;
};

}  // namespace ecosort::engine::rows
