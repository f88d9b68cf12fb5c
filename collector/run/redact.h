// What of a command line may be kept. Programs are given secrets there; a trace is
// handed around. Pure functions, any thread.
#pragma once

#include <string>
#include <vector>

namespace tutti::collector::run {

// The program, options and plain values stay; replaced by "***" are: values of options
// and assignments whose name speaks of a secret, values of other assignments
// (NAME=value before a program), user information in URLs, and anything that looks like
// a random token.
std::vector<std::string> RedactArguments(const std::vector<std::string>& argv);

}  // namespace tutti::collector::run
