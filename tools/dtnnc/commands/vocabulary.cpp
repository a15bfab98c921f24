#include <memory>

#include "tools/command_line/command.hpp"
#include "tools/dtnnc/runtime_library.hpp"

namespace dtnn::tools {

namespace {

std::function<int()> declare_vocabulary(OptionList& list) {
    auto command = std::make_shared<VocabularyCommand>();
    command->size = 8192;
    list.arguments("TEXT", command->texts, "Files of text, or folders of them", true,
                   "FILE|FOLDER");
    list.number("--size", command->size, "Tokens that it has at most, those of the 256 bytes too",
                {.lowest = 256, .highest = 1 << 24, .shows_default = true});
    list.number("--least", command->least,
                "Places in which two tokens stand together at least that become one",
                {.lowest = 1, .shows_default = true});
    list.list("--add", command->added,
              "Token that is no text of its own, such as <|endoftext|>, which is there anyway",
              {.value = "TOKEN"});
    list.text("-o,--output", command->output, "File of the vocabulary",
              {.shows_default = true, .value = "FILE"});
    return [command] {
        command->added.insert(command->added.begin(), "<|endoftext|>");
        return runtime_library().vocabulary(*command);
    };
}

const RegisteredCommand kVocabularyCommand(
    {.name = "vocabulary",
     .doc = "Learns a vocabulary of byte pairs from text, for dtnnc tokens",
     .place = 135,
     .declare = declare_vocabulary,
     .purpose = Purpose::prepare,
     .exits = {{ExitCode::failed}, {ExitCode::mismatch}},
     .examples = {{"dtnnc vocabulary books/ --size 8192 -o tokenizer.json",
                   "8192 tokens, out of all files in a folder"}},
     .details = "Text is taken apart as GPT-2's is. The file is a tokenizer.json of Hugging Face's "
                "tokenizers, which read it, too."});

}  // namespace

}  // namespace dtnn::tools
