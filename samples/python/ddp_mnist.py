#!/usr/bin/env python3
"""Trains a perceptron on handwritten digits with DistributedDataParallel.

An ordinary PyTorch program that knows nothing of Tutti; README.md shows how to record it.

    torchrun --nproc-per-node 2 samples/python/ddp_mnist.py
"""
import argparse
import gc
import itertools
import os
import pathlib
import struct
import sys

import torch
import torch.distributed as dist
from torch import nn
from torch.nn.parallel import DistributedDataParallel
from torch.utils.data import DataLoader, TensorDataset
from torch.utils.data.distributed import DistributedSampler

MNIST_MEAN, MNIST_DEVIATION = 0.1307, 0.3081


def parse_arguments():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--epochs", type=int, default=5)
    parser.add_argument("--steps", type=int, help="train this many steps, whatever --epochs says")
    parser.add_argument("--workers", type=int, default=2, help="processes of the data loader")
    parser.add_argument("--data", help="folder with MNIST's uncompressed IDX files")
    return parser.parse_args()


def read_idx(path, magic):
    """Returns the sizes and the bytes of an IDX file with one-byte values."""
    content = bytearray(pathlib.Path(path).read_bytes())
    if len(content) < 4 or struct.unpack_from(">I", content)[0] != magic:
        raise SystemExit(f"{path}: not an uncompressed IDX file of the expected kind")
    dimensions = magic & 0xFF
    sizes = struct.unpack_from(f">{dimensions}I", content, 4)
    return torch.frombuffer(content, dtype=torch.uint8, offset=4 + 4 * dimensions).view(sizes)


def load_mnist(folder):
    images = read_idx(pathlib.Path(folder, "train-images-idx3-ubyte"), 0x803)
    labels = read_idx(pathlib.Path(folder, "train-labels-idx1-ubyte"), 0x801)
    return images.float() / 255, labels.long(), f"{len(labels)} MNIST images from {folder}"


def load_digits(path):
    """The UCI digits: 64 pixels of 0 to 16 and the label a line."""
    rows = [[int(value) for value in line.split(",")] for line in path.read_text().splitlines()]
    table = torch.tensor(rows)
    small = table[:, :64].float().view(-1, 1, 8, 8) / 16
    images = nn.functional.interpolate(small, size=(28, 28), mode="bilinear").squeeze(1)
    return images, table[:, 64], f"{len(rows)} UCI handwritten digits, upscaled, from {path}"


def generate_images(count=2048):
    random = torch.Generator().manual_seed(1)
    labels = torch.randint(10, (count,), generator=random)
    patterns = (torch.rand(10, 28, 28, generator=random) < 0.25).float() * 0.8
    images = patterns[labels] + 0.2 * torch.rand(count, 28, 28, generator=random)
    return images, labels, f"{count} generated images (neither MNIST nor digits given)"


def load_images(folder):
    """Images of 28 x 28 in 0..1, labels, and what they are."""
    if folder:
        return load_mnist(folder)
    base = os.environ.get("XDG_CACHE_HOME") or pathlib.Path.home() / ".cache"
    cache = os.environ.get("TUTTI_CACHE") or pathlib.Path(base, "tutti")
    digits = pathlib.Path(cache, "data", "digits.csv")
    return load_digits(digits) if digits.exists() else generate_images()


def train(model, loader, sampler, device, epochs, steps):
    """Returns the loss of each step of this rank."""
    loss_function = nn.CrossEntropyLoss()
    optimizer = torch.optim.SGD(model.parameters(), lr=0.01)
    losses = []
    for epoch in itertools.count() if steps else range(epochs):
        sampler.set_epoch(epoch)
        for images, labels in loader:
            optimizer.zero_grad()
            loss = loss_function(model(images.to(device)), labels.to(device))
            loss.backward()
            optimizer.step()
            losses.append(loss.item())
            if steps and len(losses) == steps:
                return losses
        if dist.get_rank() == 0:
            print(f"epoch {epoch}  step {len(losses)}  loss {losses[-1]:.4f}", flush=True)
    return losses


def parameters_are_equal(model, device):
    """Compares the bits of all parameters over all ranks."""
    flat = torch.cat([parameter.detach().flatten() for parameter in model.parameters()])
    gathered = [torch.empty_like(flat) for _ in range(dist.get_world_size())]
    dist.all_gather(gathered, flat.to(device))
    return all(torch.equal(gathered[0], other) for other in gathered[1:])


def train_and_compare(options, device):
    """The whole job; whether all ranks end with equal parameters."""
    images, labels, description = load_images(options.data)
    pixels = (images.flatten(1) - MNIST_MEAN) / MNIST_DEVIATION
    dataset = TensorDataset(pixels, labels)
    sampler = DistributedSampler(dataset)
    loader = DataLoader(dataset, batch_size=64, sampler=sampler, num_workers=options.workers)
    model = nn.Sequential(nn.Linear(784, 512), nn.ReLU(), nn.Linear(512, 10)).to(device)
    model = DistributedDataParallel(model)

    if dist.get_rank() == 0:
        world = f"{dist.get_world_size()} ranks, {dist.get_backend()}"
        print(f"{world}; data: {description}", flush=True)
    losses = train(model, loader, sampler, device, options.epochs, options.steps)
    equal = parameters_are_equal(model, device)
    if dist.get_rank() == 0:
        print(f"{len(losses)} steps, loss {losses[0]:.4f} -> {losses[-1]:.4f}")
        print("parameters equal on all ranks" if equal else "parameters DIFFER")
    return equal


def main():
    options = parse_arguments()
    # Alone, without torchrun, this is a job of one rank.
    for name, value in [("RANK", "0"), ("WORLD_SIZE", "1"), ("LOCAL_RANK", "0")]:
        os.environ.setdefault(name, value)
    os.environ.setdefault("MASTER_ADDR", "127.0.0.1")
    os.environ.setdefault("MASTER_PORT", "29500")
    if int(os.environ["WORLD_SIZE"]) > 1 and "OMP_NUM_THREADS" not in os.environ:
        torch.set_num_threads(1)  # ranks share the cores, as torchrun too assumes

    device = torch.device("cpu")
    if torch.cuda.is_available():
        device = torch.device("cuda", int(os.environ["LOCAL_RANK"]))
        torch.cuda.set_device(device)
    dist.init_process_group("nccl" if device.type == "cuda" else "gloo")
    torch.manual_seed(1)

    equal = train_and_compare(options, device)
    gc.collect()  # the wrapped model, which holds the process group
    dist.destroy_process_group()
    # Not the interpreter's way out: there PyTorch 2.11 now and then finds a thread of its own
    # still running and aborts ("terminate called without an active exception").
    sys.stdout.flush()
    os._exit(0 if equal else 1)


if __name__ == "__main__":
    main()
