# Shortcuts. On Debian or Ubuntu every target first installs the packages that it needs and that are
# missing. The builds are CMake presets and work without make: cmake --preset release.
.DEFAULT_GOAL := help
SHELL := /bin/bash
.SHELLFLAGS := -o pipefail -c

JOBS ?= $(shell nproc)
BOOLGRAD := build/release/boolgrad
DEMO := build/demo
# One version for everybody, because each formats a little differently.
LLVM ?= 14

BUILD_PACKAGES := g++ cmake ninja-build libhwy-dev libtbb-dev libopenblas-dev libfmt-dev libcli11-dev \
                  nlohmann-json3-dev libtomlplusplus-dev libpng-dev libgif-dev libcairo2-dev libcadical-dev \
                  fonts-dejavu-core zlib1g-dev libvulkan-dev glslc spirv-tools
# The data of `boolgrad train fashion-mnist`.
DATA_PACKAGES := dataset-fashion-mnist
# The documentation site, and what makes its animations small.
DOCS_PACKAGES := python3 mkdocs mkdocs-material doxygen
PICTURE_PACKAGES := python3 gifsicle
# Test libraries, programs that check exported files, Vulkan on the CPU with its validation layers, MPI, and what the
# tests of the documentation need.
TEST_PACKAGES := libgtest-dev librapidcheck-dev gcc clang berkeley-abc iverilog yosys graphviz strace binutils \
                 mesa-vulkan-drivers vulkan-validationlayers libopenmpi-dev openmpi-bin $(DOCS_PACKAGES)
# Ubuntu has the browser as a snap only; there the tests of HTML files are skipped.
ifneq ($(shell grep -x ID=ubuntu /etc/os-release 2>/dev/null),ID=ubuntu)
TEST_PACKAGES += chromium
endif
CHECK_PACKAGES := clang-format-$(LLVM) clang-tidy-$(LLVM)
FUZZ_PACKAGES := clang libclang-rt-14-dev
BENCH_PACKAGES := python3-venv
PYTHON_PACKAGES := python3-venv python3-dev
# The interpreter that the Python package is built and tested with: 3.10 or later.
PYTHON ?= python3

.PHONY: help
help: ## Lists the targets
	@awk -F ':.*## ' '/^[a-z-]+:.*## / {printf "make %-17s %s\n", $$1, $$2}' $(MAKEFILE_LIST)

.PHONY: demo
demo: build ## Builds the program, grows a checkerboard from noise and trains circuits to multiply and to add
	@echo
	@echo "1. A cellular automaton learns to grow a checkerboard from noise. All cells run the same circuit."
	@$(BOOLGRAD) train checkerboard --out $(DEMO)/checkerboard
	@echo
	@echo "   The hardened rule runs on the training grid, on a grid sixteen times as large, and repairs a hole."
	@$(BOOLGRAD) run $(DEMO)/checkerboard/model.safetensors --steps 30 --gif $(DEMO)/checkerboard/grows.gif
	@$(BOOLGRAD) run $(DEMO)/checkerboard/model.safetensors --size 64x64 --steps 100 \
	  --gif $(DEMO)/checkerboard/large.gif
	@$(BOOLGRAD) run $(DEMO)/checkerboard/model.safetensors --size 32x32 --steps 100 \
	  --damage 10x10@step50 --gif $(DEMO)/checkerboard/heals.gif
	@$(BOOLGRAD) export $(DEMO)/checkerboard/model.safetensors --format html \
	  -o $(DEMO)/checkerboard/checkerboard.html
	@echo
	@echo "2. A network of 936 soft gates learns to multiply two four-bit numbers from all 256 cases."
	@$(BOOLGRAD) train multiply --out $(DEMO)/multiply
	@$(BOOLGRAD) export $(DEMO)/multiply/model.safetensors --format verilog -o $(DEMO)/multiply/multiply.v
	@echo
	@echo "3. Another network learns to add. Half-way through, a tenth of its hidden gates is switched off"
	@echo "   for good, and the remaining gates learn to do without them."
	@$(BOOLGRAD) train add --knockout 0.1 --out $(DEMO)/add
	@echo
	@echo "Open these files:"
	@echo "  $(DEMO)/checkerboard/checkerboard.html  runs the rule in a browser"
	@echo "  $(DEMO)/checkerboard/heals.gif          the rule repairs a hole"
	@echo "  $(DEMO)/checkerboard/losses.png         soft loss and hard errors over the training steps"
	@echo "  $(DEMO)/multiply/multiply.v             the multiplier as Verilog, proven equal to the model"
	@echo
	@echo "Try next:"
	@echo "  $(BOOLGRAD) train life                  learns the Game of Life from its 512 neighbourhoods"
	@echo "  $(BOOLGRAD) run $(DEMO)/checkerboard/model.safetensors --size 64x64 --show"
	@echo "  $(BOOLGRAD) inspect $(DEMO)/multiply/model.safetensors --passes"
	@echo "  $(BOOLGRAD) --help"

