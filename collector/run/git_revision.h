// The git commit that a directory is checked out at, read from the repository's files.
// Never runs git: a repository's configuration can name programs to run.
#pragma once

#include <nlohmann/json_fwd.hpp>
#include <string>

namespace tutti::collector::run {

// {"commit": …, "branch": … or null}, null if |directory| is in no checkout.
nlohmann::ordered_json GitRevisionJson(const std::string& directory);

}  // namespace tutti::collector::run
