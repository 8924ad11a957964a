#include "job/check_order.h"

#include <fmt/format.h>

#include "base/errors.h"
#include "engine/fixed/check_records.h"
#include "engine/rows/check_lines.h"
#include "formats/keys/key_words.h"
#include "job/groups.h"
#include "job/prepare_rows.h"

namespace ecosort::job {

engine::OrderCheck check_order(const Request& request, const engine::rows::FirstLook& look) {
  if (request.inputs.size() != 1) throw UsageError("the order of one file is checked at a time; name one input");
  if (request.shuffle) throw UsageError("a shuffle has no order that could be checked");
  const engine::CheckTerms terms{.unique = request.has_groups() && !request.by_group, .is_whole = true};
  if (const Records* const records = std::get_if<Records>(&request.rows))
    return engine::fixed::check_records(request.inputs.front(), records->skip_bytes, record_format_of(request),
                                        group_format_of(request), terms);
  return check_rows(request, terms, look);
}

std::string place_of(const Request& request, const engine::Disorder& row) {
  if (request.format() == Format::records) return fmt::format("record {}", row.line_number);
  return fmt::format("line {}: {}", row.line_number, keys::shown(row.line));
}

}  // namespace ecosort::job
