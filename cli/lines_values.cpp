// Words of the options of `ecosort lines`: what GNU sort takes, and what it says about the others.
#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>
#include <limits>

#include "base/errors.h"
#include "cli/option_values.h"
#include "formats/lines/key_words.h"
#include "formats/lines/option_words.h"
#include "formats/lines/quoted.h"
#include "job/cores.h"

namespace ecosort::cli {

namespace {

// An empty name must not mean that none was given.
const std::string& file_name(const std::string& word) {
  if (word.empty()) throw UsageError("open failed: '': No such file or directory");
  return word;
}

// Refuses another word of an option that may be repeated with the same word alone.
Json only_one(Json value, const Json* before, const char* complaint) {
  if (before != nullptr && *before->text_value() != *value.text_value()) throw UsageError(complaint);
  return value;
}

std::uint64_t share_of_memory(unsigned percent) {
  const auto pages = static_cast<std::uint64_t>(::sysconf(_SC_PHYS_PAGES)),
             size = static_cast<std::uint64_t>(::sysconf(_SC_PAGESIZE));
  return pages * size / 100 * percent;
}

}  // namespace

Json with_letter(const Json* before, char letter) {
  std::string letters = before == nullptr ? "" : *before->text_value();
  if (letters.find(letter) == std::string::npos) letters += letter;
  return letters;
}

Json as_line_key(const GivenOption& given, const Json* /*before*/) {
  (void)lines::parse_key_words(*given.word);
  return *given.word;
}

Json as_separator(const GivenOption& given, const Json* before) {
  const std::string& word = *given.word;
  if (word.empty()) throw UsageError("empty tab");
  if (word.size() > 1 && word != "\\0") throw UsageError(fmt::format("multi-character tab {}", lines::quoted_word(word)));
  return only_one(std::string(1, word.size() > 1 ? '\0' : word.front()), before, "incompatible tabs");
}

// `-` is a file of that name, as sort has it.
Json as_lines_output(const GivenOption& given, const Json* before) {
  const std::string& name = file_name(*given.word);
  return only_one(name == "-" ? "./-" : name, before, "multiple output files specified");
}

Json as_wished_memory(const GivenOption& given, const Json* before) {
  const lines::SizeWord size = lines::parse_size(*given.word);
  const std::uint64_t bytes = size.percent == 0 ? size.bytes : share_of_memory(size.percent);
  return before == nullptr ? bytes : std::max(bytes, *before->number());
}

Json as_parallel(const GivenOption& given, const Json* /*before*/) {
  if (*given.word == "auto") return job::threads_for_cores();
  const std::uint64_t threads = lines::parse_saturated_count(*given.word, "--parallel");
  if (threads == 0) throw UsageError("number in parallel must be nonzero");
  return std::min<std::uint64_t>(threads, std::numeric_limits<unsigned>::max());
}

Json as_batch_size(const GivenOption& given, const Json* /*before*/) {
  const std::uint64_t count = lines::parse_count(*given.word, "--batch-size");
  if (count >= 2) return count;
  throw lines::WrongOption(fmt::format("invalid --batch-size argument {}", lines::quoted_word(*given.word)),
                           "ecosort lines: minimum --batch-size argument is '2'");
}

Json as_header_lines(const GivenOption& given, const Json* /*before*/) {
  return given.word ? lines::parse_count(*given.word, "--header") : 1;
}

Json as_locale(const GivenOption& given, const Json* /*before*/) {
  if (given.word->empty()) throw UsageError("--collate: name a language, such as de, or root");
  return *given.word;
}

Json as_sort_word(const GivenOption& given, const Json* before) { return with_letter(before, lines::sort_word(*given.word)); }

Json as_file_name(const GivenOption& given, const Json* /*before*/) { return file_name(*given.word); }

Json as_random_source(const GivenOption& given, const Json* before) {
  return only_one(file_name(*given.word), before, "multiple random sources specified");
}

Json as_compress_program(const GivenOption& given, const Json* before) {
  Json program = only_one(*given.word, before, "multiple compress programs specified");
  if (given.word->empty()) throw UsageError("--compress-program: the name of the program is empty");
  return program;
}

}  // namespace ecosort::cli
