#include "job/prepare_csv.h"

#include <fmt/format.h>

#include <string_view>
#include <utility>

#include "base/errors.h"

namespace ecosort::job {
namespace {

bool is_named_tsv(std::string_view name) { return name.ends_with(".tsv") || name.ends_with(".TSV"); }

char delimiter_of(const SortSpec& spec) {
  if (spec.csv.delimiter) return *spec.csv.delimiter;
  for (const std::string& name : spec.inputs)
    if (is_named_tsv(name) != is_named_tsv(spec.inputs.front()))
      throw UsageError(fmt::format("{} and {} have different delimiters by their names; name one", spec.inputs.front(), name));
  return !spec.inputs.empty() && is_named_tsv(spec.inputs.front()) ? '\t' : ',';
}

}  // namespace

std::unique_ptr<csv::CsvFormat> csv_format_of(const SortSpec& spec) {
  csv::CsvTerms terms{.dialect = {.delimiter = delimiter_of(spec), .quote = spec.csv.quote},
                      .has_header = spec.csv.header,
                      .keys = {},
                      .nulls_first = spec.csv.nulls_first,
                      .strict = spec.csv.strict,
                      .date_format = spec.csv.date_format};
  for (const std::string& key : spec.csv.keys) terms.keys.push_back(csv::parse_key(key));
  return std::make_unique<csv::CsvFormat>(terms);
}

PreparedLines prepare_csv(const SortSpec& spec, io::Storage& storage, SpecialOutput special) {
  lines::LinesOptions means;
  means.inputs = spec.inputs;
  if (spec.output != "-") means.output = spec.output;
  means.temp = spec.temp_directories;
  if (spec.memory_bytes > 0) means.memory = fmt::format("{}B", spec.memory_bytes);
  means.parallel = spec.threads;
  means.unique = spec.unique;
  means.merge = spec.csv.merge;
  means.compression = spec.compression;
  constexpr bool has_top = true;  // a header, or a byte order mark
  return prepare_rows(means, csv_format_of(spec), has_top, storage, special);
}

}  // namespace ecosort::job