.PHONY: pictures
pictures: demo test-packages ## Makes the pictures and animations of the documentation again: minutes on two cores
	@$(call install,$(PICTURE_PACKAGES))
	@python3 tools/make_gallery.py
	@cp $(DEMO)/checkerboard/losses.png $(DEMO)/checkerboard/gates.png docs/pictures/
	@$(BOOLGRAD) export $(DEMO)/checkerboard/model.safetensors --format html -o $(DEMO)/checkerboard/page.html
	@chromium --headless=new --no-sandbox --disable-gpu --hide-scrollbars --window-size=1000,1150 \
	  --virtual-time-budget=1000 --screenshot=docs/pictures/page.png \
	  'file://$(CURDIR)/$(DEMO)/checkerboard/page.html#size=24x24&steps=45&damage=10x10@step40' 2>/dev/null

.PHONY: build
build: build/release/build.ninja ## Builds the program, build/release/boolgrad
	@cmake --build build/release -j $(JOBS) --target boolgrad_cli

# The program's build folder may have been configured without the libraries of the tests.
.PHONY: test
test: test-packages build/release/build.ninja ## Builds and runs all tests
	@grep -qx BOOLGRAD_REQUIRE_TESTS:BOOL=ON build/release/CMakeCache.txt \
	  || cmake --preset release -D BOOLGRAD_REQUIRE_TESTS=ON
	@cmake --build build/release -j $(JOBS)
	@ctest --preset release -j $(JOBS)

# pip builds in the release folder, so that the library is compiled once.
.PHONY: python
python: build/python/.ready build/release/build.ninja ## Builds the Python package and installs it into build/python, a virtual environment
	@CMAKE_BUILD_PARALLEL_LEVEL=$(JOBS) build/python/bin/pip install --quiet --no-build-isolation --no-deps --force-reinstall \
	  -C build-dir=build/release .

# torchlogix is a peer of the tests and benchmarks. Only its layers are imported, which need nothing but PyTorch.
.PHONY: python-torch
python-torch: python ## Adds PyTorch and torchlogix to build/python, for the tests of boolgrad.torch
	@build/python/bin/pip install --quiet --requirement python/requirements-torch.txt
	@build/python/bin/pip install --quiet --no-deps --no-compile torchlogix==0.2.2

.PHONY: test-python
test-python: python ## Tests the Python package
	@build/python/bin/python -m pytest -q python/tests

