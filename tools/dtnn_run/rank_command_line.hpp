#pragma once
/// The words of a command line, as other processes get them, and as ranks hold them against each
/// other's.

#include <string>

#include "tools/command_line/option_list.hpp"
#include "tools/dtnn_run/commands.hpp"

namespace dtnn {

/// The command, and those of its options on which depends what ranks do together; of files only
/// whether they are given: ranks may find them at different places. What rank 0 alone writes and
/// shows is its own.
std::string shared_words(const std::string& command, const tools::OptionList& list);

/// Starts several ranks, or new tries, where the options ask for them, and ends with the code of
/// the ranks, or of the one that may be started again. Returns where they do not.
void start_job_if_asked(const std::string& command, const tools::OptionList& list,
                        const Options& options);

/// Standard input is read by one process: where several were started, SharedRunError (exit 2).
void require_own_input();

/// Throws SharedRunError (exit 2) for work that ranks do not share: every rank would do it, into
/// the same file.
void require_one_process(const std::string& command);

}  // namespace dtnn
