#include "cli/watched_run.h"

#include <fmt/format.h>

#include "base/errors.h"
#include "base/json.h"
#include "cli/report.h"

namespace ecosort::cli {

void WatchedRun::write_reports(const std::string& done, const std::function<Json()>& stats) {
  try {
    if (trace_) trace_->close();
    log_.check_written();
    if (!wanted_.stats.empty()) write_text_file(wanted_.stats, stats().text(2) + "\n");
  } catch (const IoError& error) {
    throw IoError(fmt::format("{} ({})", error.what(), done), error.error_number());
  }
}

}  // namespace ecosort::cli
