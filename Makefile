# make demo: the whole experiment at a size for a laptop; make demo-choi: that of the second paper.
# make multi30k: the paper's question on public text, fetched or, with MIRROR=FOLDER, read from a copy. SEEDS=5 trains each model
# five times; after make multi30k, four times more.
# make test, make lint: the checks.
# make open MIRROR=FOLDER: results/open, from the open corpora in that folder; make open-bpe, after it, adds byte pair encoding.
# make moses: Moses, built for all experiments; SOURCES=FOLDER takes its sources from there.
# make bench, make bench-data, make bench-peers: the speed of the models, of the data stages and of other systems' models.
# Whichever is made first creates the environment in .venv, with the command nmt.

PYTHON ?= python3
CORES ?= $(shell getconf _NPROCESSORS_ONLN)
export PATH := $(CURDIR)/.venv/bin:$(PATH)
unexport PYTHONDONTWRITEBYTECODE # otherwise each of hundreds of processes would compile the package again
SHELL := bash
.SHELLFLAGS := -o pipefail -c

quoted = '$(subst ','\'',$(1))'
GIVEN = $(if $(SEEDS),$(call quoted,seeds=$(SEEDS)))
DEMO = snakemake $(if $(GIVEN),--config $(GIVEN)) --configfile $(CONFIG) --cores $(CORES)
REPORTS := results/demo/report.html results/demo-choi/report.html results/multi30k/report.html

OPEN = snakemake --cores $(CORES) --resources gpu=$(CORES) network=1 --config $(call quoted,mirror=$(MIRROR)) --configfile
STUDY = config/bahdanau2015/open
EVALUATION = evaluation/RNNsearch-50/newstest2014.json

.PHONY: env demo demo-choi multi30k open open-bpe moses test test-long lint bench bench-data bench-peers
.DELETE_ON_ERROR:

env: .venv/made

demo results/demo/report.html: CONFIG := config/demo.yaml
demo-choi results/demo-choi/report.html: CONFIG := config/choi2017/demo-choi.yaml
multi30k results/multi30k/report.html: CONFIG := config/multi30k.yaml
multi30k results/multi30k/report.html: GIVEN += $(if $(MIRROR),$(call quoted,mirror=$(MIRROR)))

# Without a GPU, `gpu` is how many models are trained at once: as many as there are cores.
demo demo-choi multi30k: .venv/made
	@mkdir -p logs
	@$(DEMO) --resources gpu=$(CORES) network=1 --logger nmt 2> logs/$@.log
	@$(MAKE) --no-print-directory results/$@/report.html
	@cd results/$@ && echo "Tables: " *.md *.csv
	@cd results/$@ && echo "Figures:" *.pdf "and as .svg and .png"
	@echo "Report:  results/$@/report.html"

.SECONDEXPANSION:
$(REPORTS): results/%/report.html: $$(wildcard results/$$*/*.csv results/$$*/*.png)
	@$(DEMO) --report $@ 2>> logs/$*.log || { tail logs/$*.log; exit 1; }

# The run on real text, and what its data selection is worth; two hours on two cores.
open: .venv/made
	@$(OPEN) config/open.yaml
	@$(OPEN) $(STUDY)-third.yaml -- data/open-third/$(EVALUATION) data/open-third/selected/audit.csv
	@$(OPEN) $(STUDY)-random.yaml -- data/open-random/$(EVALUATION)
	@$(OPEN) $(STUDY)-hansard.yaml -- data/open-hansard/selected/audit.csv
	@cp data/open-third/selected/audit.csv results/open/selection-third.csv
	@cp data/open-hansard/selected/audit.csv results/open/selection-hansard.csv
	@python -m nmt evidence --lmplz data/tools/lmplz --labels selected random \
		--sources data/open-third/selected/train.en data/open-random/selected/train.en \
		--targets data/open-third/selected/train.fr data/open-random/selected/train.fr \
		--test data/open-third/tokenized/newstest2014.en data/open-third/tokenized/newstest2014.fr \
		--evaluations data/open-third/$(EVALUATION) data/open-random/$(EVALUATION) \
		--output results/open/selection-evidence.csv

