#pragma once
/// Predictions as files: CSV, JSON Lines, or NumPy's .npz. Numbers have the shortest digits that
/// read back exactly.
///
/// CSV has a header, JSON Lines an object a sample, with these columns in this order; those in
/// brackets only where they are known. `index` counts from 0 in the order given, `sample` is the
/// file, or what the dataset calls it. Columns with `_0` come once for each number in CSV; JSON
/// Lines have a list instead.
///
///     one class a sample    index sample [label] class [class_name] probability probability_0...
///                           JSON Lines: ... "probabilities"; where the numbers are no
///                           probabilities: score, score_0..., "scores"
///     any number of labels  index sample [labels] classes [class_names] probability_0...
///                           classes: those at or above the threshold, in CSV between blanks
///     values                index sample [targets: target_0...] value_0... ("values")
///
/// .npz has arrays index i64 [N], sample (text) [N], and
///
///     one class a sample    [label i32 [N]] class i32 [N] probability [N] probabilities [N,C]
///     any number of labels  [labels u8 [N,C]] classes u8 [N,C] (0 or 1) probabilities [N,C]
///     values                [targets [N,C]] values [N,C]
///
/// with numbers in the plan's type, and where classes have names their texts as class_names [C].
/// Predictions of steps fit .npz only: of a class a step, label, class and probability are [N,T],
/// probabilities [N,T,C]. Where samples have lengths, these are lengths i32 [N], and behind them
/// numbers are 0, label and class -1.
/// Predictions that are images fit .npz only: of a class a pixel, label and class are [N,H,W],
/// probability too, and probabilities [N,C,H,W]; and these, PNG masks (mask_writer.hpp).

#include <memory>
#include <string>
#include <vector>

#include "runtime/train/predict.hpp"

namespace dtnn::runtime {

enum class PredictionFormat { csv, jsonl, npz, png };

/// The facts that a file of predictions is made of.
struct PredictionFacts {
    PredictionForm form;
    DType dtype = DType::f32;
    bool answers = false;  ///< the source knows what is right
    double threshold = 0.5;
    std::vector<std::string> class_names;  ///< as many as classes, or none
    /// The numbers that the dataset's masks have for the classes of pixels; empty: the classes
    /// themselves.
    std::vector<std::int64_t> mask_values;
};

class PredictionWriter {
  public:
    virtual ~PredictionWriter() = default;
    /// `names`: of the batch's samples.
    virtual void add(const PredictedBatch& batch, const std::vector<std::string>& names) = 0;
    /// Only now there is a file of this name.
    virtual void finish() = 0;
};

/// `path` "-" is standard output, which .npz and masks cannot be written to: a RunError (exit 2),
/// as for images in another format than .npz, or png, whose path is a folder.
std::unique_ptr<PredictionWriter> open_predictions(PredictionFormat format, const std::string& path,
                                                   PredictionFacts facts);

}  // namespace dtnn::runtime
