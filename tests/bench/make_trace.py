#!/usr/bin/env python3
"""make_trace.py PATH BYTES [RANK WORLD_SIZE]: a trace as PyTorch's profiler writes it, of any size.

Steps of a transformer: operators with sequence numbers, launches, kernels with geometry,
collectives with their metadata, and the arrows between, with the arguments of real traces (some
280 bytes an event). The same arguments give the same file.
"""
import sys

LAYERS = 24
LAYER_US = 4_000
STEP_US = LAYERS * LAYER_US + 2_000
OPS = ("aten::linear", "aten::addmm", "aten::layer_norm", "aten::native_layer_norm", "aten::gelu",
       "aten::scaled_dot_product_attention", "aten::_flash_attention_forward", "aten::add_",
       "aten::copy_", "autograd::engine::evaluate_function: AddmmBackward0", "AddmmBackward0",
       "aten::mm")
KERNELS = ("ampere_bf16_s16816gemm_bf16_128x128_ldg8_f2f_stages_32x5_tn",
           "void at::native::(anonymous namespace)::vectorized_layer_norm_kernel<c10::BFloat16, "
           "float>(int, float, c10::BFloat16 const*, c10::BFloat16 const*, float*)",
           "void at::native::vectorized_elementwise_kernel<4, at::native::GeluCUDAKernelImpl("
           "at::TensorIteratorBase&, at::native::GeluType)::{lambda()#2}, at::detail::Array<char*, "
           "2> >(int, at::detail::Array<char*, 2>)",
           "void pytorch_flash::flash_fwd_kernel<pytorch_flash::Flash_fwd_kernel_traits<64, 128>>")
NCCL = "ncclDevKernel_AllReduce_Sum_bf16_RING_LL(ncclDevKernelArgsStorage<4096ul>)"

OP = ('{"ph": "X", "cat": "cpu_op", "name": "%s", "pid": 4000, "tid": 4000, "ts": %%d.%03d, '
      '"dur": %d.%03d, "args": {"External id": %%d, "Record function id": 0, "Sequence number": '
      '%%d, "Fwd thread id": 0, "Ev Idx": %%d, "Concrete Inputs": ["", "", ""], "Input type": '
      '["c10::BFloat16", "c10::BFloat16"], "Input Dims": [[%d, 1024], [1024, 1024]]}}')
LAUNCH = ('{"ph": "X", "cat": "cuda_runtime", "name": "cudaLaunchKernel", "pid": 4000, "tid": '
          '4000, "ts": %%d.%03d, "dur": 5.125, "args": {"External id": %%d, "cbid": 211, '
          '"correlation": %%d}}')
KERNEL = ('{"ph": "X", "cat": "kernel", "name": "%s", "pid": 0, "tid": %d, "ts": %%d.%03d, '
          '"dur": %d.%03d, "args": {"External id": %%d, "queued": 0, "device": 0, "context": 1, '
          '"stream": %d, "correlation": %%d, "registers per thread": 122, "shared memory": 49152, '
          '"blocks per SM": 4.740741, "warps per SM": 37.925926, "grid": [128, 4, 1], "block": '
          '[256, 1, 1], "est. achieved occupancy %%%%": 38%s}}')
ARROW = ('{"ph": "%s", "id": %%d, "pid": %d, "tid": %d, "ts": %%d.%03d, "cat": "ac2g", "name": '
         '"ac2g"%s}')
COMM = (', "Collective name": "allreduce", "In msg nelems": 1048576, "Out msg nelems": 1048576, '
        '"Group size": %d, "dtype": "BFloat16", "Process Group Name": "0", "Process Group '
        'Description": "default_pg", "Process Group Ranks": "%s"')


def layer_events(rank, world):
    """(template, its numbers as functions of time in us and of the first free id)."""
    comm = COMM % (world, list(range(world)))
    events = []
    for number, op in enumerate(OPS):
        at = 20 + number * 300
        events.append((OP % (op, 7 * number, 250, 3 * number, 512 + number),
                       lambda us, id_, at=at, n=number: (us + at, id_ + n, id_ + n, id_ + n)))
        if number % 2 == 1:
            continue
        is_comm = number == 10
        stream = 20 if is_comm else 7
        name = NCCL if is_comm else KERNELS[number // 2 % len(KERNELS)]
        events.append((LAUNCH % number,
                       lambda us, id_, at=at, n=number: (us + at + 30, id_ + n, id_ + n)))
        events.append((ARROW % ("s", 4000, 4000, number, ""),
                       lambda us, id_, at=at, n=number: (id_ + n, us + at + 30)))
        duration = 900 - 40 * rank if is_comm else 280 + 4 * rank
        events.append((KERNEL % (name, stream, number, duration, 5 * number, stream,
                                 comm if is_comm else ""),
                       lambda us, id_, at=at, n=number: (us + at + 350, id_ + n, id_ + n)))
        events.append((ARROW % ("f", 0, stream, number, ', "bp": "e"'),
                       lambda us, id_, at=at, n=number: (id_ + n, us + at + 350)))
    return events


def write_trace(path, byte_count, rank=0, world=2):
    layer = layer_events(rank, world)
    text = ",\n".join(template for template, _ in layer)
    numbers = [number for _, number in layer]
    step_text = ('{"ph": "X", "cat": "user_annotation", "name": "ProfilerStep#%d", "pid": 4000, '
                 '"tid": 4000, "ts": %d.000, "dur": %d.000, "args": {"External id": %d}}')
    written = 0
    with open(path, "w", encoding="ascii") as out:
        written += out.write(
            '{\n"schemaVersion": 1,\n"distributedInfo": {"backend": "nccl", "rank": %d, '
            '"world_size": %d},\n"deviceProperties": [{"id": 0, "name": "NVIDIA H100 80GB HBM3", '
            '"totalGlobalMem": 85028503552, "computeMajor": 9, "computeMinor": 0, '
            '"numSms": 132}],\n'
            '"baseTimeNanoseconds": 1700000000000000000,\n"traceEvents": [\n'
            '{"ph": "M", "name": "process_name", "pid": 4000, "tid": 0, "ts": 0, "args": '
            '{"name": "python"}}' % (rank, world))
        step = 0
        id_ = 1
        while written < byte_count:
            begin = 1_000_000 + step * STEP_US
            written += out.write(",\n" + step_text % (step, begin, STEP_US - 500, id_))
            id_ += 1
            for at in range(LAYERS):
                values = [v for number in numbers for v in number(begin + at * LAYER_US, id_)]
                written += out.write(",\n" + text % tuple(values))
                id_ += len(OPS)
            step += 1
        out.write("\n]}\n")


if __name__ == "__main__":
    write_trace(sys.argv[1], int(float(sys.argv[2])), *map(int, sys.argv[3:5]))