# After make open: RNNsearch-50 with byte pair encoding, compared with words and with the phrase-based system, with and without
# length normalization; half an hour on one core.
open-bpe: .venv/made
	@$(OPEN) $(STUDY)-bpe.yaml -- data/open-bpe/translations/RNNsearch-50/{newstest2014,heldout-law-test}.txt
	@for set in newstest2014 heldout-law-test; do \
		for run in open open-bpe; do python -m nmt translate --model data/$$run/models/RNNsearch-50 --tokenized --normalize \
			--source data/open/tokenized/$$set.en --output data/$$run/normalized.$$set.txt || exit; done; \
		python -m nmt significance --shortlists data/open/shortlist/{en,fr}.tsv --seed 1234 \
			--source data/open/tokenized/$$set.en --reference data/open/tokenized/$$set.fr \
			--translations data/open{,-bpe}/translations/RNNsearch-50/$$set.txt data/open{,-bpe}/normalized.$$set.txt \
				data/open/translations/phrase-based/$$set.txt \
			--labels Words BPE "Words, normalized" "BPE, normalized" "Phrase-based (Thot)" \
			--pair BPE Words --pair "BPE, normalized" "Words, normalized" --pair "BPE, normalized" "Phrase-based (Thot)" \
			--output-csv results/open/bpe-$$set.csv --output-md results/open/bpe-$$set.md || exit; done

moses: .venv/made
	@python -m nmt moses_build --sources $(call quoted,$(SOURCES)) --threads $(CORES) --output data/tools/moses/built.json

# Training and decoding compared with a plain version of the same model, and a profile of an update: results/bench.
bench: .venv/made
	@python -m bench.train
	@python -m bench.decode
	@python -m bench.processes
	@python -m bench.profile

# The data stages on 0.25, 1 and 4 million pairs, and their memory on as many pairs as WMT'14 has: data.csv and memory.csv
# in results/bench, explained in docs/scale.md. Takes a quarter of an hour on an idle machine, and 6 GB of disk.
bench-data: .venv/made
	@python -m bench.memory
	@python -m bench.data

# JoeyNMT, OpenNMT-py and Marian, in an environment of their own, compared with ours: results/bench/peers.csv.
bench-peers: .venv/made .venv-peers/made
	@python -m bench.peers

# More processes than two cores need, because some tests mostly wait.
test: .venv/made
	python -m pytest --numprocesses 6 --dist loadscope --no-loadscope-reorder

# The rest of what continuous integration runs: whole experiments, kernels in Triton's interpreter, killed trainings.
test-long: .venv/made
	python -m pytest -m long --numprocesses 4 --dist load

lint: .venv/made
	ruff check .
	ruff format --check .
	mypy
	snakefmt --check Snakefile workflow
	snakemake --lint

.venv/made: requirements.txt pyproject.toml
	@$(PYTHON) -c 'import sys; sys.exit(sys.version_info < (3, 11) and "Python 3.11 to 3.14 is needed: make PYTHON=python3.11")'
	@echo "Installing Python packages into .venv; this takes one to three minutes."
	@$(PYTHON) -m venv .venv
	@# Compiling every module would double the processor time; Python compiles what it imports.
	@.venv/bin/python -m pip install --no-compile --requirement requirements.txt | \
		awk '/^(Collecting|Processing)/ { printf "."; fflush() } /^Installing/ { printf " fetched, installing"; fflush() } END { print "" }'
	@.venv/bin/python -m pip install --quiet --no-deps --editable .
	@touch $@

.venv-peers/made: bench/peers.txt requirements.txt
	$(PYTHON) -m venv .venv-peers
	.venv-peers/bin/python -m pip install --quiet --constraint requirements.txt torch numpy PyYAML packaging tqdm
	.venv-peers/bin/python -m pip install --quiet --no-deps --requirement bench/peers.txt
	@touch $@
