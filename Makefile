# The front door. `make help` lists the targets; every target asks for what it needs first (tuning/setup/deps).
SHELL := /bin/bash
.SHELLFLAGS := -eu -o pipefail -c
.DEFAULT_GOAL := all

BUILD_TYPE ?= RelWithDebInfo
JOBS ?= $(shell nproc)
PREFIX ?= /usr/local
# Directory of the demo's data (2.3 GB while it runs); it must be on a real disk.
DEMO_DIR ?= $(BUILD)/demo
DEMO_RECORDS ?= 10000000
DEMO_MEMORY ?= 256MiB
# The benchmark's size; the headline is RECORDS=100000000 MEMORY=1GiB. Its data (four times the input) lies below BENCH_DIR.
RECORDS ?= 10000000
MEMORY ?= 64MiB
LINES_BYTES ?= 200000000
TABLES_BYTES ?= 1000000000
BENCH_DIR ?= $(BUILD)
# Checkouts of sorters that no registry has, for BENCH='--stage peers'.
PEER_DIR ?=
# The Debian in whose chroot `make packages` tries its packages.
SUITE ?= bookworm
# Another architecture than this one's: arm64 for packages, aarch64 for a tarball.
ARCH ?=
CONTAINER ?= podman
BENCH ?=
# packaging/ says what makes programs smaller when they are installed, and what runs those of another architecture.
STRIP ?= -s
EMULATOR ?=
# Extra words for pytest, e.g. make test PYTEST='-k gen -x'; -n 0 runs the tests one after the other, as a debugger wants it.
PYTEST ?=
# Most tests wait more than they compute: twice as many workers as cores.
WORKERS ?= $(shell expr 2 \* $(JOBS))
PARALLEL := -n $(WORKERS)
# The size of make scale-test, a directory on a real drive with 6 % of it free, and more words (--memory 1GiB --parts cluster).
SIZE ?= 100GB
SCALE_DIR ?= $(BUILD)
SCALE ?=
# The tests of make races: crashes are simulated one after the other.
OF_THREADS := races or (Pool or Task or Semaphore or Reactor or Compute or Queue or Storage or Sort or Merge or Lines or InPlace or Parts or Split or Run or Packed or Random or Stream or Verification) and not Crash
# Names for make mutants; none: all.
MUTANTS ?=

# SAN=address,undefined or SAN=thread: the same targets in a build directory of their own.
comma := ,
SAN ?=
ifneq ($(filter-out address undefined thread,$(subst $(comma), ,$(SAN))),)
$(error SAN=$(SAN): give address,undefined or thread)
endif
BUILD := build$(if $(SAN),-$(subst $(comma),-,$(SAN)))
CROSS := build-aarch64
FUZZ := build-fuzz

VENV := .venv/bin
DEPS := tuning/setup/deps

# The tests learn which build they test, and with which sanitizers it was made.
export ECOSORT_BUILD := $(abspath $(BUILD))
export ECOSORT_FUZZ_BUILD := $(abspath $(FUZZ))
export ECOSORT_SAN := $(SAN)
export UBSAN_OPTIONS ?= print_stacktrace=1
ifneq ($(filter thread,$(SAN)),)
# ThreadSanitizer of gcc 12 does not start where the kernel randomises more address bits than it knows.
NO_ASLR := setarch $(shell uname -m) --addr-no-randomize
export TSAN_OPTIONS ?= suppressions=$(abspath tests/tsan.supp) halt_on_error=1
endif

CONFIGURE := tuning/setup/configure
CONFIGURE_CROSS = [ -f $(CROSS)/build.ninja ] || cmake -S ecosort -B $(CROSS) -G Ninja -DCMAKE_BUILD_TYPE=$(BUILD_TYPE) \
  --toolchain $(abspath tuning/setup/aarch64.cmake) -DECOSORT_SYSROOT=$(abspath $(CROSS)/sysroot)
TYPE := -DCMAKE_BUILD_TYPE=$(BUILD_TYPE) -DECOSORT_SAN=$(SAN)

.PHONY: all
all: ## build the program (build/ecosort)
	@[ -f $(BUILD)/build.ninja ] || $(CONFIGURE) $(BUILD) $(TYPE) -DECOSORT_TESTS=OFF
	@ninja -C $(BUILD) -j $(JOBS) program

