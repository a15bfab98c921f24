// Suggestions over the names that specs are written with: misspellings as people make them, and
// words that are no misspelling of anything.

#include <doctest/doctest.h>
#include <fmt/format.h>

#include <algorithm>
#include <set>
#include <string>
#include <vector>

#include "compiler/frontend/components.hpp"
#include "compiler/frontend/layers.hpp"
#include "compiler/frontend/tables.hpp"
#include "compiler/ops/op.hpp"
#include "compiler/support/diagnostics.hpp"

using namespace dtnn::compiler;

namespace {

using Words = std::vector<std::string>;

void add_names(Words& words, const FieldTable& table) {
    for (const Field& field : table)
        words.emplace_back(field.name);
}

/// What an entry of a list of layers may be: operators, blocks that are built in, repeat and if.
Words operators() {
    Diagnostics unheard;
    return entry_names(Blocks(nullptr, unheard));
}

Words fields_of(const char* name) {
    Words words;
    add_names(words, op(name).fields);
    add_names(words, layer_table());
    return words;
}

Words fields_of_kind(const char* name) {
    Words words;
    add_names(words, *find_kind(name)->fields);
    return words;
}

Words fields_of_optimizer(const char* name) {
    Words words;
    add_names(words, *optimizers().find(name)->fields);
    return words;
}

Words members(const ComponentSet& set) {
    const std::vector<std::string_view> names = set.names();
    return {names.begin(), names.end()};
}

Words fields_of_member(const ComponentSet& set, const char* name) {
    Words words;
    add_names(words, *set.find(name)->fields);
    return words;
}

Words fields_of_group() {
    Words words;
    add_names(words, any_group_table());
    return words;
}

Words choices(const FieldTable& table, const char* field) {
    const Field& found = *find_field(table, field);
    return {found.choices.begin(), found.choices.end()};
}

struct Case {
    const char* wrong;
    const char* right;
};

/// Misspellings of one closed set.
struct Set {
    const char* name;
    Words words;
    std::vector<Case> cases;
};

std::vector<Set> sets() {
    return {
        {"operators",
         operators(),
         {{"conv", "conv2d"},
          {"Conv2D", "conv2d"},
          {"conv_2d", "conv2d"},
          {"conv2", "conv2d"},
          {"conv3d", "conv2d"},
          {"conv1d", "conv2d"},
          {"cnov2d", "conv2d"},
          {"cov2d", "conv2d"},
          {"covn2d", "conv2d"},
          {"conv2s", "conv2d"},
          {"comv2d", "conv2d"},
          {"convolution2d", "conv2d"},
          {"Convolution", "conv2d"},
          {"convd2", "conv2d"},
          {"conv2d_", "conv2d"},
          {"conv2dd", "conv2d"},
          {"BatchNorm", "batch_norm"},
          {"BatchNorm2d", "batch_norm"},
          {"BatchNormalization", "batch_norm"},
          {"batch_normalisation", "batch_norm"},
          {"batchnorm", "batch_norm"},
          {"batch-norm", "batch_norm"},
          {"btach_norm", "batch_norm"},
          {"batch_nrom", "batch_norm"},
          {"bacth_norm", "batch_norm"},
          {"batch_norms", "batch_norm"},
          {"bathc_norm", "batch_norm"},
          {"batch_mnorm", "batch_norm"},
          {"norm_batch", "batch_norm"},
          {"bn", "batch_norm"},
          {"maxpool", "max_pool2d"},
          {"max_pool", "max_pool2d"},
          {"MaxPool2d", "max_pool2d"},
          {"MaxPooling2D", "max_pool2d"},
          {"maxpooling", "max_pool2d"},
          {"max_pooling2d", "max_pool2d"},
          {"max_pol2d", "max_pool2d"},
          {"max_poool2d", "max_pool2d"},
          {"mac_pool2d", "max_pool2d"},
          {"max_pool_2d", "max_pool2d"},
          {"max_ppol2d", "max_pool2d"},
          {"maximum_pooling_2d", "max_pool2d"},
          {"avgpool", "avg_pool2d"},
          {"AveragePooling2D", "avg_pool2d"},
          {"average_pool2d", "avg_pool2d"},
          {"avg_pool", "avg_pool2d"},
          {"acg_pool2d", "avg_pool2d"},
          {"mean_pool2d", "avg_pool2d"},
          {"av_pool2d", "avg_pool2d"},
          {"GlobalAveragePooling2D", "global_avg_pool2d"},
          {"global_avg_pool", "global_avg_pool2d"},
          {"global_average_pool2d", "global_avg_pool2d"},
          {"globalavgpool2d", "global_avg_pool2d"},
          {"golbal_avg_pool2d", "global_avg_pool2d"},
          {"avg_pool2d_global", "global_avg_pool2d"},
          {"gloabl_avg_pool2d", "global_avg_pool2d"},
          {"global_avgpool", "global_avg_pool2d"},
          {"gap", "global_avg_pool2d"},
          {"ReLU", "relu"},
          {"rleu", "relu"},
          {"rely", "relu"},
          {"relus", "relu"},
          {"reul", "relu"},
          {"rellu", "relu"},
          {"re_lu", "relu"},
          {"erlu", "relu"},
          {"Sigmoid", "sigmoid"},
          {"sigmod", "sigmoid"},
          {"sigmiod", "sigmoid"},
          {"sigmoind", "sigmoid"},
          {"segmoid", "sigmoid"},
          {"logistic", "sigmoid"},
          {"tahn", "tanh"},
          {"than", "tanh"},
          {"Tanh", "tanh"},
          {"softmx", "softmax"},
          {"soft_max", "softmax"},
          {"SoftMax", "softmax"},
          {"sotfmax", "softmax"},
          {"softamx", "softmax"},
          {"sofmax", "softmax"},
          {"softmaxx", "softmax"},
          {"desne", "dense"},
          {"dnse", "dense"},
          {"Dense", "dense"},
          {"dens", "dense"},
          {"densee", "dense"},
          {"dence", "dense"},
          {"linear", "dense"},
          {"Linear", "dense"},
          {"fc", "dense"},
          {"fully_connected", "dense"},
          {"dense_layer", "dense"},
          {"flaten", "flatten"},
          {"flattten", "flatten"},
          {"Flatten", "flatten"},
          {"flattern", "flatten"},
          {"faltten", "flatten"},
          {"flatte", "flatten"},
          {"drop_out", "dropout"},
          {"DropOut", "dropout"},
          {"droupout", "dropout"},
          {"dropuot", "dropout"},
          {"droppout", "dropout"},
          {"ad", "add"},
          {"Add", "add"},
          {"addd", "add"},
          {"concatenate", "concat"},
          {"Concat", "concat"},
          {"concta", "concat"},
          {"cocnat", "concat"},
          {"conact", "concat"},
          {"DepthwiseConv2D", "depthwise_conv2d"},
          {"depthwise_conv", "depthwise_conv2d"},
          {"depth_wise_conv2d", "depthwise_conv2d"},
          {"depthwise_convolution2d", "depthwise_conv2d"},
          {"dephtwise_conv2d", "depthwise_conv2d"},
          {"depthwiseconv", "depthwise_conv2d"},
          {"leakyrelu", "leaky_relu"},
          {"LeakyReLU", "leaky_relu"},
          {"leeky_relu", "leaky_relu"},
          {"lrelu", "leaky_relu"},
          {"ReLU6", "relu6"},
          {"relu_6", "relu6"},
          {"GELU", "gelu"},
          {"SiLU", "silu"},
          {"swish", "silu"},
          {"HardSwish", "hard_swish"},
          {"hardswish", "hard_swish"},
          {"hard_swich", "hard_swish"},
          {"hardsigmoid", "hard_sigmoid"},
          {"soft_plus", "softplus"},
          {"sofplus", "softplus"},
          {"logsigmoid", "log_sigmoid"},
          {"logsoftmax", "log_softmax"},
          {"LogSoftmax", "log_softmax"},
          {"atanh", "arctanh"},
          {"arctahn", "arctanh"},
          {"Identity", "identity"},
          {"identiy", "identity"},
          {"multply", "multiply"},
          {"mul", "multiply"},
          {"LayerNorm", "layer_norm"},
          {"LayerNormalization", "layer_norm"},
          {"layernorm", "layer_norm"},
          {"GroupNorm", "group_norm"},
          {"groupnorm", "group_norm"},
          {"group_normalisation", "group_norm"},
          {"LocalResponseNorm", "local_response_norm"},
          {"local_response_normalization", "local_response_norm"},
          {"lrn", "local_response_norm"},
          {"AdaptiveAvgPool2d", "adaptive_avg_pool2d"},
          {"adaptive_average_pool2d", "adaptive_avg_pool2d"},
          {"adaptive_avg_pool", "adaptive_avg_pool2d"},
          {"adaptivemaxpool2d", "adaptive_max_pool2d"},
          {"GlobalMaxPooling2D", "global_max_pool2d"},
          {"global_max_pool", "global_max_pool2d"},
          {"ZeroPadding2D", "zero_pad2d"},
          {"zero_padding", "zero_pad2d"},
          {"UpSampling2D", "upsample2d"},
          {"upsample", "upsample2d"},
          {"Upsample", "upsample2d"},
          {"ConvTranspose2d", "conv2d_transpose"},
          {"Conv2DTranspose", "conv2d_transpose"},
          {"transpose_conv2d", "conv2d_transpose"},
          {"conv_transpose", "conv2d_transpose"},
          {"deconv2d", "conv2d_transpose"},
          {"SeparableConv2D", "separable_conv2d"},
          {"seperable_conv2d", "separable_conv2d"},
          {"separable_conv", "separable_conv2d"},
          {"SqueezeExcite", "squeeze_excite"},
          {"squeeze_excitation", "squeeze_excite"},
          {"squeeze_and_excite", "squeeze_excite"},
          {"SpatialDropout2D", "spatial_dropout2d"},
          {"spatial_dropout", "spatial_dropout2d"},
          {"Reshape", "reshape"},
          {"reshpe", "reshape"},
          {"slcie", "slice"},
          {"repaet", "repeat"},
          {"loop_repeat", "repeat"}}},
        {"fields of conv2d",
         fields_of("conv2d"),
         {{"filtres", "filters"},
          {"filter", "filters"},
          {"filers", "filters"},
          {"fitlers", "filters"},
          {"filterss", "filters"},
          {"Filters", "filters"},
          {"out_channels", "filters"},
          {"num_filters", "filters"},
          {"kernal", "kernel"},
          {"kernel_size", "kernel"},
          {"kernels", "kernel"},
          {"kenrel", "kernel"},
          {"kernell", "kernel"},
          {"strides", "stride"},
          {"strid", "stride"},
          {"sride", "stride"},
          {"stirde", "stride"},
          {"pading", "padding"},
          {"paddding", "padding"},
          {"pad", "padding"},
          {"paddin", "padding"},
          {"oadding", "padding"},
          {"dilatation", "dilation"},
          {"dialtion", "dilation"},
          {"dilations", "dilation"},
          {"group", "groups"},
          {"gruops", "groups"},
          {"biass", "bias"},
          {"bais", "bias"},
          {"use_bias", "bias"},
          {"weight_initializer", "weights_initializer"},
          {"weights_initialiser", "weights_initializer"},
          {"weights_init", "weights_initializer"},
          {"kernel_initializer", "weights_initializer"},
          {"weights_intializer", "weights_initializer"},
          {"bias_init", "bias_initializer"},
          {"bias_initialiser", "bias_initializer"},
          {"frm", "from"},
          {"form", "from"},
          {"nmae", "name"},
          {"names", "name"}}},
        {"fields of dense",
         fields_of("dense"),
         {{"unit", "units"},
          {"unist", "units"},
          {"uints", "units"},
          {"out_features", "units"},
          {"neurons", "units"}}},
        {"fields of dropout",
         fields_of("dropout"),
         {{"p", "rate"}, {"rat", "rate"}, {"drop_rate", "rate"}}},
        {"fields of a training",
         fields_of_kind("training"),
         {{"batchsize", "batch_size"},
          {"batch_sise", "batch_size"},
          {"batch", "batch_size"},
          {"BatchSize", "batch_size"},
          {"bacth_size", "batch_size"},
          {"size_batch", "batch_size"},
          {"epoch", "epochs"},
          {"epcohs", "epochs"},
          {"ephocs", "epochs"},
          {"num_epochs", "epochs"},
          {"optimiser", "optimizer"},
          {"optimzer", "optimizer"},
          {"optim", "optimizer"},
          {"lossfunction", "loss"},
          {"losses", "loss"},
          {"los", "loss"},
          {"metric", "metrics"},
          {"metirc", "metrics"},
          {"validation", "validation_split"},
          {"valid_split", "validation_split"},
          {"val_split", "validation_split"},
          {"shufle", "shuffle"},
          {"shuffel", "shuffle"},
          {"sead", "seed"},
          {"random_seed", "seed"},
          {"dtpye", "dtype"},
          {"data_type", "dtype"},
          {"extend", "extends"},
          {"step_per_epoch", "steps_per_epoch"},
          {"steps", "steps_per_epoch"}}},
        {"fields of a dataset",
         fields_of_kind("dataset"),
         {{"train_sample", "train_samples"},
          {"trainsamples", "train_samples"},
          {"tests_samples", "test_samples"},
          {"samples_test", "test_samples"},
          {"shpae", "shape"},
          {"num_classes", "classes"},
          {"class", "classes"},
          {"clases", "classes"},
          {"typ", "type"},
          {"pth", "path"}}},
        {"fields of a job",
         fields_of_kind("job"),
         {{"modle", "model"},
          {"models", "model"},
          {"data_set", "dataset"},
          {"datset", "dataset"},
          {"trainig", "training"},
          {"thread", "threads"},
          {"memory", "memory_budget"},
          {"memory_bugdet", "memory_budget"}}},
        {"fields of adam",
         fields_of_optimizer("adam"),
         {{"lr", "learning_rate"},
          {"learningrate", "learning_rate"},
          {"learnig_rate", "learning_rate"},
          {"rate", "learning_rate"},
          {"leraning_rate", "learning_rate"},
          {"beta_1", "beta1"},
          {"beta_2", "beta2"},
          {"eps", "epsilon"},
          {"epsilom", "epsilon"},
          {"decay", "weight_decay"},
          {"weights_decay", "weight_decay"}}},
        {"fields of sgd",
         fields_of_optimizer("sgd"),
         {{"momentun", "momentum"},
          {"momentom", "momentum"},
          {"nestrov", "nesterov"},
          {"netserov", "nesterov"}}},
        {"optimizers",
         choices(training_table(), "optimizer"),
         {{"adan", "adam"},
          {"Adam", "adam"},
          {"asam", "adam"},
          {"SGD", "sgd"},
          {"sdg", "sgd"},
          {"adamm", "adam"}}},
        {"losses",
         choices(training_table(), "loss"),
         {{"cross_entropy", "categorical_cross_entropy"},
          {"crossentropy", "categorical_cross_entropy"},
          {"categorical_crossentropy", "categorical_cross_entropy"},
          {"CategoricalCrossentropy", "categorical_cross_entropy"},
          {"catagorical_cross_entropy", "categorical_cross_entropy"},
          {"mse", "mean_squared_error"},
          {"mean_square_error", "mean_squared_error"},
          {"squared_error", "mean_squared_error"}}},
        {"optimizers that came later",
         members(optimizers()),
         {{"RMSprop", "rmsprop"},
          {"rms_prop", "rmsprop"},
          {"rmspop", "rmsprop"},
          {"AdamW", "adamw"},
          {"adam_w", "adamw"},
          {"Nadam", "nadam"},
          {"ada_grad", "adagrad"},
          {"adagard", "adagrad"},
          {"lrs", "lars"},
          {"LAMB", "lamb"},
          {"momentum", "sgd"}}},
        {"losses that came later",
         members(losses()),
         {{"bce", "binary_cross_entropy"},
          {"binary_crossentropy", "binary_cross_entropy"},
          {"BCELoss", "binary_cross_entropy"},
          {"nll", "negative_log_likelihood"},
          {"nll_loss", "negative_log_likelihood"},
          {"negative_likelihood", "negative_log_likelihood"},
          {"mae", "mean_absolute_error"},
          {"l1", "mean_absolute_error"},
          {"kl", "kl_divergence"},
          {"kld", "kl_divergence"},
          {"kullback_leibler", "kl_divergence"},
          {"smooth_l1", "huber"},
          {"huber_loss", "huber"},
          {"hinge_loss", "hinge"},
          {"categorical_hinge", "hinge"},
          {"dice_loss", "dice"},
          {"sparse_categorical_cross_entropy", "categorical_cross_entropy"}}},
        {"metrics",
         members(metrics()),
         {{"accuracy", "categorical_accuracy"},
          {"acc", "categorical_accuracy"},
          {"catgorical_accuracy", "categorical_accuracy"},
          {"top5", "top_k_accuracy"},
          {"top_5_accuracy", "top_k_accuracy"},
          {"topk_accuracy", "top_k_accuracy"},
          {"f1_score", "f1"},
          {"auc", "roc_auc"},
          {"rocauc", "roc_auc"},
          {"precison", "precision"},
          {"recal", "recall"},
          {"confusion", "confusion_matrix"},
          {"mse", "mean_squared_error"},
          {"mae", "mean_absolute_error"}}},
        {"schedules",
         members(schedules()),
         {{"warmup", "warm_up"},
          {"warm_up_batches", "warm_up"},
          {"cosine_annealing", "cosine"},
          {"cosine_decay", "cosine"},
          {"CosineAnnealingLR", "cosine"},
          {"poly", "polynomial"},
          {"polynomial_decay", "polynomial"},
          {"exponential_decay", "exponential"},
          {"exponental", "exponential"},
          {"multi_step", "multistep"},
          {"MultiStepLR", "multistep"},
          {"step", "reduce_every_n_epochs"},
          {"step_lr", "reduce_every_n_epochs"},
          {"reduce_lr_every_nepochs", "reduce_every_n_epochs"},
          {"onecycle", "one_cycle"},
          {"OneCycleLR", "one_cycle"},
          {"reduce_lr_on_plateau", "reduce_on_plateau"},
          {"ReduceLROnPlateau", "reduce_on_plateau"},
          {"plateau", "reduce_on_plateau"},
          {"earlystopping", "early_stopping"},
          {"EarlyStopping", "early_stopping"},
          {"early_stop", "early_stopping"},
          {"stop_at_loss", "stop_at"},
          {"ModelCheckpoint", "model_checkpoint"},
          {"checkpoint", "model_checkpoint"}}},
        {"transforms",
         members(transforms()),
         {{"normalise", "normalize"},
          {"Normalize", "normalize"},
          {"normalization", "normalize"},
          {"reszie", "resize"},
          {"Resize", "resize"},
          {"center_crop", "centre_crop"},
          {"CenterCrop", "centre_crop"},
          {"grayscale", "to_gray"},
          {"greyscale", "to_gray"},
          {"to_grey", "to_gray"}}},
        {"augmentations",
         members(augmentations()),
         {{"horizontal_flip", "flip"},
          {"random_flip", "flip"},
          {"RandomHorizontalFlip", "flip"},
          {"flip_vertical", "vertical_flip"},
          {"RandomCrop", "random_crop"},
          {"randomcrop", "random_crop"},
          {"RandomResizedCrop", "random_resized_crop"},
          {"rotate", "rotation"},
          {"random_rotation", "rotation"},
          {"brigthness", "brightness"},
          {"constrast", "contrast"},
          {"saturaton", "saturation"},
          {"cut_out", "cutout"},
          {"random_erasing", "cutout"},
          {"mix_up", "mixup"}}},
        {"types of datasets",
         members(dataset_types()),
         {{"cifar", "cifar10"},
          {"CIFAR10", "cifar10"},
          {"cifar-100", "cifar100"},
          {"MNIST", "mnist"},
          {"image_folder", "folder"},
          {"ImageFolder", "folder"},
          {"ImageNet", "imagenet"},
          {"imagnet", "imagenet"},
          {"chest_xray", "chestxray"},
          {"tar", "archive"},
          {"npz", "archive"},
          {"sythetic", "synthetic"}}},
        {"fields of a parameter group",
         fields_of_group(),
         {{"params", "parameters"},
          {"parameter", "parameters"},
          {"freeze", "frozen"},
          {"forzen", "frozen"},
          {"learning_rate_factor", "learning_rate_scale"},
          {"lr_scale", "learning_rate_scale"},
          {"wieght_decay", "weight_decay"}}},
        {"fields of schedules",
         fields_of_member(schedules(), "early_stopping"),
         {{"monitor", "metric"},
          {"patiance", "patience"},
          {"restore_best_weights", "restore_best"},
          {"mode", "direction"},
          {"min_delta", "threshold"}}},
        {"kinds",
         [] {
             Words words;
             for (const KindInfo& kind : all_kinds())
                 words.emplace_back(kind.name);
             return words;
         }(),
         {{"modle", "model"},
          {"mdoel", "model"},
          {"jobs", "job"},
          {"trainning", "training"},
          {"datasets", "dataset"},
          {"Model", "model"}}},
        {"initializers",
         choices(op("conv2d").fields, "weights_initializer"),
         {{"he_unifrom", "he_uniform"},
          {"he_uniforme", "he_uniform"},
          {"HeUniform", "he_uniform"},
          {"kaiming_uniform", "he_uniform"},
          {"kaiming_normal", "he_normal"},
          {"xavier_uniform", "glorot_uniform"},
          {"xavier_normal", "glorot_normal"},
          {"glorot_unifrom", "glorot_uniform"},
          {"glorot_norml", "glorot_normal"},
          {"gloror_uniform", "glorot_uniform"},
          {"zero", "zeros"},
          {"zeroes", "zeros"},
          {"one", "ones"}}},
        {"paddings",
         {"valid", "same"},
         {{"vaild", "valid"}, {"SAME", "same"}, {"smae", "same"}, {"valud", "valid"}}},
    };
}

}  // namespace

