#include "cpp/demsort_inplace/lines_job_harness.h"

#include <fmt/format.h>

#include <algorithm>
#include <iterator>
#include <map>
#include <tuple>
#include <utility>

#include "base/random.h"
#include "cpp/support/line_words.h"
#include "demsort_inplace/describe_run.h"
#include "demsort_inplace/input_identity.h"
#include "demsort_inplace/journal.h"
#include "demsort_inplace/lines_in_place.h"
#include "job/row_formats.h"

namespace ecosort::demsort_inplace {

namespace {

std::map<std::string, std::string> files_of(const SmallLines& sort) {
  std::map<std::string, std::string> files;
  if (sort.in_place) return files;
  for (std::size_t i = 0; i < sort.inputs.size(); ++i) files[lines_input(i)] = sort.inputs[i];
  return files;
}

// Fewer than `end` letters of one kind. The letter is drawn first on every processor: they differ in the order of arguments.
std::string letters(Random& random, std::uint64_t end) {
  const char letter = static_cast<char>('a' + random.below(26));
  return std::string(random.below(end), letter);
}

// Lines of up to `most` letters behind a number, each ended but perhaps the last one.
std::string text_of_lines(std::uint64_t seed, std::size_t lines, std::uint64_t most, std::uint64_t numbers, bool ends = true) {
  Random random(seed);
  std::string text;
  for (std::size_t i = 0; i < lines; ++i) {
    text += std::to_string(random.below(numbers)) + ' ';
    text += letters(random, most + 1);
    text += '\n';
  }
  if (!ends) text.pop_back();
  return text;
}

// Lines of up to two letters, ended by NUL.
std::string text_of_short_lines(std::uint64_t seed, std::size_t lines) {
  Random random(seed);
  std::string text;
  for (std::size_t i = 0; i < lines; ++i) {
    text += letters(random, 3);
    text += '\0';
  }
  return text;
}

// Rows of CSV under a header: a number, text, and in every third row a value in quotes that holds rows of its own.
std::string text_of_csv(std::uint64_t seed, std::size_t rows, std::uint64_t most, std::uint64_t numbers, const char* end = "\n") {
  Random random(seed);
  std::string text = std::string("n,\"a\nname\",rest") + end;
  for (std::size_t i = 0; i < rows; ++i) {
    text += std::to_string(random.below(numbers)) + ',';
    std::string value = letters(random, most + 1);
    if (i % 3 == 0)
      for (std::size_t at = 0; at < value.size(); at += 5) value[at] = '\n';
    text += i % 3 == 0 ? '"' + value + "\"\"1,2\n3,4\"" : value;
    text += i % 7 == 0 ? "," : ",x";
    text += end;
  }
  return text;
}

// Writes it as a spreadsheet does, with a first line that names the delimiter.
std::string with_semicolons(std::string text) {
  std::ranges::replace(text, ',', ';');
  return "sep=;\n" + text;
}

std::string without_end(std::string text, std::size_t end_bytes) {
  text.resize(text.size() - end_bytes);
  return text;
}

// Lines of JSON, some blank.
std::string text_of_jsonl(std::uint64_t seed, std::size_t rows, std::uint64_t most, std::uint64_t numbers) {
  Random random(seed);
  std::string text;
  for (std::size_t i = 0; i < rows; ++i) {
    if (i % 11 == 0) text += "\n";
    text += R"({"n": )" + (i % 5 == 0 ? "null" : std::to_string(random.below(numbers))) + R"(, "t": ")";
    text += letters(random, most + 1);
    text += "\"}\n";
  }
  return text;
}

// Returns what the journal keeps in the place of a request: the words of a command, then the size of the run buffers.
std::string settings_of(const SmallLines& sort) {
  std::string settings;
  for (const std::string& word : sort.words) settings += word + '\0';
  return settings + std::to_string(sort.run_buffer_bytes);
}

SmallLines sort_of(const JobHeader& header) {
  SmallLines sort;
  sort.command = header.lines->command;
  std::string_view settings = header.lines->request;
  for (std::size_t end = settings.find('\0'); end != std::string_view::npos; end = settings.find('\0')) {
    sort.words.emplace_back(settings.substr(0, end));
    settings.remove_prefix(end + 1);
  }
  sort.run_buffer_bytes = std::stoull(std::string(settings));
  sort.block_bytes = header.lines->block_bytes;
  if (header.layout.packs) sort.compress = codec::text_of(header.compression.terms);
  return sort;
}

}  // namespace

