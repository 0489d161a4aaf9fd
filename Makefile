# The project's commands; each installs what it needs, on a machine with only Python, git and make.
PYTHON ?= python3
VENV := .venv
PY := $(VENV)/bin/python
# Evaluated when a recipe runs, because Node.js may have to be installed into the environment first.
NODE_BIN = $(shell $(PY) -m dev.node)
FORGE := node_modules/@foundry-rs/forge-linux-amd64/bin/forge
# Settings for the checks only, which need no secret.
CHECK_ENV := DATABASE_URL=postgres://localhost/check ALLOWED_HOSTS=localhost

# Some shells forbid bytecode, and then each of the many processes compiles all modules for itself.
unexport PYTHONDONTWRITEBYTECODE

PYTHON_READY := $(VENV)/.ready
NODE_READY := contracts/node_modules/.ready
OPENAPI_READY := docs/openapi-tools/node_modules/.ready
TOKEN_LISTS_READY := lab/bench/deception/lists/node_modules/.ready
SURFPOOL_READY := dev/surfpool/node_modules/.ready
CLIENTS_READY := tests/solana_clients/node_modules/.ready
SITE_READY := docs/site/node_modules/.ready
BROWSER_READY := dev/browser/node_modules/.ready
TYPESCRIPT_READY := clients/typescript/node_modules/.ready
WEB_READY := examples/web/node_modules/.ready
SLITHER_READY := .venv-slither/.ready
AUDIT_READY := .venv-audit/.ready
OPENAPI_PYTHON_READY := .venv-openapi/.ready
CONTRACTS_READY := contracts/out/.ready
OPENAPI_DOCUMENT := var/openapi.json
TYPESCRIPT_CLIENT := clients/typescript/dist/wallet.js
WEB_PAGE := examples/web/dist/page.js
PYTHON_TYPES := clients/python/src/sweepapi_client/types.py
FEE_SPLITS := var/vectors/fee_splits.bin
# What the contracts' tests and their analysis depend on; neither runs again before something of it changes. CI starts without the
# files that say so, and draws new random inputs each time.
CONTRACTS := contracts/foundry.toml contracts/slither.config.json contracts/package-lock.json \
	$(wildcard $(addsuffix /*,$(addprefix contracts/,src src/* dev test test/* bin erc7730)) contracts/roles.json sweepapi/evm/abi/* tests/vectors/*)
FORGE_PASSED := contracts/cache/.tested
SLITHER_PASSED := contracts/cache/.analysed

# The suite in parts that take about as long, each with a PostgreSQL, Redis and chain of its own. `rest` has what no other names.
WAITING_TESTS := tests/resilience
SWEEPS_TESTS := tests/sweeps tests/lab
RAILS_TESTS := tests/sweeps/rails tests/indexer tests/test_fuzzed_api.py
SHARED_TESTS := tests/sweepapi tests/partners tests/scenarios tests/races
DEV_TESTS := tests/dev
SUITE := pytest-waiting pytest-sweeps pytest-rails pytest-shared pytest-dev pytest-rest
ignored = $(addprefix --ignore=,$(1))

# What this machine lacks for the environment, as a sentence that make prints as its only line; nothing if all is there.
MISSING = $(shell command -v git >/dev/null || { echo "git is missing"; exit; }; \
	command -v $(PYTHON) >/dev/null || { echo "$(PYTHON) is missing: install Python 3.11 or newer, or name one: make PYTHON=python3.12"; exit; }; \
	$(PYTHON) -c 'import sys; sys.exit(sys.version_info < (3, 11))' || \
	{ echo "$(PYTHON) is older than 3.11: name a newer one, as in make PYTHON=python3.12"; exit; }; \
	$(PYTHON) -c 'import ensurepip, venv' 2>/dev/null || echo "$(PYTHON) has no venv: on Debian, apt install python3-venv")

.DEFAULT_GOAL := help
.PHONY: always help demo rehearse-restore dev test test-pythons bare-root check $(SUITE) pytest-fast slither mutants concurrency-mutants forge \
	invariants coverage openapi clients web docs fuzz-api random-stories chaos lab-outages lab-faults lab-bench lab-alerts lab-hostile lab-matrix lab-solana lab-web abi vectors token-list lock audit clean

help: ## list the commands
	@grep -hE '^[a-z-]+:.*## ' $(MAKEFILE_LIST) | awk -F ':.*## ' '{printf "  make %-20s %s\n", $$1, $$2}'

demo: $(CONTRACTS_READY) $(SURFPOOL_READY) ## run sweeps on a local chain, from build to ledger, and check every step
	@$(PY) -m dev demo

rehearse-restore: $(CONTRACTS_READY) $(SURFPOOL_READY) ## lose the database's last commits, restore a backup, repair the books; check every step
	@$(PY) -m lab.restore

dev: $(CONTRACTS_READY) $(SURFPOOL_READY) ## run web, the loop, Celery, beat and a local chain until Ctrl-C; see var/dev/world.json
	@$(PY) -m dev up

# Four jobs at a time on two cores, because tests wait for their chain and database, and those of `waiting` for time to pass. The
# longest start first; each prints its output when it is done.
test: $(PYTHON_READY) ## run all checks and tests, with a real PostgreSQL, Redis and chain
	@$(MAKE) --no-print-directory --jobs=4 --output-sync=target $(SUITE) forge slither check openapi clients

check: $(CONTRACTS_READY) $(PYTHON_TYPES) ## run linters, type checker, import layers, migration, settings and format checks
	$(VENV)/bin/ruff check .
	$(VENV)/bin/ruff format --check .
	$(CHECK_ENV) $(VENV)/bin/mypy
	$(VENV)/bin/lint-imports
	$(VENV)/bin/python -m lab.language
	$(CHECK_ENV) $(PY) manage.py check --deploy --fail-level WARNING
	$(CHECK_ENV) $(PY) manage.py check --deploy --fail-level WARNING --settings config.console.settings
	$(CHECK_ENV) $(PY) -W ignore::RuntimeWarning manage.py makemigrations --check --dry-run
	cd contracts && $(FORGE) fmt --check

pytest-waiting: TESTS := $(WAITING_TESTS)
pytest-sweeps: TESTS := $(SWEEPS_TESTS) $(call ignored,$(RAILS_TESTS))
pytest-rails: TESTS := $(RAILS_TESTS)
pytest-shared: TESTS := $(SHARED_TESTS)
pytest-dev: TESTS := $(DEV_TESTS)
pytest-rest: TESTS := tests $(call ignored,$(WAITING_TESTS) $(SWEEPS_TESTS) $(RAILS_TESTS) $(SHARED_TESTS) $(DEV_TESTS))

# Drops no database in the end, because its PostgreSQL goes with it.
$(SUITE): $(CONTRACTS_READY) $(SURFPOOL_READY) $(CLIENTS_READY) $(SITE_READY) $(WEB_PAGE) $(BROWSER_READY) $(FEE_SPLITS)
	$(PY) -m dev exec -- $(PY) -m pytest --reuse-db $(TESTS)

# The versions that pyproject.toml allows other than that of `test`.
test-pythons: ## run the checks and the fast tests on Python 3.12 and 3.13, where the machine has them
	@for version in 3.12 3.13; do \
		python$$version -c "" 2>/dev/null || { echo "python$$version: not on this machine"; continue; }; \
		$(MAKE) --no-print-directory PYTHON=python$$version VENV=.venv-$$version check pytest-fast || exit 1; done

pytest-fast: $(CONTRACTS_READY) $(FEE_SPLITS)
	$(PY) -m dev exec -- $(PY) -m pytest tests/sweepapi tests/partners tests/ledger

bare-root: ## run the README's two commands in a new Debian root with nothing but Python, git and make
	@lab/bare_root.sh

slither: $(SLITHER_PASSED) ## analyse the contracts statically; any finding fails

# Builds from scratch, because slither reads every build it finds.
$(SLITHER_PASSED): $(CONTRACTS) $(NODE_READY) $(SLITHER_READY)
	rm -rf contracts/out/slither contracts/cache/slither
	cd contracts && PATH="$(NODE_BIN):$$PATH" FOUNDRY_PROFILE=slither $(FORGE) build --quiet --build-info src
	cd contracts && PATH="$(NODE_BIN):$(CURDIR)/contracts/$(dir $(FORGE)):$$PATH" ../.venv-slither/bin/slither .
	touch $@

# Takes over half an hour, so `test` does not run it.
mutants: $(CONTRACTS_READY) $(FEE_SPLITS) $(SLITHER_READY) ## run mutation tests of the contracts
	PATH="$(NODE_BIN):$$PATH" $(PY) -m lab.mutation $(CURDIR)/.venv-slither/bin/python

concurrency-mutants: $(CONTRACTS_READY) ## remove each lock, compare-and-set, unique key and commit hook, and run the races
	PATH="$(NODE_BIN):$$PATH" $(PY) -m dev exec -- $(PY) -m lab.concurrency

lab-faults: $(CONTRACTS_READY) ## make twenty faults, one at a time, and run the test that finds each
	@PATH="$(NODE_BIN):$$PATH" $(PY) -m dev exec -- $(PY) -m lab.faults

lab-hostile: $(CONTRACTS_READY) ## attack the service; measure what others have of it meanwhile; fails if a target is missed
	@failed=0; for part in lab.hostile lab.hostile.bodies lab.hostile.logins; do $(PY) -m dev exec -- $(PY) -m $$part || failed=1; done; exit $$failed

lab-matrix: $(CONTRACTS_READY) ## let providers lie about mined transactions in 80 ways; see what web and loop make of it
	@$(PY) -m dev exec -- $(PY) -m lab.matrix

# Prometheus and Alertmanager as the machine has them, or as Debian packages them.
var/packages/usr/bin/promtool:
	command -v prometheus && { command -v alertmanager || command -v prometheus-alertmanager; } || { mkdir -p var/packages && cd var/packages && \
		apt-get download prometheus prometheus-alertmanager && for package in *.deb; do dpkg -x $$package . || exit 1; done; }

lab-alerts: $(CONTRACTS_READY) $(SURFPOOL_READY) var/packages/usr/bin/promtool ## break each engine and process, and make each trouble; exactly one alert comes of each (an hour)
	@$(PY) -m lab.alerts

forge: $(FORGE_PASSED) ## run the contracts' tests; check that ABIs and bytecode match the build

$(FORGE_PASSED): $(CONTRACTS) $(CONTRACTS_READY) $(FEE_SPLITS)
	cd contracts && PATH="$(NODE_BIN):$$PATH" $(FORGE) test
	cd contracts && PATH="$(NODE_BIN):$$PATH" node bin/export-abi.mjs --check
	cd contracts && PATH="$(NODE_BIN):$$PATH" node bin/build-record.mjs --check
	touch $@

invariants: $(CONTRACTS_READY) ## check the contracts' invariants with a million random calls (takes an hour)
	mkdir -p contracts/cache && : > contracts/cache/invariants.jsonl
	cd contracts && PATH="$(NODE_BIN):$$PATH" INVARIANT_TALLY=cache/invariants.jsonl FOUNDRY_PROFILE=invariants \
		$(FORGE) test --match-contract Invariants
	cd contracts && PATH="$(NODE_BIN):$$PATH" node bin/tally-invariants.mjs cache/invariants.jsonl

# Builds without the optimizer, which would remove lines; so it skips the gas tests, and the invariants, which are slow then.
coverage: $(CONTRACTS_READY) $(FEE_SPLITS) ## measure the coverage of the contracts' tests; fails below 98 %
	mkdir -p var
	cd contracts && PATH="$(NODE_BIN):$$PATH" $(FORGE) coverage --no-match-path 'test/{Gas,Invariants}*.t.sol' \
		--exclude-tests --report lcov --report-file ../var/coverage.lcov
	cd contracts && PATH="$(NODE_BIN):$$PATH" node bin/check-coverage.mjs ../var/coverage.lcov ../var/coverage.json

# Made of the code each time.
$(OPENAPI_DOCUMENT): $(PYTHON_READY) always
	mkdir -p $(@D)
	$(CHECK_ENV) $(PY) manage.py openapi > $@.new
	cmp -s $@.new $@ && rm $@.new || mv $@.new $@

# `calls` are a partner's, by the clients of four generators; mypy looks at them alone, since the generated code is not ours.
openapi: $(OPENAPI_DOCUMENT) $(OPENAPI_READY) $(OPENAPI_PYTHON_READY) ## lint the OpenAPI document, and compile calls by the clients that partners generate of it
	rm -rf var/generated && mkdir -p var/generated
	cd docs/openapi-tools && export PATH="$(NODE_BIN):$$PATH" REDOCLY_SUPPRESS_UPDATE_NOTICE=true && \
		npx redocly lint ../../$(OPENAPI_DOCUMENT) && \
		npx openapi-typescript ../../$(OPENAPI_DOCUMENT) --output ../../var/generated/openapi-typescript.ts && \
		npx openapi-ts --input ../../$(OPENAPI_DOCUMENT) --output ../../var/generated/hey-api --client @hey-api/client-fetch --no-log-file && \
		npx orval --config orval.config.mjs && \
		for compiler in typescript typescript-7; do for project in tsconfig.json tsconfig.exact.json; do \
			node node_modules/$$compiler/bin/tsc --project $$project || exit 1; done; done
	cd var/generated && PATH="$(CURDIR)/$(VENV)/bin:$$PATH" ../../.venv-openapi/bin/openapi-python-client generate \
		--path ../../$(OPENAPI_DOCUMENT) --meta none --output-path sweep_partner_api --fail-on-warning
	MYPYPATH=var/generated .venv-openapi/bin/mypy --strict --follow-imports=silent --config-file= --cache-dir=var/generated/mypy \
		docs/openapi-tools/calls/openapi_python_client.py

$(TYPESCRIPT_CLIENT): $(OPENAPI_DOCUMENT) $(TYPESCRIPT_READY) clients/typescript/build.mjs $(wildcard clients/typescript/src/*.ts)
	mkdir -p clients/typescript/src/generated
	cd clients/typescript && export PATH="$(NODE_BIN):$$PATH" && \
		npx openapi-typescript ../../$(OPENAPI_DOCUMENT) --default-non-nullable false --output src/generated/api.ts && \
		npx tsc --emitDeclarationOnly && node build.mjs

# Its stories run with the other tests, on the local world.
clients: $(TYPESCRIPT_CLIENT) $(WEB_PAGE) $(PYTHON_TYPES) ## compile, size and lint the TypeScript client and the page in examples/web; pack the Python client
	rm -rf clients/python/build
	$(VENV)/bin/pip wheel --quiet --disable-pip-version-check --no-deps --no-build-isolation --wheel-dir var/clients clients/python
	cd clients/typescript && export PATH="$(NODE_BIN):$$PATH" && \
		for compiler in typescript typescript-7; do for project in tsconfig.test.json tsconfig.consumer.json; do \
			node node_modules/$$compiler/bin/tsc --project $$project || exit 1; done; done && \
		npx eslint . && npx publint --pack false

web: $(WEB_PAGE) ## build the page in examples/web, which `make dev` serves

$(WEB_PAGE): $(TYPESCRIPT_CLIENT) $(WEB_READY) examples/web/build.mjs examples/web/server.ts $(wildcard examples/web/src/*)
	cd examples/web && PATH="$(NODE_BIN):$$PATH" && npx tsc && node build.mjs

# Its pyproject.toml has the options. `check` runs mypy on the client and on what uses it.
$(PYTHON_TYPES): $(OPENAPI_DOCUMENT) $(OPENAPI_PYTHON_READY)
	cd clients/python && ../../.venv-openapi/bin/datamodel-codegen

# WORLD_ENV names a file of variables, such as var/dev/world.env, for the blocks of the quickstarts. Without --force, Astro keeps the blocks
# of the last build.
docs: $(OPENAPI_DOCUMENT) $(SITE_READY) ## build the documentation for partners into var/docs, which the service serves below /docs/
	cd docs/site && PATH="$(NODE_BIN):$$PATH" ASTRO_TELEMETRY_DISABLED=1 npx astro build --silent --force

# `python -m lab.chaos --help` lists the choices.
chaos: $(CONTRACTS_READY) ## sweep while engines, providers and processes fail; compare the books with the chain (20 minutes)
	@$(PY) -m lab.chaos --seeds 3 --sweeps 500

lab-outages: $(CONTRACTS_READY) ## take engines and processes down for up to two minutes; measure how soon work resumes (20 minutes)
	@$(PY) -m lab.outages

fuzz-api: $(CONTRACTS_READY) ## send the API thousands of requests made up from its OpenAPI document; see var/fuzz-api.json
	FUZZ_EXAMPLES=$${FUZZ_EXAMPLES:-200} $(PY) -m dev exec -- $(PY) -m pytest tests/test_fuzzed_api.py

random-stories: $(CONTRACTS_READY) ## compare random stories of sweeps with the state table, more of them than `test` does
	STORIES=$${STORIES:-200} $(PY) -m dev exec -- $(PY) -m pytest tests/sweeps/test_story.py

lab-solana: $(CONTRACTS_READY) ## sweep Solana at the swap API's free plan; read a wallet full of spam; compare 200 random wallets with their promises
	@failed=0; $(PY) -m dev exec -- $(PY) -m lab.bench solana || failed=1; \
	WALLETS=$${WALLETS:-200} $(PY) -m dev exec -- $(PY) -m pytest --reuse-db --durations=3 \
		tests/sweeps/rails/solana_v1/discover/test_spam_wallet.py tests/sweeps/rails/solana_v1/test_random_wallets.py || failed=1; \
	exit $$failed

lab-web: $(CONTRACTS_READY) $(BROWSER_READY) $(WEB_PAGE) docs ## visit the documentation with Chromium, measure paint, bytes and height; sweep on the page with every wallet
	@failed=0; $(PY) -m dev exec -- $(PY) -m lab.bench web || failed=1; \
	MATRIX=1 $(PY) -m dev exec -- $(PY) -m pytest --reuse-db tests/dev/browser/test_example_page.py || failed=1; \
	exit $$failed

ifeq ($(SECTION),deception)
lab-bench: $(TOKEN_LISTS_READY)
endif

# Times are of a machine that does nothing else meanwhile. `scale` stores SWEEPS=5000000 on 60 GB of disk.
lab-bench: $(CONTRACTS_READY) ## measure SECTION=api|build|deception|gas|indexer|monitoring|scale|solana|wallets|webhooks; fails if a target is missed
ifeq ($(SECTION),gas)
	@cd contracts && PATH="$(NODE_BIN):$$PATH" node bin/bench-gas.mjs
else ifeq ($(SECTION),monitoring)
	@$(PY) -m dev exec -- $(PY) -m lab.bench.monitoring
else ifeq ($(SECTION),scale)
	@$(PY) -m lab.bench.scale
else
	@$(PY) -m dev exec -- $(PY) -m lab.bench $(SECTION)
endif

bench-%:
	@$(MAKE) --no-print-directory lab-bench SECTION=$*

abi: $(CONTRACTS_READY) ## export the build's ABIs for Python, and the record of its bytecode
	cd contracts && PATH="$(NODE_BIN):$$PATH" node bin/export-abi.mjs
	cd contracts && PATH="$(NODE_BIN):$$PATH" node bin/build-record.mjs

vectors: $(NODE_READY) ## regenerate the test vectors with viem, which shares no code with ours
	cd contracts && PATH="$(NODE_BIN):$$PATH" node bin/make-vectors.mjs
	cd contracts && PATH="$(NODE_BIN):$$PATH" node bin/make-pool-vectors.mjs
	cd contracts && PATH="$(NODE_BIN):$$PATH" node bin/make-fee-splits.mjs --checksum

token-list: $(NODE_READY) ## copy Uniswap's token list from its locked package, for the service
	$(PY) -m dev.pinned.token_list

lock: ## update the locked Python dependencies, with hashes and without index URLs
	$(PYTHON) -m venv var/uv && var/uv/bin/pip install --quiet --disable-pip-version-check uv
	for name in base dev node slither audit openapi; do var/uv/bin/uv pip compile --quiet --universal --generate-hashes --python-version 3.11 \
		--no-emit-index-url --no-emit-find-links --custom-compile-command "make lock" \
		requirements/$$name.in -o requirements/$$name.txt; done
	var/uv/bin/uv pip compile --quiet --universal --generate-hashes --python-version 3.11 --no-deps \
		--no-emit-index-url --no-emit-find-links --custom-compile-command "make lock" \
		requirements/multicall3.in -o requirements/multicall3.txt

# Asks PyPI and npm about every locked version, so it needs the network and is not part of `test`.
audit: $(AUDIT_READY) $(PYTHON_READY) ## look up known vulnerabilities of the locked dependencies
	@PATH="$(NODE_BIN):$$PATH" $(PY) -m dev.audit $(CURDIR)/.venv-audit/bin/pip-audit npm

clean: ## delete build and run output; keeps the environment
	rm -rf var contracts/out contracts/cache staticfiles

$(PYTHON_READY): requirements/dev.txt requirements/multicall3.txt clients/python/pyproject.toml
	$(if $(MISSING),$(error $(MISSING)))
	$(PYTHON) -m venv $(VENV)
	$(VENV)/bin/pip install --quiet --disable-pip-version-check --require-hashes -r requirements/dev.txt
	$(VENV)/bin/pip install --quiet --disable-pip-version-check --require-hashes --no-deps -r requirements/multicall3.txt
	$(VENV)/bin/pip install --quiet --disable-pip-version-check --no-deps --no-build-isolation --editable clients/python
	touch $@

$(SLITHER_READY): requirements/slither.txt
	$(PYTHON) -m venv .venv-slither
	.venv-slither/bin/pip install --quiet --disable-pip-version-check --require-hashes -r requirements/slither.txt
	touch $@

$(OPENAPI_PYTHON_READY): requirements/openapi.txt
	$(PYTHON) -m venv .venv-openapi
	.venv-openapi/bin/pip install --quiet --disable-pip-version-check --require-hashes -r requirements/openapi.txt
	touch $@

$(AUDIT_READY): requirements/audit.txt
	$(PYTHON) -m venv .venv-audit
	.venv-audit/bin/pip install --quiet --disable-pip-version-check --require-hashes -r requirements/audit.txt
	touch $@

# Each folder's .npmrc has the options.
%/node_modules/.ready: %/package-lock.json | $(PYTHON_READY)
	cd $* && PATH="$(NODE_BIN):$$PATH" npm ci --loglevel=error
	touch $@

# Too large to commit; the tests compare its SHA-256 with the committed one.
$(FEE_SPLITS): contracts/bin/make-fee-splits.mjs | $(NODE_READY)
	cd contracts && PATH="$(NODE_BIN):$$PATH" node bin/make-fee-splits.mjs

# Builds only what the local world deploys; the contracts' tests are compiled when they run.
$(CONTRACTS_READY): contracts/foundry.toml $(wildcard contracts/src/*.sol contracts/src/*/*.sol contracts/dev/*.sol) | $(NODE_READY)
	cd contracts && PATH="$(NODE_BIN):$$PATH" FOUNDRY_PROFILE=permit2 $(FORGE) build --quiet & permit2=$$!; \
	cd contracts && PATH="$(NODE_BIN):$$PATH" $(FORGE) build --quiet src dev && wait $$permit2
	touch $@
