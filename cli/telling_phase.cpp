#include "cli/telling_phase.h"

#include <fmt/format.h>

#include <cstdlib>

#include "cli/say.h"

namespace ecosort::cli {

void end_at_once(const engine::Progress& progress, const io::QueueBroken& broken, std::string_view way_on) {
  say_line(fmt::format("ecosort: {}: {}{}", engine::to_string(progress.phase()), broken.what(), way_on));
  std::_Exit(static_cast<int>(broken.code()));
}

}  // namespace ecosort::cli
