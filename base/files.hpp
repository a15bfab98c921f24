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
    int close();    ///< where an error of closing matters

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

/// Flushes to the disk; nothing for pipes and devices, which have nothing to be flushed.
int flush_to_disk(int descriptor);

/// Flushes a folder, so that new names in it are safe; not every file system can be asked, so there
/// is no error. The empty path is the current folder.
void flush_folder_of(const std::string& path);

/// The path that a file which is written aside is renamed to: the end of a chain of links. Empty
/// where there is something that is no regular file, which must be written into as it is.
std::string place_of_file(const std::string& path);

/// Lets `write` (0 or an errno) write into what is there and no regular file, or into a new file.
int write_into(const std::string& path, const std::function<int(int descriptor)>& write);

/// Lets `write` (0 or an errno) write a new file `place` + `suffix`, flushes it to the disk and
/// renames it to `place`: a reader finds the old file or the new one, never half of one. On
/// failure, also by an exception of `write`, the old file stays and nothing is left aside. `place`
/// is what place_of_file() gave.
int replace_file(const std::string& place, const std::string& suffix,
                 const std::function<int(int descriptor)>& write);

}  // namespace dtnn
