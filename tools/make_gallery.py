#!/usr/bin/env python3
"""Makes the animations of docs/gallery.md: `make gallery`.

    python3 tools/make_gallery.py                 # all of them: minutes on two cores, letter-g most of them
    python3 tools/make_gallery.py heart mushroom  # some

Trains what is not yet trained in build/gallery and writes docs/pictures/*.gif. Needs gifsicle, which makes files
smaller without changing a pixel.
"""

import argparse
import pathlib
import subprocess

ROOT = pathlib.Path(__file__).resolve().parent.parent
PICTURES = ROOT / "docs/pictures"

# name: (experiment, arguments of `boolgrad run`)
ANIMATIONS = {
    "grows": ("checkerboard", "--steps 30"),
    "large": ("checkerboard", "--size 64x64 --steps 80"),
    "heals": ("checkerboard", "--size 32x32 --steps 80 --damage 10x10@step40"),
    "async": ("checkerboard-async", "--size 24x24 --steps 60"),
    "async-heals": ("checkerboard-async", "--size 24x24 --steps 90 --damage 10x10@step45"),
    "life": ("life", "--size 40x40 --steps 60"),
    "heart": ("docs/gallery/heart.toml", "--steps 8"),
    "mushroom": ("docs/gallery/mushroom.toml", "--steps 10"),
    "letter-g": ("letter-g", "--steps 15"),
}
# Animations of which only some frames are kept, because of their size: one in so many.
FRAMES = {"large": 3}


def run(*command):
    subprocess.run([str(part) for part in command], check=True, cwd=ROOT)


def frames(picture):
    info = subprocess.run(["gifsicle", "--info", str(picture)], check=True, capture_output=True, text=True).stdout
    return sum(1 for line in info.splitlines() if line.startswith("  + image"))


def make(name, boolgrad, folder):
    experiment, arguments = ANIMATIONS[name]
    model = folder / pathlib.Path(experiment).stem / "model.safetensors"
    if not model.exists():
        run(boolgrad, "train", experiment, "--out", model.parent)
    picture = PICTURES / f"{name}.gif"
    run(boolgrad, "run", model, *arguments.split(), "--gif", picture, "--quiet")
    keep = FRAMES.get(name, 1)
    if keep > 1:
        count = frames(picture)
        chosen = [f"#{i}" for i in range(count) if i % keep == 0 or i == count - 1]
        run("gifsicle", "--batch", "--unoptimize", picture, *chosen)
    run("gifsicle", "--batch", "-O3", picture)
    print(f"{picture.relative_to(ROOT)}: {picture.stat().st_size // 1000} kB")


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("names", nargs="*", help=", ".join(ANIMATIONS))
    parser.add_argument("--boolgrad", type=pathlib.Path, default=ROOT / "build/release/boolgrad")
    parser.add_argument("--models", type=pathlib.Path, default=ROOT / "build/gallery", help="folder of the trained models")
    options = parser.parse_args()
    unknown = sorted(set(options.names) - set(ANIMATIONS))
    if unknown:
        raise SystemExit(f"expected names out of {', '.join(ANIMATIONS)}, received {', '.join(unknown)}")
    for name in options.names or ANIMATIONS:
        make(name, options.boolgrad.resolve(), options.models.resolve())


if __name__ == "__main__":
    main()
