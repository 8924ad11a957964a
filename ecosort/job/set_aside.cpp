#include "job/set_aside.h"

#include <fmt/format.h>

#include <algorithm>
#include <string_view>

#include "base/errors.h"
#include "base/memory.h"
#include "base/text.h"
#include "codec/codec.h"
#include "io/plain_file.h"
#include "io/posix_storage.h"
#include "job/places.h"
#include "job/prepare_rows.h"
#include "job/written_files.h"

namespace ecosort::job {

namespace {

constexpr std::string_view refuse_word = "refuse", skip_word = "skip";  // other words name a file

// Returns, in words of a user, which part of a request leaves lines of its inputs out; null: none does.
const char* lenience_of(const Request& request) {
  if (const Csv* const csv = std::get_if<Csv>(&request.rows)) {
    if (!csv->comment.empty()) return "comments";
    if (csv->skip_lines > 0) return "lines to skip";
  }
  const Values* const values = request.values();
  return values != nullptr && leaves_out_bad_rows(*values) ? "bad rows" : nullptr;
}

}  // namespace

bool leaves_out_bad_rows(const Values& values) noexcept { return values.bad_rows != refuse_word; }

std::string set_aside_path(const Request& request) {
  if (request.values() == nullptr) return "";
  const std::string& word = request.values()->bad_rows;
  return word == refuse_word || word == skip_word ? "" : word;
}

void check_lenience(const Request& request) {
  const char* const what = lenience_of(request);
  if (what == nullptr) return;
  if (request.input_order != InputOrder::any)
    throw UsageError(fmt::format("{} are left out by a sort, not by a merge: sort the files", what));
  if (request.place.kind == PlaceKind::resumable)
    throw UsageError(fmt::format("{} cannot be left out by a sort that can be resumed; sort without that", what));
  const Csv* const csv = std::get_if<Csv>(&request.rows);
  if (request.verification.reread && csv != nullptr && (!csv->comment.empty() || csv->skip_lines > 0))
    throw UsageError(fmt::format("an output with {} in front cannot be verified by reading it again; verify it as usual", what));
}

engine::rows::SetAsideTerms set_aside_of(const Request& request, std::uint64_t memory_bytes) {
  constexpr std::uint64_t most_bytes = std::uint64_t{1} << 20U, share = 32;
  const std::string path = set_aside_path(request);
  if (path.empty()) return {};
  if (path == "-") throw UsageError("bad rows cannot go to standard output; name a file");
  if (codec::codec_of_file_name(path))
    throw UsageError(fmt::format("{}: rows that are set aside are not compressed; name a file without that ending", path));
  check_writable_directory(fmt::format("{}: directory", path), directory_of(path));
  const std::string resolved = resolve_output(path);
  if (io::is_one_of(path, io::numbers_of(request.inputs)))
    throw UsageError(fmt::format("{}: is an input; set bad rows aside in another file", path));
  WrittenFiles others = written_files(request);
  others.set_aside.clear();
  if (const char* const role = role_of(path, others); role != nullptr)
    throw UsageError(fmt::format("{}: is {}; set bad rows aside in another file", path, role));
  return {resolved, round_down(std::min(memory_bytes / share, most_bytes), page_bytes)};
}

}  // namespace ecosort::job
