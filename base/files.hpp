#pragma once
/// Files through descriptors, written whole or not at all (input_file.hpp reads them). Functions
/// return 0 or an errno; the caller names the path, the reason and the remedy in its own kind of
/// error.

#include <functional>
#include <string>
#include <string_view>

namespace dtnn {

/// A descriptor that closes itself. Its number is negative where opening failed.
class Descriptor {
  public:
    explicit Descriptor(int number) : number_(number) {}
    ~Descriptor();
    Descriptor(const Descriptor&) = delete;
    Descriptor& operator=(const Descriptor&) = delete;

    int number() const { return number_; }
    int release();  ///< the number, which is the caller's to close
    void reset(int number);
    int close();  ///< where an error of closing matters

  private:
    int number_;
};

/// All of the text, whatever parts the system takes at a time.
int write_all(int descriptor, std::string_view text);

/// Fills the numbers of those of standard input, output and error that are closed, so that no file
/// of the run gets one of them and the messages with it. Using a filled one is an error, as before.
void fill_standard_streams();

/// From now on standard output is for those who write to answer_descriptor(): what libraries print
/// there goes to standard error, whatever they print. Call once, before they are loaded.
int keep_answers_apart();
/// The descriptor that answers go to: standard output as the program began with it.
int answer_descriptor();
/// Whether standard output was open for writing when the program began: who closes it wants no
/// answer.
bool answer_is_wanted();

/// Flushes to the disk; nothing for pipes and devices, which have nothing to be flushed.
int flush_to_disk(int descriptor);

/// The path that a file which is written aside is renamed to: the end of a chain of links. Empty
/// where there is something that is no regular file, which must be written into as it is.
std::string place_of_file(const std::string& path);

/// Whether the path itself is a link, wherever it leads. Names that nobody gave are not written
/// through one: it may be a stranger's.
bool is_link(const std::string& path);

/// Lets `write` (0 or an errno) write into what is there and no regular file, or into a new file.
int write_into(const std::string& path, const std::function<int(int descriptor)>& write);

/// A name beside `place` that nobody can guess, so that nobody can be there first.
int name_aside(const std::string& place, std::string& name);

/// The one way in which a file is replaced: a new file of a name that nobody can guess is written,
/// flushed to the disk and renamed. A reader finds the old file or the new one, never half of one.
/// No link is followed, neither by the new file's name nor by the place's; the folder is looked up
/// once. Without put() nothing is left.
class FileAside {
  public:
    /// Makes the new file beside `place`, which place_of_file() gave where links are to be
    /// followed.
    explicit FileAside(const std::string& place, unsigned mode = 0666);
    /// Makes it in a folder that the caller keeps open; `name` is the place in it.
    FileAside(int folder, std::string name, unsigned mode);
    ~FileAside();
    FileAside(const FileAside&) = delete;
    FileAside& operator=(const FileAside&) = delete;

    int error() const { return error_; }  ///< of making it
    int descriptor() const { return file_.number(); }

    /// What can be made again need not outlive the machine's end.
    enum class Flush { to_disk, no };
    /// Flushes and closes the file, renames it to the place and flushes the folder. On failure what
    /// was there stays. Called once.
    int put(Flush flush = Flush::to_disk);

  private:
    void make(unsigned mode);

    Descriptor own_folder_;  ///< none where the folder is the caller's
    int folder_;
    std::string name_, aside_;
    Descriptor file_;
    int error_ = 0;
};

/// Lets `write` (0 or an errno) write what becomes `place`, as FileAside does it. On failure, also
/// by an exception of `write`, the old file stays.
int replace_file(const std::string& place, const std::function<int(int descriptor)>& write);

}  // namespace dtnn
