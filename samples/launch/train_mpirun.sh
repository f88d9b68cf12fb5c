#!/bin/bash
# train_mpirun.sh RANKS RUN COMMAND...: one rank a process of Open MPI, each under a recorder of its
# own, all into one run. With a hostfile (OMPI_MCA_orte_default_hostfile) RUN has to be on a file
# system that the hosts share.
set -euo pipefail

here=$(dirname "$(readlink -f "$0")")
ranks=$1 run=$2
shift 2
MASTER_ADDR=${MASTER_ADDR:-$(hostname)} MASTER_PORT=${MASTER_PORT:-29500}
export MASTER_ADDR MASTER_PORT

mpirun -np "$ranks" -x MASTER_ADDR -x MASTER_PORT \
  tutti record -o "$run" -- "$here/rank_env.sh" "$@"