std::string lines_input(std::size_t number) { return fmt::format("/disk/a{}", number); }

namespace {

constexpr const char* mark = "\xef\xbb\xbf";

bool has_mark(const std::string& text) { return text.starts_with(mark); }

// The rows of an input as a reader finds them that knows quotes and nothing else, each without its end.
std::vector<std::string> rows_of(const std::string& input, const SmallLines& sort, char end) {
  std::vector<std::string> rows;
  bool is_inside = false;
  std::size_t begin = sort.command != "lines" && has_mark(input) ? 3 : 0;
  for (std::size_t at = begin; at < input.size(); ++at) {
    is_inside ^= sort.command == "csv" && input[at] == '"';
    if (input[at] != end || is_inside) continue;
    rows.push_back(input.substr(begin, at - begin));
    begin = at + 1;
  }
  if (begin == input.size()) return rows;
  const bool has_carriage_returns = sort.command != "lines" && !rows.empty() && rows.back().ends_with('\r');
  rows.push_back(input.substr(begin) + (has_carriage_returns ? "\r" : ""));
  return rows;
}

// Returns what a resumption has to know of CSV: its header, and a line in front of it that names the delimiter.
std::string first_row_of(const SmallLines& sort, const formats::RowFormat& format) {
  const std::vector<std::string> rows = rows_of(sort.inputs.front(), sort, '\n');
  return format.precedes_first_row(rows.front()) ? rows.front() + '\n' + rows[1] : rows.front();
}

// Takes those rows of an input that stay on top, or are left out.
std::string take_top(formats::RowFormat& order, std::vector<std::string>& rows) {
  std::string top;
  order.begin_input();
  while (order.wants_first_row() && order.take_first_row("", rows.front()) != formats::FirstRow::is_sorted) {
    top += rows.front() + order.terminator();
    rows.erase(rows.begin());
  }
  return top;
}

}  // namespace

std::string SmallLines::top() const {
  const engine::rows::LinesJob terms = job();
  std::vector<std::string> rows = rows_of(inputs.front(), *this, terms.format->terminator());
  const std::string first = command != "lines" && has_mark(inputs.front()) ? mark : "";
  return first + take_top(*terms.format, rows);
}

namespace {

// Keeps the first one of equal rows first; with -u it is the only one.
std::string sorted_rows(const SmallLines& sort) {
  const engine::rows::LinesJob terms = sort.job();
  formats::RowFormat& order = *terms.format;
  std::vector<std::string> all;
  for (const std::string& input : sort.inputs) {
    std::vector<std::string> rows = rows_of(input, sort, order.terminator());
    (void)take_top(order, rows);
    if (sort.command == "jsonl") std::erase(rows, "");
    all.insert(all.end(), rows.begin(), rows.end());
  }
  std::ranges::stable_sort(all, [&](const std::string& a, const std::string& b) { return order.compare(a, b) < 0; });
  if (terms.groups.is_on)
    all.erase(
        std::unique(all.begin(), all.end(), [&](const std::string& a, const std::string& b) { return order.compare(a, b) == 0; }),
        all.end());
  std::string text = sort.top();
  for (const std::string& line : all) text += line + order.terminator();
  return text;
}

}  // namespace

// A sweep asks for it after each fault, and this oracle takes longer than the sort.
std::string SmallLines::sorted() const {
  static std::map<std::tuple<std::string, std::vector<std::string>, std::vector<std::string>>, std::string, std::less<>> known;
  const auto terms = std::tie(command, words, inputs);
  if (const auto found = known.find(terms); found != known.end()) return found->second;
  return known[terms] = sorted_rows(*this);
}

