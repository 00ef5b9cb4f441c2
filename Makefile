# The verbs of this project. `make` alone prints them.
GO      ?= go
SHARED  ?= ../shared
TIME    ?= 30s
JOBS    ?= tpch tpch-dv point open
SCALE   ?= small
RUNS    ?= 3
ENGINES ?=

.PHONY: help build test test-race test-crash lint fmt bench bench-write interop fuzz corpus oracle rewrite clean ci

help:
	@sed -n 's/^\([a-z-]*\):.*## /\1\t/p' $(MAKEFILE_LIST) | expand -t 12

build: ## the binary ./deltasql
	$(GO) build -trimpath -o deltasql ./cmd/deltasql

test: ## every test that needs no other engine (also reads ../shared where it lies beside the project)
	$(GO) test ./...

test-race: ## the same under the race detector
	$(GO) test -race ./...

test-crash: ## every crash test, each in a process that is killed, and eight processes that write 8000 rows (half an hour)
	DELTASQL_CRASH_TESTS=long $(GO) test -timeout 2h -v ./sqlengine/crash

lint: ## gofmt and vet; the package map is a test (protocol/imports_test.go)
	@test -z "$$(gofmt -l cmd ddl filetype protocol scan sqlengine stats txn)" || { gofmt -l cmd ddl filetype protocol scan sqlengine stats txn; exit 1; }
	$(GO) vet ./...

fmt: ## gofmt -w
	gofmt -w cmd ddl filetype protocol scan sqlengine stats txn

corpus: build ## 237 tables of other engines, where ../shared lies beside the project
	python3 $(SHARED)/corpus/check.py --deltasql ./deltasql

oracle: build ## every table that Spark wrote while its behaviour was recorded
	python3 $(SHARED)/oracle/check.py --deltasql ./deltasql --tables $(SHARED)/oracle-tables

interop: build corpus oracle ## the round trip with Spark, delta-rs, DuckDB and Polars (needs ../shared with its peers set up); STEPS, PEERS, ONLY, WORK choose
	@test -f $(SHARED)/peers/reread.py || { echo "interop: $(SHARED)/peers is not beside the project"; exit 1; }
	python3 testdata/interop/interop.py --deltasql ./deltasql --shared $(SHARED) $(if $(STEPS),--steps $(STEPS)) $(if $(PEERS),--engines $(PEERS)) $(if $(ONLY),--only '$(ONLY)') $(if $(WORK),--work $(WORK))

bench: build ## ratios against other engines (needs ../shared/peers, set up); JOBS, SCALE=small|full, RUNS, ENGINES=raw,polars,...
	@test -f $(SHARED)/peers/bench/bench.py || { echo "bench: $(SHARED)/peers is not beside the project"; exit 1; }
	python3 $(SHARED)/peers/bench/bench.py $(JOBS) --scale $(SCALE) --repetitions $(RUNS) --deltasql ./deltasql --door exec $(if $(ENGINES),--engines $(ENGINES))

bench-write: build ## writing against the bars of this product (needs ../shared/peers, set up); WRITING="append ctas commits dml", SCALE, RUNS, ENGINES
	python3 bench/writing.py $(WRITING) --deltasql ./deltasql --shared $(SHARED) --scale $(SCALE) --repetitions $(RUNS) $(if $(ENGINES),--engines $(ENGINES))

fuzz: ## every fuzz target for TIME each
	@set -e; for package in $$($(GO) list ./...); do \
	  for target in $$($(GO) test -list '^Fuzz' $$package | grep '^Fuzz' || true); do \
	    echo "$$package $$target"; $(GO) test -run '^$$' -fuzz "^$$target$$" -fuzztime $(TIME) $$package; \
	  done; \
	done

rewrite: ## regenerate expected results of testdata; read the diff
	$(GO) test ./cmd/deltasql ./sqlengine ./sqlengine/bind ./sqlengine/parse -rewrite

clean: ## remove what build leaves
	rm -f deltasql

ci: ## what .ci/run runs
	bash .ci/run
