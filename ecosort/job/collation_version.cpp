#include "job/collation_version.h"

#include <fmt/format.h>

#include <algorithm>

#include "base/errors.h"
#include "formats/lines/collation.h"

namespace ecosort::job {

namespace {

bool is_collated(const Request& request) {
  if (const Lines* const lines = std::get_if<Lines>(&request.rows)) return !lines->collate.empty();
  return request.values() != nullptr && std::ranges::any_of(request.values()->keys, &ValueKey::is_collated);
}

// Returns the version that the request names, whatever its rows are.
std::string& named_version(Request& request) {
  return std::visit(
      [](auto& rows) -> std::string& {
        if constexpr (requires { rows.collation_version; })
          return rows.collation_version;
        else
          throw InternalError("records have no order of a language");
      },
      request.rows);
}

}  // namespace

void check_collation_version(const Request& request) {
  if (!is_collated(request)) return;
  Request copy = request;
  const std::string wanted = named_version(copy), own = lines::collation_version();
  if (wanted.empty() || wanted == own) return;
  throw UsageError(
      fmt::format("the sort was begun with {}, and here is {}, whose order may differ; continue where that version is, "
                  "or sort the input again",
                  wanted, own));
}

std::string collation_version_of(const Request& request) {
  return is_collated(request) ? lines::collation_version() : std::string();
}

void keep_collation_version(Request& request) {
  if (is_collated(request)) named_version(request) = lines::collation_version();
}

}  // namespace ecosort::job
