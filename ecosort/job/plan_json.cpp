#include "job/plan_json.h"

#include "planner/machine.h"

namespace ecosort::job {

namespace {

Json merge_buffers_json(const planner::MergeBuffers& b) {
  return {{"block_bytes", b.block_bytes},
          {"blocks", b.blocks},
          {"output_block_bytes", b.output_block_bytes},
          {"output_blocks", b.output_blocks},
          {"index_bytes", b.index_bytes}};
}

Json ledger_json(const planner::RecordPlan::Ledger& ledger) {
  Json json = Json::object();
  for (const auto& [purpose, bytes] : ledger) json[purpose] = bytes;
  return json;
}

}  // namespace

Json keys_json(const records::RecordFormat& format) {
  Json keys = Json::array();
  for (const RecordKey& field : format.keys) keys.push_back(to_string(field));
  return keys;
}

Json plan_json(const planner::RecordPlan& plan) {
  Json steps = Json::array();
  for (const planner::MergeStep& step : plan.merge.steps)
    steps.push_back({{"first_run", step.first_run}, {"fan_in", step.fan_in}});
  const planner::Formation& f = plan.formation;
  return {{"schema", "ecosort.plan/1"},
          {"shape", planner::to_string(plan.shape)},
          {"records", plan.wanted.input_records},
          {"record_size_bytes", plan.wanted.format.record_size},
          {"keys", keys_json(plan.wanted.format)},
          {"memory_limit_bytes", plan.wanted.memory_bytes},
          {"fixed_overhead_bytes", planner::fixed_overhead_bytes},
          {"peak_memory_bytes", plan.peak_memory_bytes},
          {"compute_threads", plan.wanted.threads},
          {"merge_threads", plan.wanted.threads_of_merge()},
          {"granule_bytes", plan.run_block.bytes},
          {"granule_records", plan.run_block.records},
          {"run_records", f.run_records},
          {"run_buffers", f.run_buffers},
          {"runs", plan.merge.stored_runs + plan.merge.resident_runs},
          {"stored_runs", plan.merge.stored_runs},
          {"resident_runs", plan.merge.resident_runs},
          {"merge_passes", plan.merge.passes},
          {"merge_steps", steps},
          {"read_block_bytes", f.read_block_bytes},
          {"write_block_bytes", f.write_block_bytes},
          {"write_blocks", f.write_blocks},
          {"request_bytes", plan.wanted.requests.bytes},
          {"read_depth", plan.read_depth},
          {"write_depth", plan.write_depth},
          {"merge", merge_buffers_json(plan.merge.final)},
          {"intermediate_merge", merge_buffers_json(plan.merge.intermediate)},
          {"forecast_stride", plan.forecast_stride},
          {"forecast_window", plan.forecast_window},
          {"stored_records", plan.stored_records},
          {"run_bytes", plan.run_bytes},
          {"remerged_bytes", plan.remerged_bytes},
          {"temp_bytes", plan.temp_bytes},
          {"compression", compression_json(plan.packing)},
          {"bytes_read", plan.bytes_read},
          {"bytes_written", plan.bytes_written},
          {"memory_formation", ledger_json(plan.formation_ledger())},
          {"memory_merge", ledger_json(plan.merge_ledger())}};
}

Json compression_json(const planner::PackingPlan& packing) {
  if (packing.coders == 0) return nullptr;
  return {
      {"asked", packing.wanted.is_auto ? "auto" : codec::text_of(packing.wanted.terms)},
      {"goal", packing.power ? "energy" : "time"},
      {"coders", packing.coders},
      {"memory_bytes", packing.bytes()},
      {"assumed_ratio", packing.assumed_ratio == 0 ? Json(nullptr) : Json(static_cast<double>(packing.assumed_ratio) / 1000)}};
}

}  // namespace ecosort::job
