#include "engine/driver.h"

#include <fmt/format.h>

#include "base/errors.h"
#include "engine/open_output.h"

namespace ecosort::engine {

void Driver::run() {
  main_.spawn(sort());
  try {
    bench_.reactor.run(main_, bench_.interrupted);
  } catch (const VerificationError&) {
    kernel_.give_up();
    (void)kernel_.check_inputs();  // an input that changed is why, and told
    throw;
  } catch (...) {
    kernel_.give_up();
    throw;
  }
  publish();
}

Task<void> Driver::sort() {
  output_ = open_output(bench_.storage, path_, caching_of_output(kernel_.most_output_bytes(), reread_));
  const std::optional<Step> formation = kernel_.open(*output_);
  if (formation) {
    bench_.begin(formation->name, Phase::run_formation, formation->bytes, formation->share);
    co_await kernel_.form_runs();
    bench_.end();
    notice_ = kernel_.check_inputs();
  }
  co_await merge_runs();
  if (!formation || kernel_.reads_inputs_again()) notice_ = kernel_.check_inputs();
  verify();
  co_await sync();
  if (reread_ && !is_stream() && kernel_.written_bytes() > 0) co_await reread();
}

Task<void> Driver::merge_runs() {
  while (const std::optional<Step> group = kernel_.next_group()) {
    bench_.begin(group->name, Phase::intermediate_merge, group->bytes, group->share);
    co_await kernel_.merge_group();
    bench_.end();
  }
  if (const std::optional<Step> last = kernel_.last_merge()) {
    bench_.begin(last->name, Phase::merge, last->bytes, last->share);
    co_await kernel_.merge_to_output();
    bench_.end();
  }
  if (const std::optional<Step> rest = kernel_.rest()) {
    bench_.begin(rest->name, Phase::merge, rest->bytes, rest->share);
    co_await kernel_.append_rest();
    bench_.end();
  }
}

// Promise P1: what came in goes out, by count and by hash, from different buffers. Before anything gets a name.
void Driver::verify() const {
  const auto [in, out, expected] = kernel_.proof();
  if (out == in && in.count == expected.value_or(in.count)) return;
  throw VerificationError(
      fmt::format("verification failed: {} {} with hash {} went in, {} with hash {} would come out; the output was not written",
                  in.count, kernel_.items(), in.to_hex(), out.count, out.to_hex()));
}

Task<void> Driver::sync() {
  bench_.begin("sync", Phase::sync, 0);
  co_await kernel_.complete_output();
  // Publishing syncs an output anyway. What may take long is synced here, where a signal ends it.
  if (!is_stream() && (reread_ || kernel_.written_bytes() > most_cached_output_bytes)) co_await bench_.reactor.sync(*output_);
  if (claim_) co_await claim_file_.write(claim_(kernel_.contents()));
  bench_.end();
}

// `--verify=reread`: what the device gives back is what went in, in order.
Task<void> Driver::reread() {
  const std::uint64_t bytes = kernel_.written_bytes();
  bench_.begin("reread", Phase::reread, bytes, bytes);
  const bool is_same = co_await kernel_.reread();
  bench_.end();
  if (!is_same)
    throw VerificationError(
        "what was read back from the output is not what was written to it (check the drive); the output was not kept");
}

void Driver::publish() {
  bench_.begin("publish", Phase::sync, 0);
  take_claim_away(bench_.storage, path_);
  for (const io::Storage::Named& further : kernel_.further_outputs()) take_claim_away(bench_.storage, further.final_path);
  std::optional<std::string> own = kernel_.publish_own();
  std::string notice =
      own ? std::move(*own) : publish_output(bench_.storage, std::move(output_), path_, kernel_.further_outputs());
  std::string of_claim = claim_file_.publish();
  bench_.end();
  WorkReport& report = kernel_.sum_up();
  report.notices.push_back(std::move(notice_));
  report.notices.push_back(std::move(notice));
  report.notices.push_back(std::move(of_claim));
  report.traffic = bench_.reactor.traffic();
  report.peak_memory_bytes += bench_.memory.peak_bytes();
  bench_.progress.begin(Phase::done, 0);
}

}  // namespace ecosort::engine
