#include "io/backends.h"

#include <fmt/format.h>

#include <exception>

#include "base/errors.h"
#include "io/pool_queue.h"
#include "io/stxxl_module.h"
#include "io/uring_queue.h"

namespace ecosort::io {

namespace {

[[nodiscard]] Backend make_uring_or_pool(unsigned depth) {
  try {
    return {std::make_unique<UringQueue>(depth), {}, depth};
  } catch (const UringRefused& refused) {
    return {std::make_unique<PoolQueue>(depth), fmt::format("{}; a pool of threads does the I/O", refused.what()), depth};
  }
}

[[nodiscard]] Backend make_uring(unsigned depth) {
  try {
    return {std::make_unique<UringQueue>(depth), {}, depth};
  } catch (const UringRefused& refused) {
    throw BackendUnusable(refused.what());
  }
}

[[nodiscard]] Backend make_stxxl(unsigned depth) {
  try {
    return {load_stxxl_queue(depth), {}, depth};
  } catch (const Error&) {
    throw;
  } catch (const std::exception& refused) {  // its own kinds of errors: no thread to be had
    throw BackendUnusable(fmt::format("STXXL cannot start ({})", refused.what()));
  }
}

}  // namespace

BackendChoice parse_backend(std::string_view name) {
  if (name == "auto") return BackendChoice::auto_;
  if (name == "uring") return BackendChoice::uring;
  if (name == "pool") return BackendChoice::pool;
  if (name == "stxxl") return BackendChoice::stxxl;
  throw UsageError(fmt::format("no such I/O backend: '{}' (auto, uring, pool or stxxl)", name));
}

Backend make_queue(BackendChoice choice, unsigned depth) {
  switch (choice) {
    case BackendChoice::auto_:
      return make_uring_or_pool(depth);
    case BackendChoice::uring:
      return make_uring(depth);
    case BackendChoice::pool:
      return {std::make_unique<PoolQueue>(depth), {}, depth};
    case BackendChoice::stxxl:
      return make_stxxl(depth);
  }
  throw InternalError("an I/O backend that does not exist was asked for");
}

Backend make_queue_for_small_input(unsigned depth) {
  return {std::make_unique<PoolQueue>(depth, nullptr, PoolQueue::Service::at_once), {}, depth};
}

}  // namespace ecosort::io
