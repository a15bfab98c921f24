#pragma once
/// Folders that appear, are replaced and disappear as a whole. Functions return 0 or an errno, as
/// those of files.hpp.

#include <string>
#include <string_view>
#include <vector>

namespace dtnn {

/// Flushes the folder's list of names to the disk, where the file system can be asked to. The empty
/// path is the current folder.
int flush_folder(const std::string& path);

/// The ending that put_folder adds to the name of `aside` for the old folder, where it cannot
/// exchange the two at once: a process that is killed just then leaves the whole old one under this
/// name.
inline constexpr std::string_view kMovedAway = ".old";

/// Moves the folder `aside`, whose files have been flushed, to `place` beside it, in place of the
/// folder that may be there, and flushes the folder above. At every moment `place` is the old
/// folder or the new one; where the file system cannot exchange two folders at once, for a moment
/// there is none.
int put_folder(const std::string& aside, const std::string& place);

/// Removes the folder with everything in it. False, and no error, when that fails.
bool remove_folder(const std::string& path);

/// Names in a folder, sorted; none when it cannot be read.
std::vector<std::string> names_in(const std::string& folder);

/// A folder that is filled aside, under a name that nobody can guess, and takes its name when it is
/// complete. Without put() nothing is left.
class FolderAside {
  public:
    /// Makes the folder beside `place`, whose slashes at the end do not count.
    explicit FolderAside(std::string place);
    ~FolderAside();
    FolderAside(const FolderAside&) = delete;
    FolderAside& operator=(const FolderAside&) = delete;

    int error() const { return error_; }  ///< of making it
    const std::string& place() const { return place_; }
    const std::string& path() const { return aside_; }  ///< what is filled

    /// ENOTEMPTY where a folder with something in it is at the place and is to be kept.
    enum class Existing { kept, replaced };
    int put(Existing existing);

  private:
    std::string place_, aside_;
    int error_ = 0;
};

}  // namespace dtnn
