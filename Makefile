# Everything is built with the release profile, so that the compiler inside (shaderc) is built once.
# CARGO_TARGET_DIR, if set, says where; a second checkout or a CI run that shares it does not build shaderc again.

CARGO ?= cargo
FLAGS := --release --locked
# `make build QUICK=1`, `make test QUICK=1`: our own crates are not optimised and build in a quarter of the time. For
# editing; what is measured or handed out is built without it.
ifdef QUICK
  LESS_OPTIMISED := $(shell sed -n 's/^\[profile\.release\.package\.\(vkcert[a-z-]*\)\]/\1/p' Cargo.toml)
  FLAGS += --config profile.release.opt-level=0 \
    $(foreach crate,$(LESS_OPTIMISED),--config profile.release.package.$(crate).opt-level=0)
endif
# All crates; without it cargo means the program alone.
ALL := --workspace
RUNNER := $(shell $(CARGO) nextest --version >/dev/null 2>&1 && echo nextest || echo test)
VERSION := $(shell sed -n 's/^version = "\(.*\)"/\1/p' Cargo.toml | head -n 1)
# Not `cargo run`, which chooses features for this program alone and builds most crates once more.
PROGRAM := $(or $(CARGO_TARGET_DIR),target)/release/vkcert
PACKAGE := vkcert-$(VERSION)-$(shell uname -s | tr A-Z a-z)-$(shell uname -m)

ifeq ($(RUNNER),nextest)
  RUN_TESTS := $(CARGO) nextest run $(FLAGS) $(ALL)
  RUN_SOAK := $(CARGO) nextest run $(FLAGS) $(ALL) --run-ignored all
else
  RUN_TESTS := $(CARGO) test $(FLAGS) $(ALL) --lib --bins --tests
  RUN_SOAK := $(CARGO) test $(FLAGS) $(ALL) --lib --bins --tests -- --include-ignored
endif

# Coverage instrumentation for the fuzz target, with the stable compiler.
FUZZ_FLAGS := --cfg fuzzing -Cpasses=sancov-module -Cllvm-args=-sanitizer-coverage-level=4 \
	-Cllvm-args=-sanitizer-coverage-inline-8bit-counters -Cllvm-args=-sanitizer-coverage-pc-table \
	-Cllvm-args=-sanitizer-coverage-trace-compares
FUZZ_HOST := $(shell rustc -vV | sed -n 's/^host: //p')
FUZZ_SECONDS ?= 1200
# The compiler that `make build` has built: its own build script is left out of the fuzz target's.
SHADERC = $$(ls -t $(abspath $(or $(CARGO_TARGET_DIR),target))/release/build/shaderc-sys-*/out/lib/libshaderc_combined.a | head -n 1)

.PHONY: help setup setup-test setup-soak setup-dissimilar build demo dissimilar test fmt lint soak fuzz fuzz-evidence mutants dist

help: ## this list
	@sed -n 's/^\([a-z-]*\):.*## \(.*\)/  make \1	\2/p' Makefile | expand -t 20

setup: ## install what building and running need (with apt where allowed, else say how)
	@tools/setup.sh

setup-test:
	@tools/setup.sh test

setup-soak:
	@tools/setup.sh test soak

setup-dissimilar:
	@tools/setup.sh dissimilar

build: setup ## build the programs: vkcert and vkcert-verify
	$(CARGO) build $(FLAGS) $(ALL)

demo: build ## certify the demonstration kernels; reports go to reports/
	$(PROGRAM) certify

dissimilar: setup-dissimilar build ## build the demonstration kernels with clang as C++ and compare outputs and MC/DC
	# 4: a kernel is named that there is no C++ program of (images). That clang is there, the setup has seen to.
	$(PROGRAM) dissimilar || test $$? -eq 4

test: setup-test ## formatting, lints, documentation tests and the whole test suite
	$(CARGO) fmt --all --check
	$(CARGO) clippy $(FLAGS) $(ALL) --all-targets -- -D warnings
	$(CARGO) test $(FLAGS) $(ALL) --doc
	$(CARGO) build $(FLAGS) $(ALL) --bins
	$(RUN_TESTS)

fmt: ## format the sources
	$(CARGO) fmt --all

