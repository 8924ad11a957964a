// A request says what is to be sorted, by which keys, where the result goes, and with which means. The program, the library, the
// C interface and the Python package make requests, and jobs that outlive a crash keep them. Its text is JSON, of the schema
// "ecosort.request/1": to_json() and request_from_json(). The defaults are right for the machine that sorts.
//
//   ecosort::Request request;
//   request.inputs = {"orders.csv"};
//   request.rows = ecosort::Csv{{.keys = {ecosort::by("price").number().descending()}}};
//   request.place.output = "sorted.csv";
//
// Thread-safety: values; every one is used by one thread at a time.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <type_traits>
#include <variant>
#include <vector>

#include "ecosort/errors.hpp"
#include "ecosort/record_types.hpp"
#include "ecosort/value_types.hpp"

namespace ecosort {

enum class Format : std::uint8_t { records, lines, csv, jsonl };  // as ecosort_format has them, and Request::rows
inline constexpr std::array<std::string_view, 4> format_names{"records", "lines", "csv", "jsonl"};
[[nodiscard]] constexpr std::string_view name_of(Format format) noexcept {
  return format_names[static_cast<std::size_t>(format)];
}

// ---- Keys. The first one of a request decides first. All can be made from their text, which throws UsageError.

// A field of a record: "OFFSET:LENGTH[:TYPE][:desc]", or "OFFSET:TYPE[:desc]" for a number, such as "8:u64be".
struct RecordKey {
  std::uint32_t offset = 0;  // bytes from the start of the record
  std::uint32_t length = 0;  // bytes, at least 1
  bool descends = false;
  RecordKeyType type = RecordKeyType::bytes;
  bool is_big_endian = false;  // of integers and floating-point numbers

  RecordKey() = default;
  RecordKey(std::uint32_t at, std::uint32_t bytes, bool is_descending = false, RecordKeyType of = RecordKeyType::bytes,
            bool big_endian = false) noexcept
      : offset(at), length(bytes), descends(is_descending), type(of), is_big_endian(big_endian) {}
  // NOLINTBEGIN(google-explicit-constructor): keys = {"0:10", "8:u64"}
  ECOSORT_API RecordKey(std::string_view text);
  RecordKey(const char* text) : RecordKey(std::string_view(text)) {}
  RecordKey(const std::string& text) : RecordKey(std::string_view(text)) {}
  // NOLINTEND(google-explicit-constructor)

  // One for each type: u64(), bytes(10), packed(4).
#define ECOSORT_SIZED(name, kind, explanation, text) \
  [[nodiscard]] RecordKey name(std::uint32_t count) const noexcept { return of(RecordKeyType::kind, count); }
#define ECOSORT_FIXED(name, kind, width, explanation, text) \
  [[nodiscard]] RecordKey name() const noexcept { return of(RecordKeyType::kind, width); }
  ECOSORT_RECORD_TYPES(ECOSORT_SIZED, ECOSORT_FIXED)
#undef ECOSORT_FIXED
#undef ECOSORT_SIZED
  [[nodiscard]] RecordKey big_endian() const noexcept { return {offset, length, descends, type, true}; }
  [[nodiscard]] RecordKey descending() const noexcept { return {offset, length, true, type, is_big_endian}; }

  friend bool operator==(const RecordKey&, const RecordKey&) = default;

 private:
  [[nodiscard]] RecordKey of(RecordKeyType which, std::uint32_t count) const noexcept {
    return {offset, count, descends, which, is_big_endian};
  }
};

// at(8).u64().descending()
[[nodiscard]] inline RecordKey at(std::uint32_t offset) noexcept { return {offset, 0}; }

// A value of a row of CSV or JSON lines: "NAME[:TYPE][:desc]". Words behind a colon that are no type belong to the name.
struct ValueKey {
  // CSV: a column by its name in the header, or by its place as #3, or by its number where there is no header. JSON lines: a
  // path, such as user.tags[0], where double quotes enclose names that have other signs in them.
  std::string name;
  ValueType type = ValueType::text;
  bool descends = false;
  std::string argument{};  // of the type, without the character in front of it: "de" of text@de, "S|M|L" of list:S|M|L

  ValueKey() = default;
  ValueKey(std::string of, ValueType as, bool is_descending = false, std::string with = {})
      : name(std::move(of)), type(as), descends(is_descending), argument(std::move(with)) {}
  // NOLINTBEGIN(google-explicit-constructor): keys = {"city", "price:number:desc"}
  ECOSORT_API ValueKey(std::string_view text);
  ValueKey(const char* text) : ValueKey(std::string_view(text)) {}
  ValueKey(const std::string& text) : ValueKey(std::string_view(text)) {}
  // NOLINTEND(google-explicit-constructor)

