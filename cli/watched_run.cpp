#include "cli/watched_run.h"

#include <fmt/format.h>

#include "base/errors.h"
#include "base/json.h"
#include "base/text_json.h"
#include "cli/report.h"
#include "cli/say.h"

namespace ecosort::cli {

namespace {

Json with_notices(Json stats, const std::vector<std::string>& notices) {
  Json told = Json::array();
  for (const std::string& notice : notices) told.push_back(text_json(notice));
  stats["notices"] = std::move(told);
  return stats;
}

}  // namespace

void RunReports::print(const std::string& notice) const {
  if (notice.empty()) return;
  printed->push_back(notice);
  if (!quiet) say_line(fmt::format("{}: {}", teller, notice));
}

void WatchedRun::write_reports(const std::string& done, const std::vector<std::string>& notices,
                               const std::function<Json()>& stats) {
  for (const std::string& notice : notices) wanted_.print(notice);
  try {
    if (trace_) trace_->close();
    log_.check_written();
    if (!wanted_.stats.empty()) write_text_file(wanted_.stats, with_notices(stats(), *wanted_.printed).text(2) + "\n");
  } catch (const IoError& error) {
    throw IoError(fmt::format("{} ({})", error.what(), done), error.error_number());
  }
}

}  // namespace ecosort::cli
