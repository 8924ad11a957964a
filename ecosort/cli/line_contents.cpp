#include "cli/line_contents.h"

#include <fmt/format.h>

#include <algorithm>
#include <utility>

#include "formats/lines/quoted.h"

namespace ecosort::cli {

namespace {

using std::string_view_literals::operator""sv;

struct Compression {
  std::string_view magic;
  std::size_t more_at = 0;  // further bytes that text would not have there
  std::string_view more;
  const char* program;
};

// RFC 1952, RFC 8878, the .xz file format 1.2.1, bzip2 (the block header is pi), the LZ4 frame format 1.6.
constexpr Compression compressions[] = {{"\x1f\x8b"sv, 2, "\x08"sv, "gzip"},
                                        {"\x28\xb5\x2f\xfd"sv, 0, "", "zstd"},
                                        {"\xfd"
                                         "7zXZ\0"sv,
                                         0, "", "xz"},
                                        {"BZh"sv, 4, "1AY&SY"sv, "bzip2"},
                                        {"\x04\x22\x4d\x18"sv, 0, "", "lz4"}};

const char* compressing_program(std::string_view first) {
  for (const Compression& one : compressions)
    if (first.starts_with(one.magic) && first.substr(std::min(one.more_at, first.size())).starts_with(one.more))
      return one.program;
  return nullptr;
}

}  // namespace

// The first field of a line counts where the line has another one.
bool LineContents::has_quoted_field(std::string_view first) const {
  constexpr std::size_t enough = std::size_t{64} << 10U;
  if (!separator_ || *separator_ == '"') return false;
  first = first.substr(0, enough);
  for (std::size_t at = first.find('"'); at != std::string_view::npos; at = first.find('"', at + 1)) {
    if (at > 0 && first[at - 1] == *separator_) return true;
    if (at > 0 && first[at - 1] != '\n') continue;
    const std::string_view line = first.substr(at, first.find('\n', at) - at);
    if (line.find(*separator_) != std::string_view::npos) return true;
  }
  return false;
}

std::vector<std::string> LineContents::look(const std::string& name, std::string_view first) {
  const std::string word = name == "-" ? "standard input" : lines::quoted_name(name);
  const std::string file = name == "-" ? "FILE" : lines::quoted_name(name);
  std::vector<std::string> notices;
  if (const char* const program = compressing_program(first); program != nullptr && !std::exchange(told_compressed_, true))
    notices.push_back(
        fmt::format("{0}: is compressed ({1}), and sorted as it is; decompress it first: {1} -dc {2} | ecosort lines -", word,
                    program, file));
  if (first.starts_with("\xef\xbb\xbf") && !std::exchange(told_mark_, true))
    notices.push_back(
        fmt::format("{}: begins with a UTF-8 byte order mark, which is sorted as a part of its first line; take it "
                    "off first: tail -c +4 {} | ecosort lines -",
                    word, file));
  if (!told_quotes_ && has_quoted_field(first)) {
    told_quotes_ = true;
    notices.push_back(
        fmt::format("{}: has fields in double quotes, which mean nothing to -t: quoted fields are split inside the "
                    "quotes; sort it by a column: ecosort csv --by COLUMN {}",
                    word, file));
  }
  return notices;
}

}  // namespace ecosort::cli
