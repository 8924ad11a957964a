// The first bytes of streams that may be compressed are read before the memory is divided: they show, as those of files do, what
// their decoders take. The reader of the input gets them from it (LineInput::beginning).
#pragma once

#include "engine/bench.h"
#include "engine/rows/lines_sort.h"
#include "io/reactor.h"

namespace ecosort::engine::rows {

// Plans the job again where there is such a stream. Of a sort only the first one is looked at: the writers of the others may wait
// until it is read. Waits for the bytes, or for the end of the stream. IoError, NotEnoughMemory, Interrupted, io::QueueBroken.
[[nodiscard]] io::Traffic look_at_streams(LinesJob& job, const Environment& environment);

}  // namespace ecosort::engine::rows
