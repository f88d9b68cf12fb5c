// Bytes of any length from one MPI process to another. Who waits sleeps: the leader works long by
// itself, perhaps on the same cores. Failures end the job (MPI's own handler).
#pragma once

#include <cstddef>
#include <string>

namespace tutti::analyzer::mpi {

void Send(size_t to, const std::string& bytes);
// What comes next from there.
std::string Receive(size_t from);

}  // namespace tutti::analyzer::mpi
