#include "job/row_formats.h"

#include <fmt/format.h>

#include <optional>
#include <string_view>
#include <utility>

#include "base/errors.h"
#include "base/text.h"
#include "codec/codec.h"
#include "formats/csv/csv_format.h"
#include "formats/jsonl/jsonl_format.h"
#include "formats/lines/key_words.h"
#include "formats/lines/line_order.h"
#include "job/collation_version.h"
#include "job/groups.h"
#include "job/line_groups.h"
#include "job/set_aside.h"
#include "job/shuffle_request.h"

namespace ecosort::job {
namespace {

std::string_view without_codec(std::string_view name) {
  if (codec::codec_of_input_name(name)) name.remove_suffix(name.size() - name.rfind('.'));
  return name;
}

bool is_named_tsv(std::string_view name) { return has_ending(without_codec(name), ".tsv"); }

}  // namespace

bool is_named_table(std::string_view name) { return is_named_tsv(name) || has_ending(without_codec(name), ".csv"); }

csv::Delimiter delimiter_of(const Csv& csv, const std::vector<std::string>& inputs) {
  if (csv.delimiter) {
    if (!csv.delimiter->empty() && csv.delimiter->size() <= csv::Delimiter::most_bytes) return csv::Delimiter(*csv.delimiter);
    throw UsageError(fmt::format("the delimiter '{}' has {} bytes; it may have 1 to {}", *csv.delimiter, csv.delimiter->size(),
                                 csv::Delimiter::most_bytes));
  }
  for (const std::string& name : inputs)
    if (is_named_tsv(name) != is_named_tsv(inputs.front()))
      throw UsageError(fmt::format("{} and {} have different delimiters by their names; name one", inputs.front(), name));
  return !inputs.empty() && is_named_tsv(inputs.front()) ? '\t' : ',';
}

namespace {

std::optional<std::string> count_name_of(const Request& request) {
  return request.groups.count ? std::make_optional(request.groups.count_name) : std::nullopt;
}

struct MakeFormat {
  const Request& request;

  std::unique_ptr<formats::RowFormat> operator()(const Records& /*records*/) const { throw InternalError("records are no rows"); }
  std::unique_ptr<formats::RowFormat> operator()(const Lines& lines) const {
    if (const auto groups = line_groups_of(request))
      return std::make_unique<lines::LineGroupOrder>(*groups, lines::order_terms(lines, keys_make_groups(request)));
    std::optional<formats::RecordMarks> marks = record_marks_of(request);
    const char terminator = marks ? formats::RecordMarks::mark : lines.terminator;
    auto order = std::make_unique<lines::LineOrder>(lines::order_terms(lines, keys_make_groups(request)), terminator,
                                                    lines::HeaderLines{lines.header_lines, lines.header_mark});
    if (marks) order->mark_records(*std::move(marks));
    return order;
  }
  std::unique_ptr<formats::RowFormat> operator()(const Csv& csv) const {
    return std::make_unique<csv::CsvFormat>(
        csv::CsvTerms{.dialect = {.delimiter = delimiter_of(csv, request.inputs), .quote = csv.quote, .escape = csv.escape},
                      .names_delimiter = csv.delimiter.has_value(),
                      .has_header = csv.header,
                      .keys = csv.keys,
                      .nulls_first = csv.nulls_first,
                      .strict = csv.strict,
                      .date_format = csv.date_format,
                      .rows_decide_last = request.groups.whole_rows,
                      .count_name = count_name_of(request),
                      .leaves_out_bad_rows = leaves_out_bad_rows(csv),
                      .comment = csv.comment,
                      .skip_lines = csv.skip_lines});
  }
  std::unique_ptr<formats::RowFormat> operator()(const JsonLines& json) const {
    return std::make_unique<jsonl::JsonlFormat>(jsonl::JsonlTerms{.keys = json.keys,
                                                                  .nulls_first = json.nulls_first,
                                                                  .strict = json.strict,
                                                                  .date_format = json.date_format,
                                                                  .allow_missing = json.allow_missing,
                                                                  .rows_decide_last = request.groups.whole_rows,
                                                                  .count_name = count_name_of(request),
                                                                  .leaves_out_bad_rows = leaves_out_bad_rows(json)});
  }
};

}  // namespace

std::unique_ptr<formats::RowFormat> row_format_of(const Request& request) {
  check_lenience(request);
  check_collation_version(request);
  check_groups(request);
  check_shuffle(request);
  if (request.shuffle) {
    const Request rows = without_shuffle(request);
    const bool are_records = request.format() == Format::records;
    return shuffle_format_of(request, are_records ? nullptr : std::visit(MakeFormat{rows}, rows.rows));
  }
  std::unique_ptr<formats::RowFormat> format = std::visit(MakeFormat{request}, request.rows);
  if (const auto keys = group_keys_of(request)) format->group_by_first(*keys);
  return format;
}

}  // namespace ecosort::job