.PHONY: everything
everything: ## build the program, its unit tests and the tools of the benchmarks
	@$(DEPS) program build
	@grep -q '^ECOSORT_TESTS:BOOL=ON$$' $(BUILD)/CMakeCache.txt 2>/dev/null || $(CONFIGURE) $(BUILD) $(TYPE) -DECOSORT_TESTS=ON
	@ninja -C $(BUILD) -j $(JOBS)

.PHONY: tools
tools: all ## build the program and install its Python tools into .venv (queue, serve, power, joulesort, tune, parquet, cluster)
	@$(DEPS) python

.PHONY: deps
deps: ## install every Debian and Python package that development needs, browser and servers of the tests too (asks; YES=1 answers)
	@$(DEPS) program build python test fuzz lint

.PHONY: test
test: ## build and run all tests (SAN=address,undefined or SAN=thread: with sanitizers; PYTEST='-k word' for some)
	@$(DEPS) program python $(shell tuning/setup/test-needs packages $(PYTEST))
	@set -e; for target in $(shell tuning/setup/test-needs builds $(PYTEST)); do $(MAKE) --no-print-directory $$target; done
	@$(NO_ASLR) $(VENV)/python -m pytest $(PARALLEL) $(PYTEST)

.PHONY: scale-test
scale-test: ## sorts of SIZE=100GB on a drive that keeps the numbers of records (root; SCALE_DIR= on the drive, 6 % of SIZE; SCALE='--parts ...')
	@$(DEPS) program build scale python
	@cmake -S ecosort -B $(BUILD) -G Ninja $(TYPE) -DECOSORT_TESTS=ON >/dev/null
	@ninja -C $(BUILD) -j $(JOBS) ecosort record_drive
	@$(VENV)/python tests/scale/at_scale.py --build $(BUILD) --dir $(SCALE_DIR) --size $(SIZE) $(SCALE)

.PHONY: test-report
test-report: ## what each file and the slowest tests of the last make test took, and how busy the cores were
	@$(VENV)/python tests/durations.py $(BUILD)/test-durations.tsv $(JOBS)

.PHONY: library
library: all ## build libecosort.so beside the program
	@ninja -C $(BUILD) -j $(JOBS) libecosort_shared

.PHONY: fuzz-build
fuzz-build: ## build the fuzz targets (clang, libFuzzer, with sanitizers); make test runs them briefly, make soak longer
	@$(DEPS) program build fuzz
	@[ -f $(FUZZ)/build.ninja ] || cmake -S tests/fuzz -B $(FUZZ) -G Ninja -DCMAKE_CXX_COMPILER=$$(tuning/setup/newest clang++)
	@ninja -C $(FUZZ) -j $(JOBS)

.PHONY: demo
demo: ## sort 1 GB with 256 MiB of memory and explain the result (data in DEMO_DIR, removed afterwards)
	@$(DEPS) python
	@$(MAKE) --no-print-directory all
	@$(VENV)/python tuning/demo.py --program $(BUILD)/ecosort --directory $(DEMO_DIR) --records $(DEMO_RECORDS) --memory $(DEMO_MEMORY)

.PHONY: bench
bench: ## measure against GNU sort, STXXL and the I/O floors (RECORDS=, MEMORY=, LINES_BYTES=, BENCH_DIR= on the drive, BENCH='--help' for more)
	@$(DEPS) program build python
	@cmake -S ecosort -B $(BUILD) -G Ninja -DCMAKE_BUILD_TYPE=$(BUILD_TYPE) -DECOSORT_SAN=$(SAN) -DECOSORT_BENCH=ON >/dev/null
	@ninja -C $(BUILD) -j $(JOBS)
	@$(VENV)/python tuning/bench/bench.py --build $(BUILD) --dir $(BENCH_DIR) --records $(RECORDS) --memory $(MEMORY) \
	  --lines-bytes $(LINES_BYTES) --tables-bytes $(TABLES_BYTES) $(if $(PEER_DIR),--peer-dir $(PEER_DIR)) $(BENCH)

.PHONY: bench-kernels
bench-kernels: ## time the kernels against std::sort, the parallel mode, TBB, simdjson, and tlx in PEER_DIR= (BENCH='--benchmark_filter=merge' for some)
	@$(DEPS) program build kernels
	@cmake -S ecosort -B $(BUILD) -G Ninja -DCMAKE_BUILD_TYPE=$(BUILD_TYPE) -DECOSORT_SAN=$(SAN) -DECOSORT_BENCH=ON -DECOSORT_PEER_DIR=$(PEER_DIR) >/dev/null
	@ninja -C $(BUILD) -j $(JOBS)
	@$(BUILD)/bench/kernels/kernel_bench $(BENCH)

