// How a process is called in front of the user: by its program or, where that is an interpreter,
// by the script that it runs. Pure functions; any thread.
#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace tutti::collector::session {

// |cmdline|: as /proc/PID/cmdline, arguments that end with a zero byte each.
std::vector<std::string> SplitCommandLine(std::string_view cmdline);

// "mnist_mlp" for {"build/mnist_mlp", "--steps", …}; "ddp_mnist.py" for {"python3", "-u",
// "samples/ddp_mnist.py", …}; "torch.distributed.run" for {"python", "-m", …}; "python3.11" for
// an interpreter whose script is not in its arguments ("-c", standard input). Nothing of the
// arguments but the script's own name, without its folders.
std::string ProgramName(const std::vector<std::string>& arguments);

}  // namespace tutti::collector::session