io::DiskImage SmallLines::disk() const {
  std::map<std::string, std::string> files = files_of(*this);
  if (has_previous || in_place) files[sort_output] = previous();
  return io::make_image(files);
}

bool SmallLines::holds_only(const io::DiskImage& image, const std::string& output) const {
  std::map<std::string, std::string> wanted = files_of(*this);
  if (!output.empty()) wanted[sort_output] = output;
  if (image.files.size() != wanted.size() || image.directories != std::set<std::string>{"/disk"}) return false;
  for (const auto& [path, contents] : image.files)
    if (!wanted.contains(path) || !contents.holds(wanted[path])) return false;
  return true;
}

bool SmallLines::holds_given_up(const io::DiskImage& image) const {
  if (!in_place) return holds_only(image, previous());
  const auto file = image.files.find(sort_output);
  if (file == image.files.end() || !holds_only(image, text_of(file->second))) return false;
  const char end = job().format->terminator();
  const auto lines_of = [&](const std::string& text) {
    std::vector<std::string> lines = rows_of(text, *this, end);
    std::ranges::sort(lines);
    return lines;
  };
  static std::map<std::string, std::vector<std::string>> known;  // a sweep asks after each fault
  auto wanted = known.find(previous());
  if (wanted == known.end()) wanted = known.emplace(previous(), lines_of(previous())).first;
  const std::string found = text_of(file->second);
  return found.size() == previous().size() && lines_of(found) == wanted->second;
}

std::uint64_t SmallLines::input_bytes() const {
  std::uint64_t bytes = 0;
  for (const std::string& input : inputs) bytes += input.size();
  return bytes;
}

namespace {

void set_order(const SmallLines& sort, engine::rows::LinesJob& job) {
  if (sort.command == "lines") {
    const Request request = lines::request_of_words(sort.words);
    const auto& terms = std::get<Lines>(request.rows);
    job.format = std::make_unique<lines::LineOrder>(lines::order_terms(terms, request.unique), terms.terminator,
                                                    lines::HeaderLines{terms.header_lines, {}});
    job.groups.is_on = request.unique;
    return;
  }
  std::vector<ValueKey> keys;
  for (const std::string& word : sort.words) word == "-u" ? void(job.groups.is_on = true) : void(keys.emplace_back(word));
  Request request;
  if (sort.command == "csv")
    request.rows = Csv{{.keys = keys}};
  else
    request.rows = JsonLines{{.keys = keys}};
  job.format = job::row_format_of(request);
}

}  // namespace

engine::rows::LinesJob SmallLines::job(std::uint64_t more_memory) const {
  engine::rows::LinesJob job;
  set_order(*this, job);
  job.header_bytes = 4096;
  planner::LinePlan& plan = job.plan;
  plan.block_bytes = block_bytes;
  plan.write_blocks = 3;
  plan.run_buffers = 2;
  plan.run_buffer_bytes = run_buffer_bytes;
  plan.seen_bytes = job.groups.is_on ? 4096 : 0;
  plan.threads = 0;
  plan.read_depth = 2;
  plan.write_depth = 3;
  plan.pages = Pages::small;
  plan.memory_bytes =
      std::max(plan.write_bytes() + plan.seen_bytes + 2 * run_buffer_bytes, std::uint64_t{512} * 1024) + more_memory;
  const planner::PackingTerms packing{.memory_bytes = std::uint64_t{4} << 20U, .block_bytes = block_bytes, .blocks = 100};
  job.codecs.runs = planner::plan_packing(packing, codec::run_compression_of_word(compress)).value();
  return job;
}