.PHONY: bench-arm
bench-arm: ## count instructions and model cycles of Arm, on this machine: kernels and whole sorts (BENCH='--help' for more)
	@$(DEPS) program build python cross model
	@tuning/setup/sysroot $(CROSS)/sysroot
	@$(CONFIGURE_CROSS)
	@ninja -C $(CROSS) -j $(JOBS) ecosort
	@PYTHONPATH=tuning/bench $(VENV)/python -m ecosort_bench.arm_model $(BENCH)

.PHONY: bench-slow-drives
bench-slow-drives: ## compressed runs on simulated drives, by codec (BENCH_DIR= on a faster drive, BENCH='--help' for more)
	@$(DEPS) program build python test
	@cmake -S ecosort -B $(BUILD) -G Ninja -DCMAKE_BUILD_TYPE=$(BUILD_TYPE) -DECOSORT_SAN=$(SAN) -DECOSORT_TESTS=ON >/dev/null
	@ninja -C $(BUILD) -j $(JOBS) ecosort_slow_drive ecosort_make_lines ecosort
	@PYTHONPATH=tuning/bench $(VENV)/python -m ecosort_bench.slow_drives --build $(BUILD) --dir $(BENCH_DIR) $(BENCH)

.PHONY: bench-limits
bench-limits: ## the least processor time that sorts could take on this machine, beside what they take (BENCH='--help' for more)
	@$(DEPS) program build python
	@cmake -S ecosort -B $(BUILD) -G Ninja -DCMAKE_BUILD_TYPE=$(BUILD_TYPE) -DECOSORT_SAN=$(SAN) -DECOSORT_BENCH=ON >/dev/null
	@ninja -C $(BUILD) -j $(JOBS) ecosort ecosort_costs ecosort_make_lines ecosort_replay
	@PYTHONPATH=tuning/bench $(VENV)/python -m ecosort_bench.machine_limits --build $(BUILD) --dir $(BENCH_DIR) $(BENCH)

.PHONY: bench-strategies
bench-strategies: ## merging against range partitioning on this machine (BENCH_DIR= on the drive, BENCH='--help' for more)
	@$(DEPS) program build python
	@cmake -S ecosort -B $(BUILD) -G Ninja -DCMAKE_BUILD_TYPE=$(BUILD_TYPE) -DECOSORT_SAN=$(SAN) -DECOSORT_BENCH=ON >/dev/null
	@ninja -C $(BUILD) -j $(JOBS) ecosort ecosort_make_lines
	@PYTHONPATH=python:tuning/bench $(VENV)/python -m ecosort_bench.strategies --build $(BUILD) --dir $(BENCH_DIR) $(BENCH)

.PHONY: bench-cluster
bench-cluster: ## a cluster on this machine against one sort; also by Ray after tuning/setup/deps cluster (BENCH_DIR=, BENCH='--help' for more)
	@$(DEPS) program build python
	@cmake -S ecosort -B $(BUILD) -G Ninja -DCMAKE_BUILD_TYPE=$(BUILD_TYPE) -DECOSORT_SAN=$(SAN) -DECOSORT_BENCH=ON >/dev/null
	@ninja -C $(BUILD) -j $(JOBS) ecosort ecosort_make_lines
	@PYTHONPATH=python:tuning/bench $(VENV)/python -m ecosort_bench.clusters --build $(BUILD) --dir $(BENCH_DIR) $(BENCH)

.PHONY: bench-predict
bench-predict: ## hold predictions against measurements (BENCH_DIR= on the drive, BENCH='--help' for more)
	@$(DEPS) program build python
	@cmake -S ecosort -B $(BUILD) -G Ninja -DCMAKE_BUILD_TYPE=$(BUILD_TYPE) -DECOSORT_SAN=$(SAN) -DECOSORT_BENCH=ON >/dev/null
	@ninja -C $(BUILD) -j $(JOBS)
	@ECOSORT_PROGRAM=$(abspath $(BUILD))/ecosort $(VENV)/ecosort-tune validate --dir $(BENCH_DIR) $(BENCH)

