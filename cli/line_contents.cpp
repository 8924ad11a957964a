#include "cli/line_contents.h"

#include <fmt/format.h>

#include <algorithm>
#include <utility>

#include "formats/lines/quoted.h"

namespace ecosort::cli {

namespace {

constexpr std::size_t most_named = 3;

std::string shown_word(const std::string& name) { return name == "-" ? "standard input" : lines::quoted_name(name); }

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

std::string LineContents::compressed_notice(const std::vector<CompressedInput>& inputs) {
  if (inputs.empty() || told_compressed_) return "";
  told_compressed_ = true;
  std::string names;
  for (std::size_t i = 0; i < std::min(inputs.size(), most_named); ++i)
    names += fmt::format("{}{} ({})", i == 0 ? "" : ", ", shown_word(inputs[i].name), inputs[i].codec);
  if (inputs.size() > most_named) names += fmt::format(" and {} more", inputs.size() - most_named);
  const bool is_one = inputs.size() == 1;
  return fmt::format("{}: {} compressed, and read as {}; for what is in {}, give --decompress=auto", names, is_one ? "is" : "are",
                     is_one ? "it is" : "they are", is_one ? "it" : "them");
}

std::vector<std::string> LineContents::look(const std::string& name, std::string_view first) {
  const std::string word = shown_word(name);
  const std::string file = name == "-" ? "FILE" : lines::quoted_name(name);
  std::vector<std::string> notices;
  const codec::Contents* const contents = codec::contents_of(first, name);
  if (contents != nullptr && contents->codec && !told_compressed_) notices.push_back(compressed_notice({{name, contents->name}}));
  if (contents != nullptr && !contents->codec && !std::exchange(told_foreign_, true))
    notices.push_back(fmt::format("{}: is {}, and read as it is; {}", word, contents->is, contents->advice));
  if (contents == nullptr && tells_nul_)
    if (const std::size_t nul = first.find('\0'); nul != std::string_view::npos) {
      tells_nul_ = false;
      notices.push_back(fmt::format(
          "{}: has a NUL byte at byte {} of its data, as text has none; it is read as lines all the same", word, nul));
    }
  if (first.starts_with("\xef\xbb\xbf") && !std::exchange(told_mark_, true))
    notices.push_back(
        fmt::format("{}: begins with a UTF-8 byte order mark, which counts as a part of its first line; take it "
                    "off first: tail -c +4 {} | ecosort lines -",
                    word, file));
  if (!told_quotes_ && has_quoted_field(first)) {
    told_quotes_ = true;
    notices.push_back(
        fmt::format("{}: has fields in double quotes, which mean nothing to -t: quoted fields are split inside the "
                    "quotes; sort it by a column: ecosort csv --by COLUMN {} -o OUTPUT",
                    word, file));
  }
  return notices;
}

}  // namespace ecosort::cli