  // One for each type: number(), ip(), text("de"), list("S|M|L").
#define ECOSORT_BUILDER(of_type, word, form, help) \
  [[nodiscard]] ValueKey of_type(std::string with = {}) const { return {name, ValueType::of_type, descends, std::move(with)}; }
  ECOSORT_VALUE_TYPES(ECOSORT_BUILDER, ECOSORT_BUILDER)
#undef ECOSORT_BUILDER
  [[nodiscard]] ValueKey descending() const { return {name, type, true, argument}; }
  // Returns whether the order of a language decides.
  [[nodiscard]] bool is_collated() const noexcept { return type == ValueType::text && !argument.empty(); }

  friend bool operator==(const ValueKey&, const ValueKey&) = default;
};

// by("price").number().descending(). The whole text is the name.
[[nodiscard]] inline ValueKey by(std::string name) { return {std::move(name), ValueType::text}; }

// A part of a line: "POS1[,POS2]" as behind `sort -k`. Fields and characters count from 1.
struct LineKey {
  std::uint64_t begin_field = 1, begin_character = 1;
  std::uint64_t end_field = 0, end_character = 0;  // 0: the end of the line; the end of the field
  std::string ordering;                            // letters of dfghiMnRrV; none, and no blanks skipped: those of the request
  bool skips_blanks_at_begin = false, skips_blanks_at_end = false;

  LineKey() = default;
  // NOLINTBEGIN(google-explicit-constructor): keys = {"2,2n"}
  ECOSORT_API LineKey(std::string_view text);
  LineKey(const char* text) : LineKey(std::string_view(text)) {}
  LineKey(const std::string& text) : LineKey(std::string_view(text)) {}
  // NOLINTEND(google-explicit-constructor)

  [[nodiscard]] LineKey to(std::uint64_t field) const;
  [[nodiscard]] LineKey numeric() const { return with('n'); }
  [[nodiscard]] LineKey version() const { return with('V'); }
  [[nodiscard]] LineKey nocase() const { return with('f'); }
  [[nodiscard]] LineKey descending() const { return with('r'); }
  [[nodiscard]] LineKey with(char letter) const;  // a letter of dfghiMnRrV

