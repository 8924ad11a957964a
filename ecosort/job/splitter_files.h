// Samples and splitters as files: JSON lines, in order.
//
//   {"header":"...","sample":5000}                   first, of CSV with a header: the row of columns; of a sample: how many rows
//   {"row":"a2V5","source":3,"offset":4096}          a row (base64, without its end) and where it is
#pragma once

#include <functional>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "engine/partition/splitter.h"
#include "io/storage.h"

namespace ecosort::job {

struct SplitterFile {
  std::optional<std::string> header;
  std::vector<engine::partition::Splitter> rows;
  bool is_sample = false;  // as it was drawn
};

// Less than 0: a before b, as the format orders rows.
using CompareRows = std::function<int(std::string_view a, std::string_view b)>;

// UsageError, with the line, for what such a file does not hold; of splitters also for a sample.
[[nodiscard]] SplitterFile read_sample(const std::string& path);
[[nodiscard]] SplitterFile read_splitters(const std::string& path);
// UsageError for rows that are not in order. `path` for the message.
void check_in_order(const std::vector<engine::partition::Splitter>& rows, const CompareRows& compare, const std::string& path);

void sort_splitters(std::vector<engine::partition::Splitter>& rows, const CompareRows& compare);
// Returns the rows that cut the sorted sample into `parts` of about the same size; none where the sample is empty.
[[nodiscard]] std::vector<engine::partition::Splitter> quantiles(const std::vector<engine::partition::Splitter>& sorted,
                                                                 std::size_t parts);

[[nodiscard]] std::string to_text(const SplitterFile& file);

// A small file that appears complete, and durable, or not at all. IoError, NameError.
void publish_text(io::Storage& storage, const std::string& path, std::string_view text);

}  // namespace ecosort::job