.PHONY: bench-check
bench-check: ## fail if the tables of docs/benchmarks.md are not those of tuning/bench/results
	@$(DEPS) python
	@$(VENV)/python tuning/bench/bench.py --check-tables

.PHONY: bench-tables
bench-tables: ## write the tables and the charts of tuning/bench/results into docs
	@$(DEPS) python
	@$(VENV)/python tuning/bench/bench.py --tables

.PHONY: cluster-tables
cluster-tables: program ## write what the simulator of clusters predicts into docs
	@$(DEPS) python
	@ECOSORT_PROGRAM=$(abspath $(BUILD))/ecosort PYTHONPATH=python:tuning/bench $(VENV)/python -m ecosort_bench.cluster_predictions docs

.PHONY: power-accuracy
power-accuracy: ## simulate meters and loads of known energy and write the table of intervals into power/README.md (some minutes)
	@$(DEPS) python
	@cd power && ../$(VENV)/python -m ecosort_power.accuracy --jobs $(JOBS)

.PHONY: lint
lint: ## check format, clang-tidy, ruff and mypy
	@$(DEPS) program build python lint
	@$(CONFIGURE) $(BUILD)/lint $(TYPE) -DECOSORT_TESTS=ON -DCMAKE_DISABLE_PRECOMPILE_HEADERS=ON
	@JOBS=$(JOBS) tuning/setup/lint $(BUILD)/lint

.PHONY: format
format: ## rewrite the sources in the project's format
	@$(DEPS) python lint
	@tuning/setup/lint --fix-format

# All but `cluster`, whose packages are large: they have a lock and an environment of their own.
LOCKED_EXTRAS := arrow power tune appliance discover modbus mqtt plots scpi smart-meter snmp tuya dev

.PHONY: known-ground
known-ground: all ## do other sorters still do what docs/coming-from.md says? (KNOWN='--write NAME ...' puts new tables into the page)
	@$(DEPS) python known
	@tests/known_ground/frames.py
	@tests/known_ground/run.py --build $(KNOWN)

.PHONY: lock
lock: ## pin the newest Python packages that pyproject.toml allows
	@$(DEPS) python
	@python3 -m venv build/lock && build/lock/bin/pip --quiet install uv
	@{ echo '# Locked Python packages with hashes, renewed by `make lock` from pyproject.toml.'; \
	  build/lock/bin/uv pip compile --quiet pyproject.toml $(LOCKED_EXTRAS:%=--extra %) --generate-hashes --universal --upgrade \
	    --python-version 3.11 --no-header; } > build/lock/python.lock
	@mv build/lock/python.lock tuning/setup/python.lock
	@build/lock/bin/uv pip compile --quiet tuning/setup/peers.txt --universal --upgrade --python-version 3.11 \
	  --output-file build/lock/pylock.toml
	@{ echo '# Locked peers with hashes and the days of their releases, renewed by `make lock` from peers.txt.'; \
	  tuning/setup/release_days.py build/lock/pylock.toml tuning/setup/peers.txt; \
	  build/lock/bin/uv pip compile --quiet tuning/setup/peers.txt --generate-hashes --universal --upgrade \
	    --python-version 3.11 --no-header; } > build/lock/peers.lock
	@mv build/lock/peers.lock tuning/setup/peers.lock
	@{ echo '# Locked packages of the site with hashes, renewed by `make lock` from site.txt.'; \
	  build/lock/bin/uv pip compile --quiet tuning/setup/site.txt --generate-hashes --universal --upgrade \
	    --python-version 3.11 --no-header; } > build/lock/site.lock
	@mv build/lock/site.lock tuning/setup/site.lock
	@{ echo '# Locked packages of `--on ray` and `s3://` with hashes, renewed by `make lock` from the extras `cluster` and `cluster-dev`.'; \
	  build/lock/bin/uv pip compile --quiet pyproject.toml --extra cluster --extra cluster-dev --generate-hashes --universal --upgrade \
	    --python-version 3.11 --no-header; } > build/lock/cluster.lock
	@mv build/lock/cluster.lock tuning/setup/cluster.lock

