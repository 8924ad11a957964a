#include "cli/rows_report.h"

#include <fmt/format.h>

#include <algorithm>

#include "cli/compression_options.h"
#include "cli/report.h"
#include "job/collation_version.h"
#include "job/shuffle_request.h"

namespace ecosort::cli {

namespace {

std::uint64_t rows_of(const engine::rows::LinesReport& report) {
  return report.records - report.top_lines - report.blank_lines - report.comments;
}

Json keys_json(const Request& request, const engine::rows::LinesReport& report) {
  Json keys = Json::array();
  for (std::size_t i = 0; i < request.values()->keys.size(); ++i) {
    const formats::KeyCounts counts = i < report.key_counts.size() ? report.key_counts[i] : formats::KeyCounts{};
    Json key{{"by", to_string(request.values()->keys[i])},
             {request.format() == Format::csv ? "empty_values" : "missing_values", counts.empty},
             {"unparsable_values", counts.unparsable}};
    if (request.format() == Format::jsonl) key["repeated_names"] = counts.repeated;
    keys.push_back(std::move(key));
  }
  return keys;
}

void add_left_out(const Request& request, const engine::rows::LinesReport& report, Json& json) {
  json["bad_rows"] = report.bad_rows;
  json["set_aside"] =
      report.set_aside.empty() ? Json(nullptr) : Json{{"file", report.set_aside}, {"bytes", report.set_aside_bytes}};
  if (request.format() == Format::csv) json["comments"] = report.comments;
}

}  // namespace

Json rows_stats_json(const Request& request, const engine::rows::LinesReport& report, const engine::PhaseLog& log,
                     const ProcessUsage& usage, const engine::rows::LinesJob& job, const std::string& backend) {
  const bool is_shuffle = request.shuffle.has_value(), have_values = request.values() != nullptr && !is_shuffle;
  const std::string_view format = is_shuffle    ? "shuffle"
                                  : have_values ? name_of(request.format())
                                                : "lines";  // a merge of runs has lines, too
  const bool have_rows = have_values || is_shuffle;
  const char* const rows = have_rows ? "rows" : "lines";
  Json json{{"schema", fmt::format("ecosort.{}-stats/1", format)},
            {rows, rows_of(report)},
            {fmt::format("{}_dropped", rows), report.dropped},
            {fmt::format("{}_beyond_limit", rows), report.beyond}};
  json.update(work_json(report, log, usage, backend));
  json.update({{"merge_parts", report.merge_parts},
               {have_rows ? "longest_row_bytes" : "longest_line_bytes", report.longest_line},
               {"compression", compression_json(job, report)},
               {"threads", job.plan.threads},
               {"memory_limit_bytes", job.plan.memory_bytes + job.besides_bytes() + job.codecs.bytes()}});
  if (!have_rows) json["lines_appended"] = report.appended;
  if (is_shuffle)
    json["shuffle"] = {
        {"generator", job::shuffle_generator()}, {"seed", *request.shuffle->seed}, {"rows_skipped", report.skipped}};
  if (have_rows) json["blank_lines"] = report.blank_lines;
  if (have_values) add_left_out(request, report, json);
  if (!is_shuffle) json["files"] = job.split ? report.files : 1;
  if (have_values) json["keys"] = keys_json(request, report);
  if (is_shuffle) return json;
  const std::string collation = job::collation_version_of(request);
  json["collation"] = collation.empty() ? Json(nullptr) : Json(collation);
  json[fmt::format("{}_counted", rows)] = report.counted;
  return json;
}

std::string appended_text(const engine::WorkReport& report) {
  return report.appended == 0 ? "" : fmt::format(", {} of them behind the others, unsorted", report.appended);
}

namespace {

std::string bad_rows_text(const engine::rows::LinesReport& report) {
  if (report.bad_rows == 0) return "";
  return fmt::format(", {} of them {}", report.bad_rows, report.set_aside.empty() ? "left out as bad" : "set aside");
}

std::string files_text(const engine::rows::LinesReport& report) {
  return report.files == 0 ? "" : fmt::format(", in {} file{}", report.files, report.files == 1 ? "" : "s");
}

void add_bad_rows(const engine::rows::LinesReport& report, std::vector<std::string>& notices) {
  if (report.bad_rows == 0) return;
  const std::string where = report.set_aside.empty() ? "left out" : fmt::format("set aside in {}", report.set_aside);
  const bool are_all = report.bad_rows == report.named_bad_rows.size();
  notices.push_back(fmt::format("{} row{} cannot be sorted and {} {}{}:", report.bad_rows, report.bad_rows == 1 ? "" : "s",
                                report.bad_rows == 1 ? "is" : "are", where,
                                are_all ? "" : fmt::format("; the first {} are", report.named_bad_rows.size())));
  notices.insert(notices.end(), report.named_bad_rows.begin(), report.named_bad_rows.end());
}

// Perhaps that is not what was meant.
std::string none_is_readable(const formats::KeyCounts& counts, ValueType type) {
  const std::string dates = type == ValueType::date ? ", such as --date-format '%d.%m.%Y' for 31.12.2026" : "";
  return fmt::format("none of the {} values can be read as what the key says; look at its type{}", counts.unparsable, dates);
}

}  // namespace

JobSummary rows_summary(const Request& request, const engine::rows::LinesReport& report) {
  const std::uint64_t rows = rows_of(report);
  if (request.shuffle)
    return {"shuffled", std::max(report.input_bytes, report.output_bytes),
            fmt::format("{} row{}{}{}{}", rows, rows == 1 ? "" : "s", groups_text(report),
                        report.skipped == 0 ? "" : fmt::format(", {} of them skipped", report.skipped),
                        packed_text(report.run_packing))};
  return {report.is_merge ? "merged" : "sorted", std::max(report.input_bytes, report.output_bytes),
          fmt::format("{} {}{}{}{}{}{}{}", rows, request.values() != nullptr ? "row" : "line", rows == 1 ? "" : "s",
                      groups_text(report), bad_rows_text(report), appended_text(report), files_text(report),
                      packed_text(report.run_packing))};
}

std::vector<std::string> row_notices(const Request& request, const engine::rows::LinesReport& report) {
  std::vector<std::string> notices;
  if (request.values() == nullptr && !request.shuffle) return notices;
  add_bad_rows(report, notices);
  if (report.comments > 0)
    notices.push_back(fmt::format("comments and skipped lines are left out: there were {}", report.comments));
  if (report.blank_lines > 0) notices.push_back(fmt::format("blank lines are left out: there were {}", report.blank_lines));
  const char* const empty = request.format() == Format::csv ? "empty" : "missing or null";
  // A level behind those of the keys, where whole rows decide last, says nothing.
  const std::size_t keys = request.values() != nullptr ? request.values()->keys.size() : 0;
  if (request.values() != nullptr && !request.values()->date_format.empty() &&
      std::ranges::none_of(request.values()->keys, [](const ValueKey& key) { return key.type == ValueType::date; }))
    notices.push_back("--date-format changes nothing here: no key is a date (--by NAME:date)");
  for (std::size_t i = 0; i < std::min(report.key_counts.size(), keys); ++i) {
    const formats::KeyCounts& counts = report.key_counts[i];
    const std::string by = to_string(request.values()->keys[i]);
    if (counts.repeated > 0)
      notices.push_back(fmt::format("--by {}: a name on this path repeats within an object in {} rows; the last one counts", by,
                                    counts.repeated));
    if (counts.empty + counts.unparsable == 0) continue;
    const std::string what = counts.unparsable > 0 && counts.empty + counts.unparsable == rows_of(report)
                                 ? none_is_readable(counts, request.values()->keys[i].type)
                                 : fmt::format("{} {} and {} unparsable values come {}", counts.empty, empty, counts.unparsable,
                                               request.values()->nulls_first ? "in front of all others" : "behind all others");
    notices.push_back(fmt::format("--by {}: {}{}", by, what,
                                  request.has_groups() && !request.by_group ? "; they count as equal for --unique" : ""));
  }
  return notices;
}

}  // namespace ecosort::cli
