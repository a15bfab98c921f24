#pragma once
/// Notes that ranks leave for the process that has started them (start_job.hpp): a file of lines,
/// whose path is in the environment. The launcher between them hands on no more than an exit code,
/// and after a signal not even that: Hydra may then end with 0 although all ranks ended with 75.
///
/// Only ranks of that process's host can leave notes; where there are none, less is told.

#include <optional>
#include <string>

namespace dtnn {

/// The notes that were left.
struct Notes {
    bool begun = false;       ///< all ranks have joined: signals reach them and are answered
    std::optional<int> code;  ///< rank 0's exit code
    std::string run;          ///< the run's folder, once it is there
    std::string killed;       ///< which rank a signal has killed, and which: the first
    std::string watcher;      ///< that the parent which watched a rank was killed: the first
    std::string error;        ///< why the first rank that has ended itself did so
};

/// The file, for the process that reads it. Removed with the object.
class NotesFile {
  public:
    /// Without a place for it (TMPDIR, /tmp) there are no notes.
    NotesFile();
    ~NotesFile();
    NotesFile(const NotesFile&) = delete;
    NotesFile& operator=(const NotesFile&) = delete;

    void clear() const;
    Notes read() const;
    /// Waits until no rank holds it any more; whether that was so within the time.
    bool released_within(double seconds) const;

  private:
    std::string path_;  ///< empty: there is no file
};

/// Adds a line; `key` is the name of a member of Notes. Does nothing where nobody asked for notes.
void leave_note(const std::string& key, const std::string& value);

/// The file, open for a line to be added by write(2), or -1.
int open_notes();

/// From now on until this process and its children are gone, however that comes about,
/// `released_within` waits. Once in the life of a process.
void hold_notes();

}  // namespace dtnn
