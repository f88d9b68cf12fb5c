/* Calls the real libnccl (argv[1]) as far as it goes without a GPU: a collective on no
 * communicator, which fails, but not before it was announced through NVTX. */
#include <dlfcn.h>
#include <stddef.h>
#include <stdio.h>

int main(int argc, char** argv) {
  void* nccl = argc == 2 ? dlopen(argv[1], RTLD_NOW) : NULL;
  int (*group_start)(void);
  int (*group_end)(void);
  int (*all_reduce)(const void*, void*, size_t, int, int, void*, void*);
  if (nccl == NULL) {
    fprintf(stderr, "%s\n", dlerror());
    return 1;
  }
  *(void**)&group_start = dlsym(nccl, "ncclGroupStart");
  *(void**)&group_end = dlsym(nccl, "ncclGroupEnd");
  *(void**)&all_reduce = dlsym(nccl, "ncclAllReduce");
  group_start();
  all_reduce(NULL, NULL, 1024, 7 /* ncclFloat32 */, 0 /* ncclSum */, NULL, NULL);
  group_end();
  return 0;
}
