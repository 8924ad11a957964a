#include "job/splitter_files.h"

#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <charconv>
#include <iterator>
#include <optional>
#include <string>
#include <string_view>
#include <utility>

#include "base/base64.h"
#include "base/errors.h"
#include "base/json.h"
#include "base/text.h"
#include "io/plain_file.h"

namespace ecosort::job {
namespace {

using engine::partition::Splitter;
// A row as to_text() writes it: tens of thousands of them are most of the time that it takes to choose splitters.
constexpr std::string_view row_begin = R"({"row":")", row_source = R"(","source":)", row_offset = R"(,"offset":)", row_end = "}";

void add_row(std::string& text, const Splitter& row) {
  text.append(row_begin).append(to_base64(row.row));
  fmt::format_to(std::back_inserter(text), "{}{}{}{}{}\n", row_source, row.source, row_offset, row.offset, row_end);
}

bool take(std::string_view& text, std::string_view word) {
  if (!text.starts_with(word)) return false;
  text.remove_prefix(word.size());
  return true;
}

bool take(std::string_view& text, std::uint64_t& number) {
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), number);
  if (error != std::errc{}) return false;
  text.remove_prefix(static_cast<std::size_t>(end - text.data()));
  return true;
}

// Nothing for what add_row() did not write.
std::optional<Splitter> row_as_written(std::string_view line) {
  Splitter row;
  if (!take(line, row_begin)) return std::nullopt;
  const std::size_t letters = std::min(line.find('"'), line.size());
  std::optional<std::string> bytes = from_base64(line.substr(0, letters));
  line.remove_prefix(letters);
  if (!bytes || !take(line, row_source) || !take(line, row.source) || !take(line, row_offset) || !take(line, row.offset))
    return std::nullopt;
  if (line != row_end) return std::nullopt;
  row.row = *std::move(bytes);
  return row;
}

// One file while it is read.
class Lines {
 public:
  explicit Lines(const std::string& path) : path_(path) {
    try {
      const std::vector<std::byte> bytes = io::read_whole_file(path);
      text_.assign(reinterpret_cast<const char*>(bytes.data()), bytes.size());
    } catch (const IoError& error) {
      throw UsageError(fmt::format("cannot read {}", error.what()));
    }
  }

  SplitterFile read() {
    SplitterFile file;
    while (at_ < text_.size()) {
      const std::size_t end = std::min(text_.find('\n', at_), text_.size());
      const std::string_view line = std::string_view(text_).substr(at_, end - at_);
      ++number_;
      at_ = end + 1;
      if (std::optional<Splitter> row = row_as_written(line))
        file.rows.push_back(*std::move(row));
      else
        read_any(line, file);
    }
    return file;
  }

 private:
  // Other JSON that says the same, and the header of a table.
  void read_any(std::string_view line, SplitterFile& file) const {
    const std::optional<Json> json = Json::parse(line);
    if (!json || !json->is_object()) refuse("is no JSON object");
    const bool has_header = json->find("header") != nullptr, has_sample = json->find("sample") != nullptr;
    if (number_ == 1 && (has_header || has_sample)) {
      file.is_sample = has_sample;
      if (has_header) file.header = bytes_of(*json, "header");
    } else {
      file.rows.push_back({bytes_of(*json, "row"), number_of(*json, "source"), number_of(*json, "offset")});
    }
  }

  std::string bytes_of(const Json& json, const char* key) const {
    const std::string* const text = json.find_text(key);
    if (text == nullptr) refuse(fmt::format("has no text \"{}\"", key));
    std::optional<std::string> bytes = from_base64(*text);
    if (!bytes) refuse(fmt::format("\"{}\" is no base64", key));
    return *std::move(bytes);
  }

  std::uint64_t number_of(const Json& json, const char* key) const {
    const std::uint64_t* const number = json.find_number(key);
    if (number == nullptr) refuse(fmt::format("has no \"{}\" that is a whole number from 0 on", key));
    return *number;
  }

  [[noreturn]] void refuse(std::string_view why) const {
    throw UsageError(fmt::format("'{}': line {} {}; give a file that `ecosort sample` wrote", path_, number_, why));
  }

  const std::string& path_;
  std::string text_;
  std::size_t at_ = 0, number_ = 0;
};

int compare_places(const Splitter& a, const Splitter& b) {
  if (a.source != b.source) return a.source < b.source ? -1 : 1;
  return a.offset == b.offset ? 0 : a.offset < b.offset ? -1 : 1;
}

bool is_less(const Splitter& a, const Splitter& b, const CompareRows& compare) {
  const int order = compare(a.row, b.row);
  return order != 0 ? order < 0 : compare_places(a, b) < 0;
}

void write_all(const io::File& file, std::string_view text) {
  for (std::size_t done = 0; done < text.size();) {
    const ssize_t wrote = ::pwrite(file.fd(), text.data() + done, text.size() - done, static_cast<off_t>(done));
    if (wrote < 0 && errno == EINTR) continue;
    if (wrote < 0) throw IoError::from_call("write", file.path(), errno, done, text.size() - done);
    done += static_cast<std::size_t>(wrote);
  }
}

}  // namespace

SplitterFile read_sample(const std::string& path) { return Lines(path).read(); }

SplitterFile read_splitters(const std::string& path) {
  SplitterFile file = Lines(path).read();
  if (file.is_sample)
    throw UsageError(
        fmt::format("'{0}' is a sample, of {1} rows; make splitters of it: ecosort sample FORMAT --merge {0} --parts "
                    "N -o SPLITTERS",
                    path, file.rows.size()));
  return file;
}

void check_in_order(const std::vector<Splitter>& rows, const CompareRows& compare, const std::string& path) {
  for (std::size_t i = 1; i < rows.size(); ++i)
    if (is_less(rows[i], rows[i - 1], compare))
      throw UsageError(
          fmt::format("'{}': row {} comes before the one in front of it; splitters are in the order of the same keys as the rows "
                      "(see ecosort sample --merge)",
                      path, i + 1));
}

void sort_splitters(std::vector<Splitter>& rows, const CompareRows& compare) {
  std::ranges::sort(rows, [&](const Splitter& a, const Splitter& b) { return is_less(a, b, compare); });
}

std::vector<Splitter> quantiles(const std::vector<Splitter>& sorted, std::size_t parts) {
  std::vector<Splitter> splitters;
  for (std::size_t i = 1; i < parts && !sorted.empty(); ++i) splitters.push_back(sorted[i * sorted.size() / parts]);
  return splitters;
}

std::string to_text(const SplitterFile& file) {
  std::string text;
  Json head;
  if (file.header) head["header"] = to_base64(*file.header);
  if (file.is_sample) head["sample"] = file.rows.size();
  if (head.is_object()) text += head.text() + "\n";
  for (const Splitter& row : file.rows) add_row(text, row);
  return text;
}

void publish_text(io::Storage& storage, const std::string& path, std::string_view text) {
  io::FilePtr file = storage.create_unnamed(directory_of(path), io::Role::output, io::Caching::buffered);
  write_all(*file, text);
  storage.sync(*file);
  (void)storage.publish(*file, path);  // it reports what was reported of the slices beside it
  storage.close(std::move(file));
}

}  // namespace ecosort::job
