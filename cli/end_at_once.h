// The end of a run whose queue broke (io::QueueBroken).
#pragma once

#include <string_view>

#include "job/session.h"

namespace ecosort::cli {

// Says what happened, and in which phase, and ends the process: returning would destroy what the system may still write to.
[[noreturn]] void end_at_once(const engine::Progress& progress, const io::QueueBroken& broken, std::string_view way_on = "");

}  // namespace ecosort::cli