  friend bool operator==(const LineKey&, const LineKey&) = default;
};

inline LineKey LineKey::to(std::uint64_t field) const {
  LineKey key = *this;
  key.end_field = field;
  return key;
}

inline LineKey LineKey::with(char letter) const {
  LineKey key = *this;
  key.ordering += letter;
  return key;
}

// field(2).numeric(): this field alone.
[[nodiscard]] inline LineKey field(std::uint64_t number) {
  LineKey key;
  key.begin_field = key.end_field = number;
  return key;
}

// The text of which the same key is made.
[[nodiscard]] ECOSORT_API std::string to_string(const RecordKey& key);
[[nodiscard]] ECOSORT_API std::string to_string(const ValueKey& key);
[[nodiscard]] ECOSORT_API std::string to_string(const LineKey& key);

// ---- What the rows are, and their order. Rows with equal keys stay in input order but where Lines says otherwise.

struct Records {
  // Bytes, 1 to 1 MiB. 0, and no key: records of 100 bytes with the key 0:10, and what does not look like records of the Sort
  // Benchmark is refused; text whose size happens to be a multiple of 100 would be torn.
  std::uint64_t record_size = 0;
  std::vector<RecordKey> keys{};  // none: 0:10, or the whole record where it is shorter
  bool reverse = false;           // the direction of every key
  std::uint64_t skip_bytes = 0;   // in front of the records of each file: all are alike, and the output begins with them
};

// Text lines in the order of GNU sort in the C locale. Without keys the whole line is the key.
struct Lines {
  std::vector<LineKey> keys{};
  std::string ordering{};           // letters for keys that have none of their own, and for the whole line: bdfghiMnRrV
  std::optional<char> separator{};  // of fields; none: from non-blank to blank
  char terminator = '\n';           // or '\0'
  bool stable = false;              // lines with equal keys stay in input order, instead of being compared as a whole
  std::uint64_t header_lines = 0;   // of each input; all are alike, and one stays in front
  std::string header_mark{};        // lines of an input that begin so, up to the first one that does not, are its header
  std::string random_source{};      // of R: a file that decides the order, by its first 16 bytes; none: chance
  std::string random_salt{};        // of R: these bytes instead, as 32 hexadecimal digits
  std::string collate{};            // texts are in the order of this language, such as "de", by ICU; empty: of bytes
  std::string collation_version{};  // of ICU, as a job keeps it: with another one nothing is sorted; empty: any
  bool paragraphs = false;          // lines up to an empty one are a row, together with it
  std::uint64_t record_lines = 0;   // or so many lines are a row; 0: one
  std::string record_start{};       // or lines up to the next one that begins with this text are a row
};

// Rows go out byte for byte as they came in. Values that are empty (of JSON: missing, or null), or cannot be read as what their
// key says, are together behind the others, or in front of them.
struct Values {
  std::vector<ValueKey> keys{};  // at least one
  bool nulls_first = false;
  bool strict = false;              // a value that cannot be read as what its key says is an error
  std::string date_format{};        // like that of strptime; empty: ISO 8601
  std::string collation_version{};  // of ICU, for text@LOCALE, as a job keeps it: with another one nothing is sorted; empty: any
  // Says what happens to rows that cannot be read, or have too few or too many fields: "refuse" is an error, "skip" leaves them
  // out, and any other word is the name of a file that gets them, byte for byte. All are counted.
  std::string bad_rows = "refuse";
};

// RFC 4180.
struct Csv : Values {
  std::optional<std::string> delimiter{};  // 1 to 8 bytes; none: a tab where all inputs are named .tsv, else a comma
  std::optional<char> quote = '"';         // none: quotes mean nothing
  std::optional<char> escape{};            // the byte behind it is no delimiter, quote or end; none: there are no escapes
  bool header = true;                      // the first row of every input; all must be alike, and it goes out once
  std::string comment{};         // lines that begin so are no rows; those that the first input begins with stay in front
  std::uint64_t skip_lines = 0;  // so many lines of every input are no rows; those of the first input stay in front
};

struct JsonLines : Values {
  bool allow_missing = false;  // a path that leads nowhere in all rows is none
};

// ---- Where to, and with which means.

enum class PlaceKind : std::uint8_t {
  file,       // the output exists only when it is complete
  resumable,  // the same, and a job in OUTPUT.ecosort survives crashes
  in_place    // the one input is sorted in its own space, by a job in INPUT.ecosort
};

struct Place {
  std::string output{};  // replaced when the result is complete; "-": standard output; in place: none
  PlaceKind kind = PlaceKind::file;
  std::optional<std::uint64_t> space_bytes{};  // in place: at most so much of the free space
  bool as_is = false;                          // in place: also what looks like an archive or compressed data
  // Several files in place of one: "rows=N", "size=S", "files=N", "by=KEY". `output` has {} where their names differ.
  std::string split{};
  // A small JSON beside the output, OUTPUT.claim.json, says what it holds and in which order; merges and checks read it.
  bool claim = false;
};

// Joules of a sort = idle_w * seconds + core_w * CPU seconds + gb_j * 10^9 bytes moved.
struct EnergyTerms {
  double idle_w = 0, core_w = 0, gb_j = 0;
};

// Says what is compressed on the way in and out (of lines and rows, by a codec such as gzip), and the temporary runs of all.
// Damaged or truncated input is an IoError that names the place in the compressed file.
struct Compression {
  bool decompress = false;      // inputs that are compressed, by their beginning or their name
  std::string output = "none";  // or a name of the above; "auto": by the ending of the output's name, such as .gz
  std::optional<int> level{};   // of the output; none: the usual one
  // Compresses temporary runs: "none", "prefix" (of rows), "lz4", "zstd", "zstd:LEVEL"; "auto": for each run what the drives and
  // its first rows show to pay; empty: "auto" for lines and rows, "none" for records, shuffles, and jobs that outlive a crash.
  std::string runs{};
  std::string program{};                // lines: of temporary runs, by a program that reads and writes streams; -d decompresses
  std::uint64_t assumed_ratio = 0;      // thousandths by which runs will shrink: so much less space is reserved; 0: all of it
  std::optional<EnergyTerms> energy{};  // "auto" takes what needs the fewest joules; none: the least time
};

struct Means {
  std::uint64_t memory_bytes = 0;               // bound of all buffers; 0: a share of what this process may take
  bool memory_is_a_wish = false;                // lines: too little, or more than there is, becomes the nearest that can be
  unsigned threads = 0;                         // that compute; 0: as many as this process has processors
  unsigned merge_threads = 0;                   // of records, in the merge; 0: the same
  std::vector<std::string> temp_directories{};  // for runs, striped by free space; none: that of the output
  std::string io = "auto";                      // "auto", "uring", "pool", "stxxl"
  std::uint64_t request_bytes = 0;              // of records: most bytes of a read or write, 16 KiB to 64 MiB; 0: the usual
  unsigned request_depth = 0;                   // of records: most reads in flight, 1 to 256; 0: the usual
  std::uint64_t keep_free_bytes = 0;            // of records: so much stays free on the drives, or nothing begins; of no job
  std::string gather = "never";                 // of large records: "auto" where reads at any place are fast, "always", "never"
  std::uint64_t run_records = 0;                // of records: most of a stored run; 0: as many as the memory holds
  std::uint64_t batch_size = 0;                 // of lines: most files that are merged at a time; 0: as many as may be open
};

struct Verification {
  bool reread = false;          // read the output back from the device before it gets its name
  bool checksum = false;        // of records of 100 bytes: the report has the sum that valsort computes
  std::string expected_hash{};  // of a merge of records: that of all records, 32 hexadecimal digits; empty: no one knows
};

enum class InputOrder : std::uint8_t {
  any,
  sorted,   // the inputs are merged; one that is not sorted is an error
  believed  // the same, without a look (lines: as `sort -m`)
};

enum class GroupsThatStay : std::uint8_t {
  all,
  repeated,  // those of more than one row
  singles    // those of one row
};
enum class RowThatStays : std::uint8_t { first, last };

// Equal rows are a group, of which one row goes out: with Request::unique, or where anything below is asked for. Rows are equal
// where all of their keys are.
struct Groups {
  std::vector<std::string> by{};  // or only these keys: the first ones of the order, as texts
  bool whole_rows = false;        // or all of their bytes, which are then the last key of the order
  GroupsThatStay only = GroupsThatStay::all;
  RowThatStays keep = RowThatStays::first;  // in the order; of rows with equal keys that of the input
  // The number of rows goes out in front of the row: of lines as `uniq -c` writes it, of CSV as a column, of JSON lines as a
  // member, of records as 8 bytes, little-endian.
  bool count = false;
  std::string count_name = "count";  // of the column or member; rows that have one of this name are refused

