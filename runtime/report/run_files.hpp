#pragma once
/// The files that runs and reports write in a run's folder, of which the folder may hold others.

#include <string>

namespace dtnn::runtime {

/// Refuses a path that is a link (RunError, failed), for names that the program has chosen itself.
void refuse_link(const std::string& path);

/// Refuses a folder that has a link where a run or a report writes: a folder may be a stranger's,
/// and what its links lead to would be overwritten. A RunError (failed). A folder that is not there
/// has none, and may itself be reached by links.
void refuse_links(const std::string& run_folder);

/// Removes what a run has written, but for plan and history, which the next one writes over. A file
/// of others among checkpoints and the like is a RunError (failed), before anything is removed;
/// files of others beside them stay.
void remove_run(const std::string& run_folder);

/// Removes what a process that was killed had begun to write aside. Only while the run's history is
/// locked, so that nobody else writes.
void remove_half_written(const std::string& run_folder);

}  // namespace dtnn::runtime
