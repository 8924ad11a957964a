// Puts the rows of groups of a sorted run in memory in their order, one of each group, block after block.
#pragma once

#include <cstddef>

#include "engine/rows/group_end.h"
#include "formats/lines/gather_lines.h"
#include "formats/lines/late_hash.h"
#include "formats/lines/line_run.h"

namespace ecosort::engine::rows {

class GatherGroups final : public lines::RowSource {
 public:
  GatherGroups(const lines::LineRun& run, const formats::RowFormat& format, const GroupPolicy& policy);

  // These bytes go first.
  void set_header(Text header) noexcept { header_ = header; }

  [[nodiscard]] Filled fill(char* to, std::size_t capacity) override;
  [[nodiscard]] bool finished() const noexcept override;

  [[nodiscard]] std::size_t longest() const noexcept { return longest_; }  // bytes, with the end
  [[nodiscard]] const hash::MultisetHash& hash() const noexcept { return out_.sum(); }
  [[nodiscard]] const hash::MultisetHash& dropped() const noexcept { return dropped_; }
  [[nodiscard]] std::uint64_t rows_of_groups() const noexcept { return group_.rows_of_groups(); }

 private:
  [[nodiscard]] bool goes_on(const sorting::Entry& entry) const;
  void take(const sorting::Entry& entry);
  void end_group();

  const lines::LineRun& run_;
  const formats::RowFormat& format_;
  bool keeps_last_;
  GroupEnd group_;
  lines::LateHash out_;
  hash::MultisetHash dropped_;
  Text header_;
  std::size_t next_ = 0, kept_ = 0;  // entries: the next one, and that of the group whose row may go out
  bool has_group_ = false;
  std::size_t longest_ = 0;
};

}  // namespace ecosort::engine::rows
