// The files of a run, from their names to their programs: what is known of each before the batch.
#pragma once

#include <optional>
#include <vector>

#include "engine/batch/image_infos.hpp"
#include "engine/batch/picture.hpp"
#include "engine/device/lanes.hpp"
#include "engine/program/work_cost.hpp"
#include "engine/progress.hpp"
#include "engine/run_options.hpp"
#include "io/files/inputs.hpp"
#include "io/files/outputs.hpp"
#include "io/files/watch.hpp"

namespace impipe::engine {

// How many files the user was told the end of counts for errors that end the run.
struct WorkList {
  std::vector<io::Input> inputs;
  std::vector<Picture> pictures;  // one an input
  std::int64_t skipped = 0;       // missing frames that are left out
  std::vector<io::InputProblem> unmatched;
  std::int64_t told = 0, told_failed = 0;
  std::int64_t retries = 0;  // headers that were read once more
  bool is_part = false;      // keep_part has left out the others
};

// The inputs of the command line and of --files-from; a source has itself. Throws Error (usage).
WorkList list_work(const RunOptions& options, const pipeline::Pipeline& pipeline,
                   const io::OutputTarget* target, Progress& progress);

// Reads the headers of all files and of their partners; one that can't be read fails alone, and is
// tried again when the reason may pass (RunOptions::retries). In a watch those that were not begun
// when it stops are left out. False when the run was stopped meanwhile, and some are not read.
[[nodiscard]] bool probe_all(WorkList& work, const RunOptions& options,
                             const std::optional<MadeImage>& source, PictureSettings& settings,
                             ThreadPool& pool, ImageInfos& infos);

// What to say of a file of `count` pages or frames (what: "page") that lacks some of --pages; empty
// where it has all.
std::string missing_pages(const RunOptions& options, std::int64_t count, const char* what);
// Says which files lack pages of --pages, the first one by its name.
void note_missing_pages(const WorkList& work, const RunOptions& options, Progress& progress);
// Says which axes of NPYs were guessed, once for each kind of guess, and which files --axes is not
// about.
void note_axes(const WorkList& work, const RunOptions& options, Progress& progress);
// Says where operators on the pages of a file get files of one page each.
void note_single_pages(const WorkList& work, const pipeline::Pipeline& pipeline,
                       Progress& progress);

// Puts DICOMs that become the pages of one file in the order of their slices, and says so where
// their names have another.
void order_slices(WorkList& work, const io::OutputTarget* target, Progress& progress);

// What the run is to compute. Pictures that the pipeline does not fit count for nothing here; the
// reason is told when they are planned.
WorkCost cost_of(const std::vector<Picture>& pictures, const pipeline::Pipeline& pipeline,
                 const RunOptions& options);

// What came into a watched folder.
WorkList work_of(std::vector<io::Arrival> arrivals);

// Sets the programs of all pictures, one for each type. When the pipeline fits no picture of a
// whole run at all, for one and the same reason, that is the pipeline's fault, and thrown; but in a
// watch others may come.
void plan_all(WorkList& work, Lanes& lanes, const RunOptions& options, Progress& progress);

// Gives the inputs their frame numbers, by their names, for --frames, and leaves those without out.
// Frames that no input has are a note, or an Error with --strict; a selection of none is an Error.
void number_frames(WorkList& work, const RunOptions& options, Progress& progress);

// Leaves the files of this part of a run (--frames, --shard), once. The same on every machine that
// lists the same files.
void keep_part(WorkList& work, const RunOptions& options);
// Whether no two results could get one name, whatever the headers of their files say: then a part
// need not read those of others.
bool names_are_apart(const WorkList& work, const io::OutputTarget* target,
                     const pipeline::Pipeline& pipeline);

}  // namespace impipe::engine