# The wheel contains the libraries of this system that it needs, and runs where glibc is as new or newer.
.PHONY: wheel
wheel: build/python/.ready build/release/build.ninja ## Makes a wheel of the Python package with its libraries: build/wheel
	@rm -rf build/wheel
	@CMAKE_BUILD_PARALLEL_LEVEL=$(JOBS) build/python/bin/pip wheel --quiet --no-build-isolation --no-deps -C build-dir=build/release \
	  --wheel-dir build/wheel/plain .
	@PATH="$(CURDIR)/build/python/bin:$$PATH" build/python/bin/python tools/repair_wheel.py build/wheel/plain/*.whl build/wheel
	@ls -sh build/wheel/*.whl

# Other interpreters than that of build/python: make test-wheel WHEEL_PYTHONS="python3.10 python3.12"
WHEEL_PYTHONS ?= $(PYTHON)

.PHONY: test-wheel
test-wheel: wheel ## Tests the wheel in fresh virtual environments of the interpreters WHEEL_PYTHONS
	@python3 tools/test_wheel.py build/wheel/*.whl $(addprefix --python ,$(WHEEL_PYTHONS))

build/python/.ready: python/requirements.txt
	@$(call install,$(PYTHON_PACKAGES))
	@$(PYTHON) -m venv build/python
	@build/python/bin/pip install --quiet --requirement python/requirements.txt
	@touch $@

# Findings are written to build/fuzz/findings; new inputs to build/fuzz/corpora, from where
# `make fuzz-merge` adds those that reach new code to the repository.
FUZZ_SECONDS ?= 60
FUZZ_TARGETS ?= $(notdir $(wildcard tests/fuzz/corpora/*))

.PHONY: fuzz
fuzz: build-fuzz ## Fuzzes every reader for FUZZ_SECONDS (60) each; FUZZ_TARGETS chooses readers
	@python3 tools/fuzz.py run --seconds $(FUZZ_SECONDS) --jobs $(JOBS) $(FUZZ_TARGETS)

.PHONY: fuzz-merge
fuzz-merge: build-fuzz ## Minimises the corpora in tests/fuzz/corpora, with the inputs that `make fuzz` found
	@python3 tools/fuzz.py merge $(FUZZ_TARGETS)

.PHONY: build-fuzz
build-fuzz: test-packages build/fuzz/build.ninja
	@$(call install,$(FUZZ_PACKAGES))
	@cmake --build --preset fuzz -j $(JOBS)

# What takes too long for every change: run it every night.
.PHONY: nightly
nightly: tsan reproducible ## Thread sanitizer and the comparison of two builds: an hour on two cores
	@$(MAKE) --no-print-directory fuzz FUZZ_SECONDS=600

# Parallel loops, and training on several threads. Other modules take longer.
TSAN_MODULES ?= core train

.PHONY: tsan
tsan: test-packages build/tsan/build.ninja ## Runs the tests of TSAN_MODULES under the thread sanitizer
	@cmake --build build/tsan -j $(JOBS) --target $(addsuffix _tests,$(TSAN_MODULES))
	@for module in $(TSAN_MODULES); do \
	  TSAN_OPTIONS=halt_on_error=1 build/tsan/tests/$${module}_tests --gtest_brief=1 || exit 1; \
	done

.PHONY: reproducible
reproducible: build-packages ## Builds the program twice, in folders of different names, and compares the bytes
	@python3 tools/reproducible.py --jobs $(JOBS) $(ARGS)

# Needs a GPU and the CUDA toolkit.
.PHONY: compute-sanitizer
compute-sanitizer: test-packages build/release/build.ninja ## Runs the CUDA tests under the tools of compute-sanitizer
	@cmake --build build/release -j $(JOBS) --target backend_tests
	@python3 tools/compute_sanitizer.py

PREFIX ?= /usr/local

.PHONY: install
install: build ## Installs the program, the libraries and the headers to PREFIX (/usr/local)
	@cmake --install build/release --prefix $(PREFIX)

.PHONY: api-docs
api-docs: build/release/build.ninja ## Writes the C++ API reference to build/docs/site/api
	@$(call install,$(DOCS_PACKAGES))
	@cmake -D doxygen=doxygen -D doxyfile=build/release/generated/Doxyfile \
	  -D output=$(CURDIR)/build/docs/site/api -P cmake/run_doxygen.cmake
	@echo "The API reference is build/docs/site/api/index.html."

.PHONY: check
check: asan tidy formatted ## Runs the tests under sanitizers, warnings as errors, and the linters

.PHONY: asan
asan: test-packages build/asan/build.ninja
	@cmake --build build/asan -j $(JOBS)
	@ctest --preset asan -j $(JOBS)

# Reads the flags of the asan build. HWY_COMPILE_ONLY_STATIC leaves one instruction set to read in
# place of all one after the other. Some of GCC's options are unknown here.
.PHONY: tidy
tidy: test-packages build/asan/build.ninja check-packages
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
bench-classifiers: build build/bench/.ready ## Trains and evaluates classifiers; arguments in ARGS
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

.PHONY: python-docs
python-docs: python-torch ## Renews the outputs of the notebooks and the reference of the Python package
	@build/python/bin/python tools/notebooks.py --write docs/notebooks/*.ipynb
	@build/python/bin/python tools/python_reference.py --write

.PHONY: docs
docs: ## Builds the documentation with search and the API reference: build/docs/site
	@$(call install,$(DOCS_PACKAGES))
	@python3 tools/build_site.py
	@$(MAKE) --no-print-directory api-docs
	@echo "Open build/docs/site/index.html. The search needs a server: python3 -m http.server -d build/docs/site"

# Pages whose commands are run and whose outputs are compared by the tests.
COMMAND_PAGES := README.md $(addprefix docs/tutorials/,automata.md classifiers.md hardware.md)

.PHONY: tour
tour: build test-packages ## Runs the commands of the README and the tutorials again and renews their outputs
	@python3 tools/doc_commands.py --write $(COMMAND_PAGES)

.PHONY: clean
clean: ## Removes everything that was built
	rm -rf build

# A configured build folder runs CMake again when it has to, except after a change of the presets.
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

# Installs the packages that are missing, without asking. Where there is no dpkg, CMake reports what it
# does not find.
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
