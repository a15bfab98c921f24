#include <memory>

#include "tools/command_line/command.hpp"
#include "tools/dtnnc/runtime_library.hpp"

namespace dtnn::tools {

namespace {

std::function<int()> declare_tokens(OptionList& list) {
    auto command = std::make_shared<TokensCommand>();
    list.arguments("TEXT", command->texts, "Files of text, or folders of them", true,
                   "FILE|FOLDER");
    list.text("--vocabulary", command->vocabulary,
              "tokenizer.json of Hugging Face, or ranks of tiktoken",
              {.required = true, .value = "FILE"});
    list.text("-o,--output", command->output, "File of the tokens, 16 or 32 bits each",
              {.required = true, .value = "FILE"});
    list.text("--end", command->end,
              "Token of the vocabulary that is put behind each file, such as <|endoftext|>",
              {.value = "TOKEN"});
    list.text("--pattern", command->pattern,
              "What ranks take text apart by, where their number does not say it",
              {.choices = {"gpt2", "cl100k", "o200k"}, .value = "NAME"});
    return [command] { return runtime_library().tokens(*command); };
}

const RegisteredCommand kTokensCommand(
    {.name = "tokens",
     .doc = "Makes tokens of text by a vocabulary of byte pairs, for a dataset of type tokens",
     .place = 140,
     .declare = declare_tokens,
     .purpose = Purpose::prepare,
     .exits = {{ExitCode::failed}, {ExitCode::mismatch}},
     .examples = {{"dtnnc tokens books/ --vocabulary tokenizer.json -o books.bin --end "
                   "'<|endoftext|>'",
                   "the tokens of all files in a folder, one file behind the other"}},
     .details = "Tokens that the vocabulary adds to those of its pairs are found in the text as "
                "they are. What a vocabulary asks for and is not done here is refused."});

}  // namespace

}  // namespace dtnn::tools
