#!/usr/bin/env python3
"""Scores of convolutional networks for distillation, as an NPY file for `training.teacher`: [training images, classes].

Every image is scored by networks that were not trained on it: the training images are split into folds, and one network per
fold is trained on the others. The test images are not read.

  bench/teacher.py --data DIR --save scores.npy --device cuda
  boolgrad train mnist-s --data DIR --set training.teacher=scores.npy
"""
import argparse
import gzip
import pathlib

import numpy
import torch
from torch import nn
from torch.nn import functional

BATCH = 256
CLASSES = 10


def read_idx(folder, name):
    """A file of the data set, plain or compressed, as an array of bytes."""
    path = pathlib.Path(folder) / name
    content = path.read_bytes() if path.exists() else gzip.decompress(path.with_name(name + ".gz").read_bytes())
    shape = [int.from_bytes(content[4 + 4 * i:8 + 4 * i], "big") for i in range(content[3])]
    return numpy.frombuffer(content, dtype=numpy.uint8, offset=4 + 4 * len(shape)).reshape(shape)


def block(inputs, outputs):
    return [nn.Conv2d(inputs, outputs, 3, padding=1, bias=False), nn.BatchNorm2d(outputs), nn.ReLU()]


def network(width):
    return nn.Sequential(*block(1, width), *block(width, width), nn.MaxPool2d(2), *block(width, 2 * width),
                         *block(2 * width, 2 * width), nn.MaxPool2d(2), *block(2 * width, 4 * width),
                         nn.AdaptiveAvgPool2d(1), nn.Flatten(), nn.Dropout(0.2), nn.Linear(4 * width, CLASSES))


def changed(images, degrees, scale, shift, flip):
    """Randomly rotated, scaled, shifted and mirrored images."""
    count, device = len(images), images.device
    angle = (torch.rand(count, device=device) * 2 - 1) * degrees * torch.pi / 180
    size = torch.exp((torch.rand(count, device=device) * 2 - 1) * numpy.log(1 + scale))
    moved = (torch.rand(count, 2, device=device) * 2 - 1) * 2 * shift / images.shape[-1]
    sign = torch.where(torch.rand(count, device=device) < 0.5, -1.0, 1.0) if flip else torch.ones(count, device=device)
    cos, sin = torch.cos(angle) * size, torch.sin(angle) * size
    matrix = torch.stack([torch.stack([cos * sign, -sin, moved[:, 0]], 1),
                          torch.stack([sin * sign, cos, moved[:, 1]], 1)], 1)
    grid = functional.affine_grid(matrix, list(images.shape), align_corners=False)
    return functional.grid_sample(images, grid, align_corners=False)


def scores_of(model, images):
    model.eval()
    with torch.no_grad():
        return torch.cat([model(part).float() for part in images.split(2048)])


def train(images, labels, options):
    model = network(options.width).to(options.device)
    steps = options.epochs * (len(images) // BATCH)
    optimiser = torch.optim.AdamW(model.parameters(), lr=3e-3, weight_decay=0.05)
    schedule = torch.optim.lr_scheduler.OneCycleLR(optimiser, 3e-3, total_steps=steps)
    step = 0
    while step < steps:
        for chosen in torch.randperm(len(images), device=options.device).split(BATCH):
            if len(chosen) < BATCH or step == steps:
                continue
            x = changed(images[chosen], 10, 0.1, 2, options.flip)
            loss = functional.cross_entropy(model.train()(x), labels[chosen])
            optimiser.zero_grad(set_to_none=True)
            loss.backward()
            optimiser.step()
            schedule.step()
            step += 1
    return model


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--data", required=True, help="folder of the IDX files")
    parser.add_argument("--save", required=True, help="the NPY file")
    parser.add_argument("--device", default="cpu")
    parser.add_argument("--folds", type=int, default=3)
    parser.add_argument("--epochs", type=int, default=20)
    parser.add_argument("--width", type=int, default=48, help="channels of the first convolution")
    parser.add_argument("--flip", action="store_true", help="mirror images, as for clothes")
    options = parser.parse_args()
    torch.manual_seed(1)
    images = torch.tensor(read_idx(options.data, "train-images-idx3-ubyte"), dtype=torch.float32) / 255
    images = images.unsqueeze(1).to(options.device)
    labels = torch.tensor(read_idx(options.data, "train-labels-idx1-ubyte"), dtype=torch.int64).to(options.device)
    fold = torch.randperm(len(images)).to(options.device) % options.folds
    scores = torch.empty(len(images), CLASSES, device=options.device)
    for i in range(options.folds):
        scores[fold == i] = scores_of(train(images[fold != i], labels[fold != i], options), images[fold == i])
    right = (scores.argmax(1) == labels).float().mean().item()
    print(f"{100 * right:.2f} % of the training images, by networks that were not trained on them")
    numpy.save(options.save, scores.cpu().numpy())


if __name__ == "__main__":
    main()
