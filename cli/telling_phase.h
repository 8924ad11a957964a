// The line of an error says in which phase it happened, and what to do.
#pragma once

#include <fmt/format.h>

#include <string_view>

#include "base/errors.h"
#include "cli/advice.h"
#include "job/session.h"

namespace ecosort::cli {

// Says what broke the queue, and in which phase, and ends the process: returning would destroy what the system may still write
// to.
[[noreturn]] void end_at_once(const engine::Progress& progress, const io::QueueBroken& broken, std::string_view way_on = "");

// Returns what `work()` returns. Ends the program where the queue breaks.
template <typename Work>
auto telling_phase(const engine::Progress& progress, const Work& work) {
  try {
    return work();
  } catch (const io::QueueBroken& broken) {
    end_at_once(progress, broken);
  } catch (const NameError& error) {
    throw IoError(fmt::format("{}: {}", engine::to_string(progress.phase()), error.what()));
  } catch (const IoError& error) {
    throw IoError(fmt::format("{}: {}{}", engine::to_string(progress.phase()), error.what(),
                              advice_on_failure(error.error_number(), {"", "--memory", "--temp"})),
                  error.error_number());
  }
}

}  // namespace ecosort::cli
