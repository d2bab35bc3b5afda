# The front door. On Debian or Ubuntu every target first installs what it needs and is missing; the
# builds themselves are CMake presets and also work without make: cmake --preset release.
.DEFAULT_GOAL := help
SHELL := /bin/bash
.SHELLFLAGS := -o pipefail -c

JOBS ?= $(shell nproc)
BOOLGRAD := build/release/boolgrad
DEMO := build/demo
# One version for everybody, because each formats a little differently.
LLVM ?= 14

BUILD_PACKAGES := g++ cmake ninja-build libhwy-dev libtbb-dev libopenblas-dev libfmt-dev libcli11-dev \
                  nlohmann-json3-dev libtomlplusplus-dev libpng-dev libgif-dev libcairo2-dev pkg-config \
                  libcadical-dev fonts-dejavu-core zlib1g-dev libgtest-dev librapidcheck-dev \
                  libvulkan-dev glslc spirv-tools
# What `boolgrad train fashion-mnist` learns from.
DATA_PACKAGES := dataset-fashion-mnist
# Programs that judge what is exported, and Vulkan on the CPU with the layers that check how it is used.
TEST_PACKAGES := gcc clang berkeley-abc iverilog yosys graphviz mesa-vulkan-drivers vulkan-validationlayers
# Ubuntu has the browser as a snap only; there the tests of pages are skipped.
ifneq ($(shell grep -x ID=ubuntu /etc/os-release 2>/dev/null),ID=ubuntu)
TEST_PACKAGES += chromium
endif
CHECK_PACKAGES := clang-format-$(LLVM) clang-tidy-$(LLVM)
BENCH_PACKAGES := python3-venv

.PHONY: help
help: ## Lists the targets
	@awk -F ':.*## ' '/^[a-z-]+:.*## / {printf "make %-10s %s\n", $$1, $$2}' $(MAKEFILE_LIST)

.PHONY: demo
demo: build ## Grows a checkerboard out of noise, then trains circuits to multiply and to add
	@echo
	@echo "A cellular automaton of 3,040 soft gates a cell learns to grow a checkerboard out of noise:"
	@$(BOOLGRAD) train checkerboard --out $(DEMO)/checkerboard
	@echo
	@echo "Its hardened rule at the size it was trained on, on a grid sixteen times as large, and with a hole:"
	@$(BOOLGRAD) run $(DEMO)/checkerboard/model.safetensors --steps 30 --gif $(DEMO)/checkerboard/grows.gif
	@$(BOOLGRAD) run $(DEMO)/checkerboard/model.safetensors --size 64x64 --steps 100 \
	  --gif $(DEMO)/checkerboard/large.gif
	@$(BOOLGRAD) run $(DEMO)/checkerboard/model.safetensors --size 32x32 --steps 100 \
	  --damage 10x10@step50 --gif $(DEMO)/checkerboard/heals.gif
	@echo
	@echo "A network of 936 soft gates learns to multiply two four-bit numbers, from all 256 cases:"
	@$(BOOLGRAD) train multiply --out $(DEMO)/multiply
	@echo
	@echo "Another learns to add; half-way a tenth of its hidden gates is switched off for good, and the"
	@echo "rest learns to do without them:"
	@$(BOOLGRAD) train add --knockout 0.1 --out $(DEMO)/add
	@echo
	@echo "Pictures, plots and models are in $(DEMO)."

# Those that the README shows.
PICTURES := grows.gif large.gif heals.gif losses.png gates.png

.PHONY: pictures
pictures: demo test-packages ## Makes the pictures of the documentation anew
	@mkdir -p docs/pictures
	@cp $(addprefix $(DEMO)/checkerboard/,$(PICTURES)) docs/pictures/
	@$(BOOLGRAD) export $(DEMO)/checkerboard/model.safetensors --format html -o $(DEMO)/checkerboard/page.html
	@chromium --headless=new --no-sandbox --disable-gpu --hide-scrollbars --window-size=1000,1150 \
	  --virtual-time-budget=1000 --screenshot=docs/pictures/page.png \
	  'file://$(CURDIR)/$(DEMO)/checkerboard/page.html#size=24x24&steps=45&damage=10x10@step40' 2>/dev/null

.PHONY: build
build: build/release/build.ninja ## Builds build/release/boolgrad and everything beside it
	@cmake --build build/release -j $(JOBS)

.PHONY: test
test: build test-packages ## Builds and runs all tests
	@ctest --preset release -j $(JOBS)

.PHONY: check
check: asan tidy formatted ## Runs the tests under sanitizers, warnings as errors, and the linters

.PHONY: asan
asan: build/asan/build.ninja test-packages
	@cmake --build build/asan -j $(JOBS)
	@ctest --preset asan -j $(JOBS)

