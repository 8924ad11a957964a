// A block of a run of a job, for who reads it by the run's description (description.h) alone.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>

#include "run/description.h"
#include "run/run_packer.h"

namespace ecosort::run {

// `data`, as it was read, is what was sealed as that block of the run, and holds as many bytes as it should; else DamagedRun.
// Makes it what it was, at `to`, which is there or before it and has room for a block. `coders`: of packed runs. Thread-safe.
void open_block(const Description& description, const std::string& name, std::uint64_t block, const std::byte* data,
                std::byte* to, RunPacker* coders);

}  // namespace ecosort::run
