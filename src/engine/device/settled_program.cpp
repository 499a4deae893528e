#include "engine/device/settled_program.hpp"

#include <map>
#include <utility>
#include <vector>

#include "engine/program/picture_parts.hpp"
#include "pipeline/measured_arguments.hpp"

namespace impipe::engine {
namespace {

// The stages of a part of a pipeline: between those that take several images.
std::pair<std::size_t, std::size_t> stages_of(const pipeline::Pipeline& pipeline, int part) {
  const auto reduces = [&](std::size_t stage) {
    const auto& call = pipeline.stages[stage].call;
    return call && pipeline::takes_several(*call);
  };
  const std::size_t count = pipeline.stages.size();
  std::size_t begin = 0, end = 0;
  for (;; begin = ++end) {
    while (end < count && !reduces(end)) ++end;
    if (part-- == 0) return {begin, end};
  }
}

// By their stages, tables that the host has made of the image.
using Tables = std::map<int, std::vector<double>>;

// The program does not make them again: the search for a page's angle is most of `deskew`.
std::shared_ptr<const Program> with_tables(std::shared_ptr<const Program> program, Tables tables) {
  if (tables.empty()) return program;
  auto known = std::make_shared<Program>(*program);
  for (PlanMeasurement& one : known->plan.measurements) {
    const auto table = tables.find(one.stage);
    if (table == tables.end() || !one.objects || !one.objects->rows) continue;
    one.objects->rows = [rows = std::move(table->second)](const Plane&, const Plane*) {
      return rows;
    };
  }
  return known;
}

}  // namespace

std::shared_ptr<const Program> settled_program(Session& session, Queue& queue,
                                               const PartInput& input, const Material& material,
                                               const ExecuteOptions& options) {
  pipeline::Pipeline settled = session.pipeline();
  const auto [begin, end] = stages_of(settled, input.part);
  const pipeline::LowerOptions how{.strict = session.is_strict(), .display = material.display};
  ExecuteOptions measuring = options;
  measuring.timed = measuring.stays = false;
  measuring.coded_output = {};
  Tables tables;
  for (std::size_t stage = begin;;) {
    stage = pipeline::first_waiting(settled, stage, end);
    if (stage == end) break;
    pipeline::MeasuringPlan plan =
        pipeline::lower_measuring(settled, begin, stage, material.image.type, input.operands, how);
    const auto program = session.made_program(plan.plan);
    const Outcome outcome = execute_in_parts(*program, material, queue, measuring);
    std::vector<std::vector<double>> measured;
    for (std::size_t i = 0; i < outcome.measurements.size(); ++i) {
      measured.push_back(outcome.measurements[i].numbers);
      const PlanMeasurement& one = plan.plan.measurements[i];
      if (input.part == 0 && one.objects && one.objects->rows) tables[one.stage] = measured.back();
    }
    std::map<std::string, pipeline::MeasuredNumbers> numbers;
    for (const auto& [name, place] : plan.places) {
      numbers.emplace(name, pipeline::numbers_at(plan.plan, place, measured));
    }
    try {
      pipeline::settle(settled, stage, numbers);
    } catch (const Error& error) {
      throw Error(error.what(), ExitCode::file_failed);
    }
  }
  return with_tables(session.program_of(settled, input.first, input.operands, material.display),
                     std::move(tables));
}

std::shared_ptr<const Program> program_for(Session& session, Queue& queue, const PartInput& input,
                                           const Material& material,
                                           const ExecuteOptions& options) {
  if (session.pipeline().has_measured_arguments()) {
    return settled_program(session, queue, input, material, options);
  }
  return session.program(input.first, input.operands, material.display, material.read.by > 1);
}

}  // namespace impipe::engine