  friend bool operator==(const Groups&, const Groups&) = default;
};

// A random order in place of one by keys: every permutation of the rows is equally likely. It is a function of the seed and of
// the number of rows alone ("ecosort-shuffle/1"), so that memory, threads, machine, and the borders of files change nothing.
struct Shuffle {
  std::optional<std::uint64_t> seed{};  // none: chance
  std::uint64_t skip = 0;               // so many of the first rows of the order do not go out; those on top always do
};

struct Request {
  std::vector<std::string> inputs{};  // files; "-" alone: standard input
  std::variant<Records, Lines, Csv, JsonLines> rows{};
  bool unique = false;  // of equal rows only one stays
  Groups groups{};
  std::optional<std::uint64_t> limit{};  // only so many rows go out, the first ones in order; none: all
  std::optional<std::uint64_t>
      by_group{};  // so many of each group of rows that are equal in so many first keys; 0: all but the last
  InputOrder input_order = InputOrder::any;
  std::optional<Shuffle> shuffle{};  // rows have no keys then; lines, CSV, JSON lines, and records of a given size
  Place place{};
  Means means{};
  Compression compression{};
  Verification verification{};

  [[nodiscard]] Format format() const noexcept { return static_cast<Format>(rows.index()); }
  // Returns what the rows of CSV and JSON lines have in common; null: they are of another format.
  [[nodiscard]] const Values* values() const noexcept {
    return std::visit(
        []<class Rows>(const Rows& of) -> const Values* {
          if constexpr (std::is_base_of_v<Values, Rows>)
            return &of;
          else
            return nullptr;
        },
        rows);
  }
  // Returns whether one row of each group goes out.
  [[nodiscard]] bool has_groups() const noexcept {
    return unique || by_group || groups.whole_rows || groups.count || !groups.by.empty() || groups.only != GroupsThatStay::all;
  }
};

// The request as one line of JSON, without what is as by default; and back. UsageError for a text that is no request, with the
// member that is wrong.
[[nodiscard]] ECOSORT_API std::string to_json(const Request& request);
[[nodiscard]] ECOSORT_API Request request_from_json(std::string_view text);
// The JSON schema (draft 2020-12) of these texts.
[[nodiscard]] ECOSORT_API std::string request_schema();

}  // namespace ecosort
