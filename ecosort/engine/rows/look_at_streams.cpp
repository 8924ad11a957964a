#include "engine/rows/look_at_streams.h"

#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "base/task.h"
#include "codec/codec.h"

namespace ecosort::engine::rows {
namespace {

struct Looks {
  Looks(const planner::LinePlan& plan, io::Queue& queue)
      : reactor(queue, plan.read_depth, plan.write_depth), reads(reactor.scope()) {}

  io::Reactor reactor;
  TaskGroup reads;
};

Task<void> look(io::Reactor& reactor, LineInput& input) {
  std::string first(codec::beginning_bytes, '\0');
  auto* const data = reinterpret_cast<std::byte*>(first.data());
  first.resize(co_await reactor.read(*input.file, input.file->facts().start_offset, data, first.size(), 0));
  input.look_at_beginning(std::move(first));
}

std::vector<LineInput*> streams_of(LinesJob& job) {
  std::vector<LineInput*> streams;
  for (LineInput& input : job.inputs) {
    if (!input.may_be_compressed()) continue;
    streams.push_back(&input);
    if (!job.merge) break;
  }
  return streams;
}

}  // namespace

io::Traffic look_at_streams(LinesJob& job, const Environment& environment) {
  const std::vector<LineInput*> streams = streams_of(job);
  if (!job.plan_again || streams.empty()) return {};
  auto looks = std::make_unique<Looks>(job.plan, environment.queue);
  for (LineInput* const input : streams) looks->reads.spawn(look(looks->reactor, *input));
  const io::Traffic traffic = keep_where_queue_breaks(std::move(looks), [&](Looks& all) {
    all.reactor.run(all.reads, environment.interrupted);
    return all.reactor.traffic();
  });
  job.plan_again(job);
  return traffic;
}

}  // namespace ecosort::engine::rows