JobHeader SmallLines::header() const {
  JobHeader header{.job = 0x5eed,
                   .memory_bytes = job().plan.memory_bytes,
                   .kind = in_place ? JobHeader::Kind::lines_in_place : JobHeader::Kind::resumable_lines};
  header.layout.unit = page_bytes;
  header.layout.keeps_runs = !in_place;
  header.layout.interval_bytes = interval_bytes;
  header.reread = reread;
  header.compression = codec::run_compression_of_word(compress);
  header.layout.packs = !header.compression.is_none();
  header.lines = LineTerms{.command = command,
                           .request = settings_of(*this),
                           .mark_bytes = has_mark(inputs.front()) ? 3U : 0U,
                           .block_bytes = block_bytes,
                           .most_merged = most_merged,
                           .run_places = run_places};
  if (command == "csv") header.lines->first_row = first_row_of(*this, *job().format);
  header.layout.head_bytes = head_bytes(*header.lines, *job().format, page_bytes);
  return header;
}

namespace {

// The bound of real jobs, for as many runs as there are instead of as many as there might be.
void lay_out(const SmallLines& sort, JobHeader& header) {
  header.lines->run_places = sort.most_merged;
  header.lines->total_bytes = lines_total_bytes(header, sort.job().plan, sort.most_merged);
}

}  // namespace

std::uint64_t SmallLines::bound_bytes() const {
  JobHeader of_job = header();
  of_job.inputs = {{.path = sort_output, .size_bytes = inputs.front().size()}};
  lay_out(*this, of_job);
  return of_job.lines->total_bytes + Journal::size_bytes(of_job);
}

