#!/bin/bash
# rank_env.sh COMMAND...: runs COMMAND with the variables that PyTorch's env:// rendezvous reads,
# made of those that mpirun (Open MPI, MPICH, Intel MPI) or srun set. Those that are there already
# stay as they are. MASTER_ADDR has to be given where ranks are on several machines.
set -euo pipefail

# first NAME VARIABLE...: value of the first that is set.
first() {
  local name=$1 variable
  shift
  for variable; do
    [ -z "${!variable:-}" ] || { echo "${!variable}"; return; }
  done
  echo "rank_env.sh: no launcher says $name ($*)" >&2
  exit 2
}

RANK=$(first RANK RANK OMPI_COMM_WORLD_RANK PMIX_RANK PMI_RANK SLURM_PROCID)
WORLD_SIZE=$(first WORLD_SIZE WORLD_SIZE OMPI_COMM_WORLD_SIZE PMIX_SIZE PMI_SIZE \
  SLURM_STEP_NUM_TASKS)
LOCAL_RANK=$(first LOCAL_RANK LOCAL_RANK OMPI_COMM_WORLD_LOCAL_RANK PMIX_LOCAL_RANK \
  MPI_LOCALRANKID SLURM_LOCALID)
export RANK WORLD_SIZE LOCAL_RANK
export MASTER_ADDR=${MASTER_ADDR:-127.0.0.1} MASTER_PORT=${MASTER_PORT:-29500}
exec "$@"
