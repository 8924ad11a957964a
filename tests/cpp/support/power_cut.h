// Power cuts after every event of a job that was recorded, or of one in which some calls that make something durable were
// ignored.
#pragma once

#include <cstdint>
#include <functional>
#include <set>
#include <string>
#include <vector>

#include "doubles/crash_model.h"

namespace ecosort::demsort_inplace {

using EventLog = std::vector<io::StoreEvent>;

struct Cut {
  io::CutPolicy policy;
  std::uint64_t seed;
};

// Everything kept, everything lost, and so many chances of each other kind.
[[nodiscard]] std::vector<Cut> cuts(std::uint64_t chances);

struct Sweep {
  const io::DiskImage& initial;
  const EventLog& log;
  std::vector<Cut> policies = {};
  std::function<bool(std::size_t)> keeps = {};  // whether event number i reached the disk; empty: all did
  std::size_t from = 0;                         // the first event to cut after
  bool stops_at_loss = false;
  bool in_turn = false;  // of the cuts that leave something to chance, one has its turn after each event
  // Numbers the moments where the judgement depends on when the cut was: those with the same number are judged alike. Empty: all
  // are.
  std::function<std::uint64_t(std::size_t event)> epoch = {};
};

struct Outcome {
  std::uint64_t events = 0, images = 0, losses = 0;
  std::set<std::uint64_t> distinct;
  std::string first_loss;
};

// Says what is wrong with an image that a cut after event number `event` left; empty: nothing. At last it is asked about what
// there is when everything that was not synced is lost after the end, with the number of events.
using Judge = std::function<std::string(const io::DiskImage& image, std::size_t event)>;

// Every image is judged once in each epoch; under a sanitizer, which looks at the code and not at the images, one of several,
// unless calls were ignored and a loss is looked for.
[[nodiscard]] Outcome cut_everywhere(const Sweep& sweep, const Judge& judge);

// Returns whether a disk that ignored some calls loses something. Cuts that lose all they may come first: these mostly show it.
[[nodiscard]] bool is_found_out(Sweep sweep, const Judge& judge);

// One line of how much was covered.
void print_outcome(const char* name, const Outcome& outcome);

// The place in the code behind each sync of a job without interruption; empty for other events. Files of the job are "journal",
// "run" and "output", told apart by what the sync is for; directories are numbered.
[[nodiscard]] std::vector<std::string> label_syncs(const EventLog& log, const std::string& job_directory, std::uint64_t runs);

// A full set of contents: images with the same digest are the same.
[[nodiscard]] std::uint64_t digest(const io::DiskImage& image);

}  // namespace ecosort::demsort_inplace
