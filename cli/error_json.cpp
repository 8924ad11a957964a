#include "cli/error_json.h"

#include <algorithm>
#include <string>

#include "base/errors.h"
#include "base/json.h"
#include "cli/not_begun.h"
#include "cli/say.h"

namespace ecosort::cli {

namespace {

bool wants_json(const Words& words) {
  const auto option = std::ranges::find_if(words, [](const std::string& word) { return word.starts_with("--progress"); });
  if (option == words.end()) return false;
  return *option == "--progress=json" || (*option == "--progress" && option + 1 != words.end() && option[1] == "json");
}

// Returns whether standard output lacks a plan as JSON: a caller that asks for one reads there why there is none. Where only the
// space is too short, there is one.
bool lacks_plan(const Words& words, const std::exception& error) {
  const bool wants_plan = !words.empty() && words.front() == "plan" && std::ranges::find(words, "--json") != words.end();
  return wants_plan && dynamic_cast<const NotEnoughSpace*>(&error) == nullptr;
}

const char* to_string(NotEnoughSpace::For purpose) {
  using For = NotEnoughSpace::For;
  if (purpose == For::runs) return "runs";
  if (purpose == For::output) return "output";
  return purpose == For::job ? "job" : "runs and output";
}

Json known(std::uint64_t bytes) { return bytes == 0 ? Json(nullptr) : Json(bytes); }

Json error_json(const std::exception& error) {
  Json json{{"schema", "ecosort.error/1"}, {"kind", "internal"}, {"message", error.what()}};
  if (const auto* memory = dynamic_cast<const NotEnoughMemory*>(&error)) {
    json["kind"] = "not enough memory";
    json["have_bytes"] = memory->have_bytes;
    json["need_bytes"] = known(memory->need_bytes);
  } else if (const auto* space = dynamic_cast<const NotEnoughSpace*>(&error)) {
    json["kind"] = "not enough space";
    json["for"] = to_string(space->purpose);
    json["places"] = space->places;
    json["have_bytes"] = space->free_bytes;
    json["need_bytes"] = space->need_bytes;
  } else if (const auto* io = dynamic_cast<const IoError*>(&error)) {
    json["kind"] = "io";
    json["errno"] = io->error_number() == 0 ? Json(nullptr) : Json(io->error_number());
  } else if (dynamic_cast<const UsageError*>(&error) != nullptr) {
    json["kind"] = "usage";
  } else if (dynamic_cast<const NotBegun*>(&error) != nullptr) {
    json["kind"] = "not begun";
  } else if (dynamic_cast<const VerificationError*>(&error) != nullptr) {
    json["kind"] = "verification";
  } else if (const auto* interrupted = dynamic_cast<const Interrupted*>(&error)) {
    json["kind"] = "interrupted";
    json["signal"] = interrupted->signal_number();
  }
  return json;
}

}  // namespace

void say_error_json(const Words& words, const std::exception& error) noexcept {
  try {
    if (lacks_plan(words, error)) print_out(error_json(error).text(2) + "\n");
    if (wants_json(words)) say(error_json(error).text() + "\n");
  } catch (const std::exception&) {  // no memory: the line for people needs none
  }
}

}  // namespace ecosort::cli