.PHONY: cross
cross: ## build for aarch64; run the C++ unit tests and a few sorts under qemu-user, these with pages of 4, 16 and 64 KiB
	@$(DEPS) program build python cross
	@tuning/setup/sysroot $(CROSS)/sysroot
	@$(CONFIGURE_CROSS)
	@ninja -C $(CROSS) -j $(JOBS)
	@ECOSORT_BUILD=$(abspath $(CROSS)) ECOSORT_STRICT=0 \
	  ECOSORT_EMULATOR="qemu-aarch64 -L $(abspath $(CROSS)/sysroot)" $(VENV)/python -m pytest $(PARALLEL) tests/test_cpp_units.py tests/test_other_processor.py $(PYTEST)

.PHONY: oldest
oldest: ## run the C++ unit tests as on the oldest processor there may be, without SSE4.2 and AVX (x86-64, under qemu-user)
	@$(DEPS) program build python cross
	@$(MAKE) --no-print-directory everything
	@ECOSORT_STRICT=0 ECOSORT_EMULATOR="qemu-x86_64 -cpu core2duo" $(VENV)/python -m pytest $(PARALLEL) tests/test_cpp_units.py $(PYTEST)

.PHONY: races
races: ## threads under ThreadSanitizer, with the kernels of each level that this processor has (PYTEST='-x' and the like)
	@$(MAKE) --no-print-directory SAN=thread everything
	@for level in baseline neon avx2 avx512; do \
	  ECOSORT_CPU=$$level setarch --addr-no-randomize build-thread/ecosort --version &>/dev/null || continue; \
	  echo "races: kernels for $$level"; \
	  ECOSORT_SOAK=0 ECOSORT_CPU=$$level $(MAKE) --no-print-directory SAN=thread test PYTEST="tests/test_races.py tests/test_cpp_units.py -k '$(OF_THREADS)' $(PYTEST)"; done

.PHONY: mutants
mutants: ## do the tests see the faults that are seeded in tests/mutants? (MUTANTS='NAME ...' for some; an hour for all)
	@$(DEPS) program build python test
	@tests/mutants/run.py --jobs $(JOBS) $(MUTANTS)

.PHONY: soak
soak: ## all tests with larger sweeps (hours), then make oldest, make cross, make races and make mutants
	@begin=$$SECONDS; for target in test oldest cross races mutants; do \
	  ECOSORT_SOAK=1 $(MAKE) --no-print-directory $$target; \
	  echo "soak: $$target is done after $$(((SECONDS - begin) / 60)) minutes"; done

MAN := $(DESTDIR)$(PREFIX)/share/man/man1
BASH_COMPLETION := $(DESTDIR)$(PREFIX)/share/bash-completion/completions/ecosort
FISH_COMPLETION := $(DESTDIR)$(PREFIX)/share/fish/vendor_completions.d/ecosort.fish