# Reads the flags of the asan build. HWY_COMPILE_ONLY_STATIC leaves one instruction set to read in
# place of all one after the other. Some of GCC's options are unknown here.
.PHONY: tidy
tidy: build/asan/build.ninja check-packages
	@run-clang-tidy-$(LLVM) -clang-tidy-binary clang-tidy-$(LLVM) -quiet -j $(JOBS) -p build/asan \
	  -extra-arg=-DHWY_COMPILE_ONLY_STATIC -extra-arg=-Wshadow -extra-arg=-Wno-unknown-warning-option \
	  '^$(CURDIR)/(boolgrad|tests|examples|bench)/.*\.cpp$$' 2>&1 \
	  | { grep -vE '^clang-tidy|[0-9]+ warnings? (and [0-9]+ errors? )?generated|^$$' || true; }

FORMATTED := '*.h' '*.cpp' '*.cu' '*.cuh' '*.comp' '*.glsl'

.PHONY: formatted
formatted: check-packages
	@git ls-files -z --cached --others --exclude-standard -- $(FORMATTED) \
	  | xargs -0 clang-format-$(LLVM) --dry-run -Werror

.PHONY: format
format: check-packages ## Formats all sources
	@git ls-files -z --cached --others --exclude-standard -- $(FORMATTED) \
	  | xargs -0 clang-format-$(LLVM) -i

.PHONY: bench
bench: build build/bench/.ready ## Compares the ops with PyTorch; arguments in ARGS
	@build/bench/bin/python bench/ops.py $(ARGS)

.PHONY: bench-lut
bench-lut: build build/bench/.ready ## Compares a training step of 48,000 gates with PyTorch
	@build/bench/bin/python bench/lut_layer.py $(ARGS)

.PHONY: bench-lut-gpu
bench-lut-gpu: build build/bench/.ready ## Compares a training step of 384,000 gates with PyTorch on a GPU
	@build/bench/bin/python bench/lut_gpu.py $(ARGS)

.PHONY: bench-automata
bench-automata: build build/bench/.ready ## Compares training steps of automata with JAX
	@build/bench/bin/python bench/automata.py $(ARGS)

.PHONY: bench-circuit
bench-circuit: build build/bench/.ready test-packages ## Compares a hardened network with compiled C
	@build/bench/bin/python bench/circuit.py $(ARGS)

.PHONY: bench-classifiers
bench-classifiers: build build/bench/.ready ## Trains classifiers and judges them; arguments in ARGS
	@build/bench/bin/python bench/classifiers.py $(ARGS)

.PHONY: bench-geometry
bench-geometry: build build/bench/.ready ## Compares unions of disks with JAX
	@build/bench/bin/python bench/geometry.py $(ARGS)

.PHONY: study
study: build ## Measures gradients near tangencies and renews docs/studies/boundaries.md
	@python3 bench/boundaries.py $(ARGS)

.PHONY: study-convergence
study-convergence: build ## Trains automata from many seeds and renews docs/studies/convergence.md: hours on two cores
	@for part in plateau pieces penalty final; do python3 bench/convergence.py $$part $(ARGS) || exit 1; done

build/bench/.ready: bench/requirements.txt
	@$(call install,$(BENCH_PACKAGES))
	python3 -m venv build/bench
	build/bench/bin/pip install --quiet --requirement bench/requirements.txt
	@touch $@

.PHONY: clean
clean: ## Removes everything that was built
	rm -rf build

# A configured build folder re-runs CMake on its own when it has to. Only a change of the presets
# goes past it.
build/%/build.ninja: CMakePresets.json | build-packages
	@cmake --preset $*
	@touch $@

.PHONY: build-packages
build-packages:
	@$(call install,$(BUILD_PACKAGES) $(DATA_PACKAGES))

.PHONY: test-packages
test-packages:
	@$(call install,$(TEST_PACKAGES))

.PHONY: check-packages
check-packages:
	@$(call install,$(CHECK_PACKAGES))

# Installs those of the packages that are missing, without a question; with none missing it touches
# nothing. Where there is no dpkg, CMake says what it does not find.
define install
command -v dpkg-query >/dev/null || exit 0; \
missing=; \
for package in $(1); do \
  [ "$$(dpkg-query -W -f '$${db:Status-Status}' $$package 2>/dev/null)" = installed ] \
    || missing="$$missing $$package"; \
done; \
[ -n "$$missing" ] || exit 0; \
echo "Installing$$missing"; \
root=; [ "$$(id -u)" = 0 ] || root=sudo; \
apt="$$root env DEBIAN_FRONTEND=noninteractive apt-get -q -o DPkg::Lock::Timeout=300"; \
$$apt update && $$apt install -y --no-install-recommends $$missing
endef
