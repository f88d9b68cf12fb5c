// tutti completion: a script that makes the shell complete this command.
#include <memory>
#include <string>

#include "cli/completion_script.h"
#include "cli/verb.h"

namespace tutti::cli {

void AddCompletion(CLI::App& app, Invocation& invocation) {
  const auto shell = std::make_shared<std::string>();
  CLI::App* completion = app.add_subcommand(
      "completion", "Print a completion script: source <(tutti completion bash)");
  completion->add_option("shell", *shell, "bash, zsh or fish")
      ->required()
      ->check(CLI::IsMember({"bash", "zsh", "fish"}))
      ->option_text("bash|zsh|fish");
  completion->callback([&app, shell, &invocation] {
    const CompletionVerb command = DescribeForCompletion(app);
    const std::string script = *shell == "bash"  ? BashCompletion(command)
                               : *shell == "zsh" ? ZshCompletion(command)
                                                 : FishCompletion(command);
    if (const Status written = WriteOut(script); !written.ok()) invocation.Fail(written);
  });
}

}  // namespace tutti::cli
