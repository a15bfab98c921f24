#pragma once
/// Folders that appear, are replaced and disappear as a whole.

#include <string>
#include <string_view>
#include <vector>

namespace dtnn::runtime {

/// What put_folder adds to the name of `aside` for the old folder, where it cannot exchange the two
/// at once: a process that is killed just then leaves the whole old one under this name.
inline constexpr std::string_view kMovedAway = ".old";

/// Moves the folder `aside`, whose files have been flushed, to `place` beside it, in place of the
/// folder that may be there, and flushes the folder above. At every moment `place` is the old
/// folder or the new one; where the file system cannot exchange two folders at once, for a moment
/// there is none. Failures are RunErrors.
void put_folder(const std::string& aside, const std::string& place);

/// Removes the folder with everything in it. False, and no error, when that fails.
bool remove_folder(const std::string& path);

/// Names in a folder, sorted; none when it cannot be read.
std::vector<std::string> names_in(const std::string& folder);

/// Flushes the folder's list of names to the disk, where the file system can be asked to.
void flush_folder(const std::string& path);

}  // namespace dtnn::runtime