namespace {

const std::string header_lines = "number text\n\n3 lines\n";

std::vector<SmallLines> plain_sorts() {
  return {
      {.label = "plain", .inputs = {text_of_lines(1, 900, 30, 1'000'000), text_of_lines(2, 700, 30, 1'000'000, false)}},
      {.label = "header",
       .words = {"-k1,1n", "--header=3"},
       .inputs = {header_lines + text_of_lines(3, 800, 40, 500), header_lines, header_lines + text_of_lines(4, 500, 40, 500)},
       .has_previous = true},
      {.label = "unique",
       .words = {"-u", "-k1,1"},
       .inputs = {text_of_lines(5, 1'500, 25, 700)},
       .interval_bytes = 4096,
       .has_previous = true},
      {.label = "merges", .words = {"-r"}, .inputs = {text_of_lines(6, 1'400, 30, 100'000)}, .most_merged = 2},
      {.label = "long_lines",
       .inputs = {text_of_lines(7, 12, 9'000, 1'000), text_of_lines(8, 300, 60, 1'000, false)},
       .run_buffer_bytes = std::uint64_t{40} * 1024},
      {.label = "one_run",
       .words = {"-s", "-k2"},
       .inputs = {text_of_lines(9, 900, 20, 10)},
       .run_buffer_bytes = std::uint64_t{80} * 1024,
       .interval_bytes = 4096},
      {.label = "csv",
       .command = "csv",
       .words = {"n:number", "a\nname"},
       .inputs = {mark + text_of_csv(10, 500, 40, 300), text_of_csv(11, 2, 10, 300),
                  without_end(mark + text_of_csv(12, 400, 40, 300, "\r\n"), 2)},
       .has_previous = true,
       .reread = true},
      {.label = "csv_unique",
       .command = "csv",
       .words = {"-u", "n:integer:desc"},
       .inputs = {with_semicolons(text_of_csv(13, 12, 6'000, 90)), with_semicolons(text_of_csv(14, 900, 20, 90))},
       .run_buffer_bytes = std::uint64_t{40} * 1024,
       .interval_bytes = 4096,
       .most_merged = 2},
      {.label = "jsonl",
       .command = "jsonl",
       .words = {"n:number", "t"},
       .inputs = {mark + text_of_jsonl(15, 500, 30, 1'000), text_of_jsonl(16, 400, 30, 1'000) + "\n\n"},
       .reread = true},
  };
}

// With runs that are compressed.
std::vector<SmallLines> packed_sorts() {
  return {
      {.label = "packed",
       .words = {"-k1,1n", "--header=3"},
       .inputs = {header_lines + text_of_lines(17, 2'500, 30, 1'000), header_lines + text_of_lines(18, 1'000, 30, 1'000, false)},
       .run_buffer_bytes = std::uint64_t{64} * 1024,
       .has_previous = true,
       .block_bytes = 16'384,
       .compress = "lz4"},
      {.label = "packed_merges",
       .inputs = {text_of_lines(19, 4'000, 30, 1'000)},
       .run_buffer_bytes = std::uint64_t{64} * 1024,
       .most_merged = 2,
       .block_bytes = 16'384,
       .compress = "zstd:1"},
      {.label = "truncated",
       .inputs = {text_of_lines(20, 6'000, 5, 30)},
       .run_buffer_bytes = std::uint64_t{64} * 1024,
       .most_merged = 2,
       .block_bytes = 16'384,
       .compress = "prefix"},
  };
}

}  // namespace

const std::vector<SmallLines>& small_lines() {
  static const std::vector<SmallLines> all = [] {
    std::vector<SmallLines> sorts = plain_sorts();
    std::ranges::copy(packed_sorts(), std::back_inserter(sorts));
    return sorts;
  }();
  return all;
}

const std::vector<SmallLines>& small_lines_in_place() {
  constexpr std::uint64_t KiB = 1024;
  static const std::vector<SmallLines> sorts = [&] {
    std::vector<SmallLines> all{
        {.label = "plain", .inputs = {text_of_lines(21, 1'600, 30, 1'000'000, false)}, .most_merged = 6},
        {.label = "keys",
         .words = {"-k1,1n", "-s"},
         .inputs = {text_of_lines(22, 1'300, 40, 500)},
         .most_merged = 5,
         .reread = true},
        {.label = "long_lines",
         .inputs = {text_of_lines(23, 40, 9'000, 1'000)},
         .run_buffer_bytes = 96 * KiB,
         .interval_bytes = 40 * KiB,
         .most_merged = 2},
        {.label = "one_run",
         .words = {"-r"},
         .inputs = {text_of_lines(24, 900, 20, 10)},
         .run_buffer_bytes = 80 * KiB,
         .interval_bytes = 4 * KiB,
         .most_merged = 1},
        {.label = "one_line", .inputs = {"alone"}, .most_merged = 1},
        {.label = "short_lines",
         .words = {"-z"},
         .inputs = {text_of_short_lines(25, 3'000)},
         .run_buffer_bytes = 48 * KiB,
         .interval_bytes = 4 * KiB,
         .most_merged = 3},
    };
    for (SmallLines& sort : all) sort.in_place = true;
    return all;
  }();
  return sorts;
}

engine::rows::LinesReport LinesMachine::start_with_memory(const SmallLines& sort, std::uint64_t memory_bytes) {
  engine::rows::LinesJob job = sort.job();
  if (memory_bytes != 0) job.plan.memory_bytes = memory_bytes;
  JobHeader header = sort.header();
  for (std::size_t i = 0; i < sort.inputs.size(); ++i) {
    engine::rows::LineInput input;
    input.name = sort.in_place ? sort_output : lines_input(i);
    if (sort.in_place) {
      input.file = storage_.open_named(input.name, io::Role::input, io::Caching::direct_if_possible);
      input.opened = storage_.state(*input.file);
    } else {
      input.open(storage_);
    }
    header.inputs.push_back(identity_of(*input.file, input.opened));
    job.inputs.push_back(std::move(input));
  }
  if (sort.in_place) lay_out(sort, header);
  return start_rows(sort_output, std::move(job), header, environment());
}

engine::rows::LinesReport LinesMachine::resume(std::uint64_t more_memory) {
  JobStatus status = look();
  engine::rows::LinesJob job = sort_of(status.contents.value().header).job(more_memory);
  return resume_rows(sort_output, std::move(status), std::move(job), environment());
}

engine::rows::LinesReport LinesMachine::resume_with(engine::rows::LinesJob job, JobStatus status) {
  return resume_rows(sort_output, std::move(status), std::move(job), environment());
}

engine::rows::LinesReport LinesMachine::abandon() { return abandon_rows(sort_output, look(), environment()); }

}  // namespace ecosort::demsort_inplace
