# `make` alone lists what there is. Every target can be run on its own; CI runs `make test`, `interop`, `fuzz` and
# `gate`.

SHELL := /bin/bash
.SHELLFLAGS := -euo pipefail -c
.DEFAULT_GOAL := help
# Two Swift builds in one scratch directory would only wait for each other.
.NOTPARALLEL:

# Building and testing take the very same flags: others would make `swift test` build everything again.
FLAGS := -Xswiftc -warnings-as-errors --explicit-target-dependency-import-check error
RELEASE_FLAGS := -c release $(FLAGS)
TEST_TARGETS := SluiceTests SluiceFoundationTests SluiceCurlTests SluiceToolTests SluiceBenchTests
SWIFT_SOURCES := Package.swift Sources Tests Benchmarks Snippets
PYTHON := .build/venv/bin/python

.PHONY: help deps venv build release test lint format docs selftest interop fuzz memcheck sanitize soak storm bench figures gate baseline bench-peers demo clean distclean

help: ## list the targets
	@sed -n 's/^\([a-z-]*\):.*## \(.*\)/  make \1	\2/p' Makefile | expand -t 20

deps: ## install missing Debian packages (says which where it cannot)
	@Scripts/install-dependencies.sh

venv: deps ## make the Python environment of the interoperability tests
	@Scripts/make-venv.sh

build: deps ## build everything, tests too (debug)
	swift build --build-tests $(FLAGS)

release: deps ## build the tool, the libraries and the benchmark (release)
	swift build $(RELEASE_FLAGS)
	@echo "Building the tool again, with the Swift runtime in it"
	tool=$$(Scripts/build-tool.sh $(FLAGS)); [ "$$tool" -ef .build/release/sluice ] || cp -f "$$tool" .build/release/sluice

test: lint venv build selftest ## everything that needs no more than Swift, Python, nginx and curl
	Scripts/check-linkage.sh
	Scripts/build-docs.sh
	@# One target at a time: with two cores, a thousand tests that run at once wait for each other past every limit.
	for tests in $(TEST_TARGETS); do swift test --disable-xctest $(FLAGS) --filter "^$$tests\."; done

lint: ## check format and style
	swift format lint --strict --recursive --parallel $(SWIFT_SOURCES)
	Scripts/check-style.sh

format: ## format the sources in place
	swift format --in-place --recursive --parallel $(SWIFT_SOURCES)

docs: build ## build the documentation, warnings being errors
	Scripts/build-docs.sh

selftest: venv ## check the servers and parsers that the tests run against
	$(PYTHON) Tests/Interop/selftest.py

interop: venv build ## decode what other encoders sent: curl, Python's, Go's, Node's, Java's, Chromium's
	@Scripts/install-dependencies.sh interop
	$(PYTHON) Tests/Interop/Encoders/interop.py .build/debug/sluice

fuzz: ## feed parsers what libFuzzer thinks of, each for FUZZ_SECONDS (default 10)
	@Scripts/fuzz.sh

sanitize: venv ## run the tests under AddressSanitizer and ThreadSanitizer: half an hour
	@Scripts/sanitize.sh

soak: venv build ## upload and download with random faults, for SOAK_SECONDS (default 600)
	@Scripts/soak.sh

storm: venv build ## cancel reading, parsing and transfers at random moments, a thousand times each
	SLUICE_CANCELLATIONS=$${SLUICE_CANCELLATIONS:-1000} swift test --skip-build --disable-xctest $(FLAGS) --filter '(CancellationStorm|BodyInputStreamRace|ParallelReader)Tests'

memcheck: build ## run the tool's main paths under valgrind, some minutes
	@Scripts/install-dependencies.sh memcheck
	@Scripts/memcheck.sh

bench: release ## measure against the physical limit, the short set: under two minutes
	.build/release/sluice-bench --quick

figures: release bench-peers ## measure everything, for some minutes, and renew the figures of the README
	Scripts/update-figures.sh

gate: release ## fail where Sluice allocates, copies or asks the kernel more than it did
	TMPDIR=/tmp .build/release/sluice-bench --quick --rounds 1 --compare Benchmarks/baseline.json

baseline: release ## keep what Sluice allocates, copies and asks the kernel now, for `make gate`
	Scripts/update-baseline.sh

bench-peers: deps ## make the programs that the benchmark compares Sluice with
	@Scripts/install-dependencies.sh peers
	@Benchmarks/Peers/build.sh

demo: ## upload 1 GiB to `sluice receive`, and show speed, memory and checksums
	@Scripts/demo.sh

clean: ## remove what was built
	@# Not `swift package clean`, which would take the Python environments along.
	[ ! -d .build ] || find .build -mindepth 1 -maxdepth 1 ! -name 'venv*' -exec rm -rf {} +

distclean: ## remove .build whole, with the Python environments
	rm -rf .build