TEST_CASE("the first suggestion for a misspelt name is right") {
    int count = 0, right = 0;
    std::string wrong;
    for (const Set& set : sets()) {
        for (const Case& one : set.cases) {
            REQUIRE_MESSAGE(
                std::find(set.words.begin(), set.words.end(), one.right) != set.words.end(),
                one.right << " is not among the " << set.name);
            REQUIRE_MESSAGE(
                std::find(set.words.begin(), set.words.end(), one.wrong) == set.words.end(),
                one.wrong << " is a name");
            const std::string said = did_you_mean(one.wrong, set.words).value_or("nothing");
            ++count;
            if (said == one.right)
                ++right;
            else
                wrong +=
                    fmt::format("\n  {}: {} for {}, not {}", set.name, said, one.wrong, one.right);
        }
    }
    INFO(count << " misspellings, wrong:" << wrong);
    CHECK_GE(count, 150);
    CHECK_GE(right * 100, count * 95);
}

TEST_CASE("nonsense gets no suggestion") {
    const char* const nonsense[] = {
        "lstm",    "gru",       "embedding",   "attention", "seq2seq",  "xyz",    "foo",
        "bar",     "qux",       "x",           "q",         "123",      "42",     "aaaaaaaa",
        "banana",  "zebra",     "qwertz",      "hello",     "world",    "python", "kubernetes",
        "blah",    "whatever",  "asdf",        "fghjk",     "___",      "-",      "wurst",
        "giraffe", "tokenizer", "beam_search", "rnnt",      "quantum",  "window", "vocabulary",
        "mpi",     "cuda",      "xyzzy",       "kiwi",      "jjjj",     "ooo",    "hidden",
        "encoder", "decoder",   "voxel",       "cluster",   "gradient", "tensor", "backbone",
        "query",   "wavelet",   "fourier",     "spline",    "monday",   "thing",  "stuff",
        "todo",    "pytorch",   "keras",       "gpu0",      "ffff",     "v2",     "final",
        "old",     "new",       "recurrent"};
    std::string wrong;
    int count = 0;
    for (const Set& set : sets())
        for (const char* word : nonsense) {
            ++count;
            if (const auto said = did_you_mean(word, set.words))
                wrong += fmt::format("\n  {}: {} for {}", set.name, *said, word);
        }
    CHECK_MESSAGE(wrong.empty(), wrong);
    CHECK_GT(count, 500);
}
