#pragma once
/// Samples as a picture.

#include <string>

#include "plan/plan.hpp"
#include "runtime/data/sample_source.hpp"

namespace dtnn::tools {

struct SheetSize {
    int rows = 8;     ///< training samples, drawn by the seed
    int columns = 8;  ///< first the sample as evaluation sees it, then as the first epochs do
};

/// A PNG of training samples behind transforms and augmentations, before normalize and mixup, with
/// their labels and numbers beside them; without augmentations there is one column. Where every
/// pixel has a class, the mask stands below its sample, and what its colours mean at the foot.
/// Small samples are enlarged by a whole factor. Of one channel gray, of three in colours, else the
/// first channel.
std::string contact_sheet(const runtime::SampleSource& source, const plan::Plan& plan,
                          const SheetSize& size);

}  // namespace dtnn::tools