lint: setup-test ## clippy, warnings are errors
	$(CARGO) clippy $(FLAGS) $(ALL) --all-targets -- -D warnings

soak: setup-soak ## the test suite with many more random cases, and the tests that are too long for every day
	PROPTEST_CASES=$${PROPTEST_CASES:-20000} VKCERT_RANDOM_KERNELS=$${VKCERT_RANDOM_KERNELS:-2000} \
		VKCERT_MUTATIONS=$${VKCERT_MUTATIONS:-1000000} VKCERT_WIDE_KERNELS=$${VKCERT_WIDE_KERNELS:-10000} $(RUN_SOAK)

fuzz: setup ## fuzz the GLSL front end for FUZZ_SECONDS (default 1200); what it finds goes to fuzz/artifacts/
	mkdir -p fuzz/corpus fuzz/artifacts
	cd fuzz && CARGO_TARGET_DIR=target RUSTFLAGS="$(FUZZ_FLAGS)" $(CARGO) build --release --locked --target $(FUZZ_HOST) < /dev/null
	fuzz/target/$(FUZZ_HOST)/release/front_end -dict=fuzz/glsl.dict -artifact_prefix=fuzz/artifacts/ -timeout=10 \
		-rss_limit_mb=4096 -max_len=20000 -max_total_time=$(FUZZ_SECONDS) fuzz/corpus tests/filetests/glsl tests/stress

fuzz-evidence: build ## fuzz what reads evidence for FUZZ_SECONDS; links the compiler that the program is built with
	mkdir -p fuzz/corpus-evidence fuzz/artifacts
	cd fuzz && CARGO_TARGET_DIR=target RUSTFLAGS="$(FUZZ_FLAGS)" $(CARGO) build --release --locked --features evidence \
		--bin evidence --target $(FUZZ_HOST) \
		--config 'target.$(FUZZ_HOST).shaderc.rustc-link-lib=["static=shaderc_combined", "dylib=stdc++"]' \
		--config "target.$(FUZZ_HOST).shaderc.rustc-link-search=[\"native=$$(dirname $(SHADERC))\"]" < /dev/null
	fuzz/target/$(FUZZ_HOST)/release/evidence -artifact_prefix=fuzz/artifacts/ -timeout=30 -rss_limit_mb=4096 -max_len=32 \
		-max_total_time=$(FUZZ_SECONDS) fuzz/corpus-evidence

mutants: ## alter the calculus and the requirements with cargo-mutants, one by one: would their unit tests notice? (hours)
	CARGO_INCREMENTAL=1 PROPTEST_DISABLE_FAILURE_PERSISTENCE=1 $(CARGO) mutants $(MUTANTS) -p vkcert-coverage -p vkcert-requirement \
		-p vkcert-oracle -p vkcert-derivation -p vkcert-verification -p vkcert-verifier --output $(or $(CARGO_TARGET_DIR),target)/mutants

dist: setup ## a release archive in dist/: the program, stripped, with manual pages and completions
	for package in . src/verifier; do \
		$(CARGO) install $(filter --locked,$(FLAGS)) --path $$package --root dist/$(PACKAGE) --no-track --force || exit 1; done
	strip dist/$(PACKAGE)/bin/vkcert dist/$(PACKAGE)/bin/vkcert-verify
	$(CARGO) build $(FLAGS) -p vkcert-capture-layer
	mkdir -p dist/$(PACKAGE)/lib/vkcert
	cp $(abspath $(or $(CARGO_TARGET_DIR),target))/release/libvkcert_capture_layer.so dist/$(PACKAGE)/lib/vkcert/
	strip dist/$(PACKAGE)/lib/vkcert/libvkcert_capture_layer.so
	dist/$(PACKAGE)/bin/vkcert manual --out dist/$(PACKAGE)/share/man/man1
	mkdir -p dist/$(PACKAGE)/share/completions
	for shell in bash fish zsh; do \
		dist/$(PACKAGE)/bin/vkcert completions $$shell > dist/$(PACKAGE)/share/completions/vkcert.$$shell; done
	cp README.md LICENSE dist/$(PACKAGE)/
	tar -C dist -czf dist/$(PACKAGE).tar.gz $(PACKAGE)
	@echo dist/$(PACKAGE).tar.gz
