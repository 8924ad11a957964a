#include "job/prepare_table.h"

#include <fmt/format.h>

#include <string_view>
#include <utility>

#include "base/errors.h"
#include "codec/codec.h"
#include "formats/csv/csv_format.h"
#include "formats/jsonl/jsonl_format.h"
#include "formats/keys/key_words.h"

namespace ecosort::job {
namespace {

constexpr bool has_top = true;  // a header, or a byte order mark

// Whatever it is compressed with.
bool is_named_tsv(std::string_view name) {
  if (codec::codec_of_file_name(name)) name.remove_suffix(name.size() - name.rfind('.'));
  return name.ends_with(".tsv") || name.ends_with(".TSV");
}

char delimiter_of(const SortSpec& spec) {
  if (spec.csv.delimiter) return *spec.csv.delimiter;
  for (const std::string& name : spec.inputs)
    if (is_named_tsv(name) != is_named_tsv(spec.inputs.front()))
      throw UsageError(fmt::format("{} and {} have different delimiters by their names; name one", spec.inputs.front(), name));
  return !spec.inputs.empty() && is_named_tsv(spec.inputs.front()) ? '\t' : ',';
}

std::vector<keys::KeyWords> keys_of(const SortSpec& spec) {
  std::vector<keys::KeyWords> keys;
  keys.reserve(spec.table.keys.size());
  for (const std::string& key : spec.table.keys) keys.push_back(keys::parse_key(key));
  return keys;
}

lines::LinesOptions means_of(const SortSpec& spec) {
  lines::LinesOptions means;
  means.inputs = spec.inputs;
  if (spec.output != "-") means.output = spec.output;
  means.temp = spec.temp_directories;
  if (spec.memory_bytes > 0) means.memory = fmt::format("{}B", spec.memory_bytes);
  means.parallel = spec.threads;
  means.unique = spec.unique;
  if (spec.reread) means.verify = "reread";
  means.merge = means.checks_order = spec.table.merge;
  means.compression = spec.compression;
  return means;
}

}  // namespace

std::unique_ptr<rows::RowFormat> table_format_of(const SortSpec& spec) {
  const TableTerms& terms = spec.table;
  if (spec.format == Format::jsonl)
    return std::make_unique<jsonl::JsonlFormat>(
        jsonl::JsonlTerms{keys_of(spec), terms.nulls_first, terms.strict, terms.date_format, terms.allow_missing});
  return std::make_unique<csv::CsvFormat>(csv::CsvTerms{.dialect = {.delimiter = delimiter_of(spec), .quote = spec.csv.quote},
                                                        .names_delimiter = spec.csv.delimiter.has_value(),
                                                        .has_header = spec.csv.header,
                                                        .keys = keys_of(spec),
                                                        .nulls_first = terms.nulls_first,
                                                        .strict = terms.strict,
                                                        .date_format = terms.date_format});
}

PreparedLines prepare_table(const SortSpec& spec, io::Storage& storage, SpecialOutput special) {
  return prepare_rows(means_of(spec), table_format_of(spec), has_top, storage, special);
}

lines::LinesJob make_table_job(const SortSpec& spec, io::Storage& storage, SpecialOutput special, std::uint64_t assumed_bytes) {
  return make_rows_job(means_of(spec), table_format_of(spec), has_top, storage, special, assumed_bytes);
}

std::uint64_t table_memory_of(const SortSpec& spec) { return line_memory_of(means_of(spec)); }

std::optional<lines::Disorder> find_table_disorder(const SortSpec& spec) {
  const auto format = table_format_of(spec);
  return find_row_disorder(means_of(spec), *format);
}

}  // namespace ecosort::job
