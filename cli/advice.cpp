#include "cli/advice.h"

#include <fmt/format.h>

#include <cerrno>

#include "base/full_drive.h"
#include "base/memory.h"
#include "base/size_text.h"
#include "demsort_inplace/prepare/contents.h"
#include "demsort_inplace/prepare/ground.h"
#include "demsort_inplace/prepare/job_runs.h"
#include "formats/lines/quoted.h"
#include "job/benchmark_records.h"
#include "job/places.h"
#include "job/space.h"

namespace ecosort::cli {

namespace {

// The two commands that may be meant.
std::string ways_for(const job::UnlikelyRecords& unlikely, std::string_view command) {
  const bool is_named = unlikely.name != "-" && !unlikely.name.starts_with('(');
  const std::string word = is_named ? lines::quoted_name(unlikely.name) : "-";
  const bool is_in_place = command == "inplace", merges = command == "merge";
  return fmt::format(
      " (see ecosort gen); for lines of text: ecosort {} {} -o {}; for any records of 100 bytes: ecosort {} --record-size 100 "
      "--key 0:10 {}{}",
      merges ? "merge --lines" : "lines", word, is_in_place ? word : "OUTPUT", is_in_place || merges ? command : "sort", word,
      is_in_place ? "" : " -o OUTPUT");
}

// -S takes the letters of GNU sort.
std::string memory_word(const AdviceWords& words, std::uint64_t bytes) {
  return fmt::format("{} {}{}", words.memory, div_up(bytes, 1024), words.memory == "-S" ? "K" : "KiB");
}

std::string ways_in_place(const demsort_inplace::prepare::NoSpaceInPlace& space, const AdviceWords& words) {
  if (space.richer_memory_bytes != 0)
    return fmt::format("; make room there, or give more memory: with {} {} would do",
                       memory_word(words, space.richer_memory_bytes), format_bytes(space.need_bytes_then));
  return fmt::format("; make room there, or use ecosort {} with {} and -o on another drive",
                     words.command == "lines" ? "lines" : "sort", words.temp);
}

// "--record-size 16 --key 8:u64 "; nothing for the usual format.
std::string words_of(const std::optional<records::RecordFormat>& format) {
  const records::RecordFormat usual;
  if (!format || (format->record_size == usual.record_size && format->keys == usual.keys)) return "";
  std::string text = fmt::format("--record-size {} ", format->record_size);
  for (const RecordKey& key : format->keys) text += fmt::format("--key {} ", to_string(key));
  return text;
}

// Returns an argument of --delimiter that a shell passes on.
std::string word_of_delimiter(const std::string& delimiter) {
  if (delimiter == "\t") return "tab";
  return delimiter.front() < ' ' ? fmt::format("'\\x{:02x}'", delimiter.front()) : fmt::format("'{}'", delimiter);
}

}  // namespace

std::string advice_on(const Error& error, const AdviceWords& words) {
  if (dynamic_cast<const MemoryNotThere*>(&error) != nullptr) return "";  // its line says what to do
  if (const auto* memory = dynamic_cast<const NotEnoughMemory*>(&error))
    return memory->need_bytes == 0 ? fmt::format("; give more with {}", words.memory)
                                   : fmt::format("; try {}", memory_word(words, memory->need_bytes));
  if (const auto* space = dynamic_cast<const NotEnoughSpace*>(&error)) {
    using For = NotEnoughSpace::For;
    if (const auto* in_place = dynamic_cast<const demsort_inplace::prepare::NoSpaceInPlace*>(space))
      return ways_in_place(*in_place, words);
    if (space->purpose == For::job) return "; name another drive with -o, or sort without --resumable";
    if (space->purpose == For::runs) return fmt::format("; name another drive with {}", words.temp);
    const std::string other = space->purpose == For::output ? "-o" : fmt::format("{} or -o", words.temp);
    const auto* const room = dynamic_cast<const job::NoRoom*>(space);
    if (room == nullptr || room->alone.empty()) return fmt::format("; name another drive with {}", other);
    const bool are_lines = words.command == "lines";
    return fmt::format("; name another drive with {}, or sort it in its own space: ecosort {}{}", other,
                       are_lines ? "lines --inplace " : "inplace " + words_of(room->format),
                       are_lines ? lines::quoted_name(room->alone) : "'" + room->alone + "'");
  }
  if (dynamic_cast<const demsort_inplace::prepare::NotAllInRuns*>(&error) != nullptr)
    return "; or give --append-rest, which puts the rest behind the runs, unsorted";
  if (dynamic_cast<const job::RunsInMemory*>(&error) != nullptr)
    return fmt::format("; name a directory on a drive with {}, or this one if you mean it", words.temp);
  if (dynamic_cast<const HeaderUnusable*>(&error) != nullptr)
    return words.command == "shuffle" ? "; with --no-header the first row is one like the others"
                                      : "; with --no-header columns have numbers, as in --by 3";
  if (dynamic_cast<const QuoteMisplaced*>(&error) != nullptr) return "; with --quote none quotes are bytes like others";
  if (const auto* mistaken = dynamic_cast<const DelimiterMistaken*>(&error))
    return fmt::format("; did you mean --delimiter {}?", word_of_delimiter(mistaken->delimiter));
  if (dynamic_cast<const NoSuchPath*>(&error) != nullptr) return " (--allow-missing sorts all the same)";
  if (dynamic_cast<const BackendUnusable*>(&error) != nullptr) return "; use --io pool";
  if (const auto* unfit = dynamic_cast<const demsort_inplace::prepare::UnfitContents*>(&error))
    return unfit->has_nul ? "; give -z if NUL ends its lines, or --as-is to sort its lines for good"
                          : " (--as-is sorts its bytes, for good)";
  if (const auto* unlikely = dynamic_cast<const job::UnlikelyRecords*>(&error)) return ways_for(*unlikely, words.command);
  return "";
}

std::string advice_on_failure(int error_number, const AdviceWords& words) {
  if (is_full(error_number)) return fmt::format("; make room there, or name another place with {} or -o", words.temp);
  if (error_number == ENOMEM) return fmt::format("; give less with {}", words.memory);
  if (error_number == EFBIG) return "; files there may not be that large (see ulimit -f)";
  // io_uring ends a request so for which the kernel may start no worker.
  if (error_number == ECANCELED) return "; too few processes may be allowed (see ulimit -u); try --io pool";
  return "";
}

}  // namespace ecosort::cli