.PHONY: install
install: library ## install program, library, man pages and completions below PREFIX (default /usr/local; DESTDIR is honoured)
	@DESTDIR=$(DESTDIR) cmake --install $(BUILD) --component library --prefix $(PREFIX)
	install -D $(STRIP) -m 755 $(BUILD)/ecosort $(DESTDIR)$(PREFIX)/bin/ecosort
	[ ! -f $(BUILD)/ecosort_stxxl.so ] || install -D $(STRIP) -m 644 $(BUILD)/ecosort_stxxl.so $(DESTDIR)$(PREFIX)/lib/ecosort/ecosort_stxxl.so
	@rm -rf $(BUILD)/manual && packaging/manuals $(BUILD)/manual $(EMULATOR) $(BUILD)/ecosort
	@$(EMULATOR) $(BUILD)/ecosort manual bash > $(BUILD)/manual/ecosort.bash
	@$(EMULATOR) $(BUILD)/ecosort manual fish > $(BUILD)/manual/ecosort.fish
	install -d $(MAN)
	install -m 644 $(BUILD)/manual/*.1 $(MAN)
	install -D -m 644 $(BUILD)/manual/ecosort.bash $(BASH_COMPLETION)
	install -D -m 644 $(BUILD)/manual/ecosort.fish $(FISH_COMPLETION)

.PHONY: uninstall
uninstall: ## remove what make install put below PREFIX
	rm -f $(DESTDIR)$(PREFIX)/bin/ecosort $(DESTDIR)$(PREFIX)/lib/ecosort/ecosort_stxxl.so
	rm -f $(addprefix $(MAN)/,$(notdir $(wildcard $(BUILD)/manual/*.1))) $(BASH_COMPLETION) $(FISH_COMPLETION)
	rm -f $(addprefix $(DESTDIR),$(shell cat $(BUILD)/install_manifest_library.txt 2>/dev/null))
	-rmdir --ignore-fail-on-non-empty $(DESTDIR)$(PREFIX)/include/ecosort $(DESTDIR)$(PREFIX)/lib/cmake/ecosort 2>/dev/null
	-[ ! -d $(DESTDIR)$(PREFIX)/lib/ecosort ] || rmdir --ignore-fail-on-non-empty $(DESTDIR)$(PREFIX)/lib/ecosort

.PHONY: packages
packages: ## build Debian packages of what is committed in a chroot, look at them with lintian, try them in another (root; SUITE=, ARCH=)
	@$(DEPS) packages
	@packaging/build-packages $(BUILD)/packages $(SUITE) $(BUILD)/chroot/$(SUITE)-build $(ARCH)
	@lintian --fail-on error,warning --allow-root --suppress-tags bogus-mail-host,bogus-mail-host-in-debian-changelog $(BUILD)/packages/*.deb
	@packaging/try-packages $(BUILD)/packages $(SUITE) $(BUILD)/chroot/$(SUITE)$(ARCH:%=-%) $(ARCH)

.PHONY: tarball
tarball: ## build build/tarball/ecosort-VERSION-linux-ARCH.tar.gz with a program that needs no library (ARCH=aarch64 crosses)
	@$(DEPS) program $(if $(ARCH),cross)
	@packaging/build-tarball $(BUILD)/tarball $(ARCH)

.PHONY: container
container: ## build the image ecosort:VERSION of the tarball's program (CONTAINER=podman, buildah or docker)
	@$(MAKE) --no-print-directory tarball
	@rm -rf $(BUILD)/container && mkdir -p $(BUILD)/container
	@tar -x -f $(BUILD)/tarball/ecosort-*-linux-$(or $(ARCH),$(shell uname -m)).tar.gz -C $(BUILD)/container --strip-components=1
	@$(CONTAINER) build -f packaging/Containerfile -t ecosort:$$(sed -n 's/^__version__ = "\(.*\)"$$/\1/p' python/ecosort/version.py) $(BUILD)/container

.PHONY: site
site: all ## build the documents as a site in build/site; links are checked
	@$(DEPS) site
	@ECOSORT_PROGRAM=$(abspath $(BUILD))/ecosort NO_MKDOCS_2_WARNING=1 .venv-site/bin/mkdocs build --quiet --strict -f packaging/site/mkdocs.yml
	@echo "build/site/index.html"

.PHONY: wheel
wheel: ## build dist/ecosort-VERSION-py3-none-PLATFORM.whl, the Python packages with the program inside, and SHA256SUMS
	@$(DEPS) program python
	@rm -rf $(BUILD)/wheel dist/*.whl dist/SHA256SUMS
	@$(VENV)/python -m pip --quiet --disable-pip-version-check wheel --no-deps --no-build-isolation --wheel-dir dist .
	@cd dist && sha256sum ./*.whl >SHA256SUMS
	@ls dist/*.whl

.PHONY: site-figures
site-figures: all ## put what the programs print now into docs: outputs of commands, the prediction, the picture of the progress line, the findings
	@$(DEPS) python
	@cd docs && ECOSORT_PROGRAM=$(abspath $(BUILD))/ecosort PYTHONPATH=../packaging/site:../python PATH=$(abspath $(BUILD)):$(abspath $(VENV)):$$PATH \
	  python3 -m ecosort_site.console --write *.md
	@ECOSORT_PROGRAM=$(abspath $(BUILD))/ecosort PYTHONPATH=packaging/site $(VENV)/python -m ecosort_site.prediction --write
	@ECOSORT_PROGRAM=$(abspath $(BUILD))/ecosort PYTHONPATH=packaging/site $(VENV)/python -m ecosort_site.progress --directory $(BUILD)
	@PYTHONPATH=packaging/site $(VENV)/python -m ecosort_site.findings --write

.PHONY: clean
clean: ## remove what was built (not .venv)
	rm -rf build build-static-* build-address build-undefined build-thread build-address-undefined build-undefined-address $(CROSS) $(FUZZ)
	rm -rf dist .pytest_cache .mypy_cache .ruff_cache .hypothesis

.PHONY: help
help: ## this list
	@awk -F ':.*## ' '/^[a-z-]+:.*## / {printf "  make %-12s %s\n", $$1, $$2}' $(MAKEFILE_LIST)
