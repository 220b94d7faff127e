# What the rules share: the checked experiment, names derived from it, and functions of wildcards.
import json
import os
import re
import shlex
import sys
from pathlib import Path

import snakemake.jobs
import snakemake.workflow

# Without this path, jobs cannot import nmt: they run in any folder, and Snakemake unsets PYTHONPATH in conda environments. Python
# must not import from the working folder, where a file may be called as a module. The `tee` of a job ignores the signals that end
# the job, so the last messages are shown; it also survives a terminal that closes.
sys.path.insert(0, str(ROOT))
shell.prefix(
    "set -euo pipefail; export PYTHONSAFEPATH=1 PYTHONPATH={ROOT:q}${{PYTHONPATH:+:$PYTHONPATH}};"
    " tee() {{ trap '' INT TERM PIPE; command tee \"$@\"; }}; "
)

from nmt import papers
from nmt.corpora.languages import has_spaces
from nmt.corpora.lmplz import KENLM
from nmt.corpora.lock import lock_path
from nmt.corpora.own import digest as own_digest
from nmt.corpora.own import reading
from nmt.corpora.parts import cut_corpora, held_out_sets
from nmt.report.artefacts import front, on_page, sheets, targets
from nmt.settings.elsewhere import check_folders, check_report
from nmt.settings.experiment import PHRASE_BASED
from nmt.settings.ownership import check_owner, check_results, record, record_results
from nmt.settings.project import find
from nmt.system.claims import claim
from nmt.system.errors import UserError
from nmt.system.orphans import announce, clear_locks, end_gently, spare_locks
from nmt.system.records import leave_marks, remember_failures
from nmt.system.streams import escape_output, outlive_readers
from nmt.training.metrics import is_lost
from nmt.workflow import announce_work, begin, code, codes, end, step_of, train_priority, translations
from nmt.workflow import has_hooks, on_nothing_to_do, plain_names, warn_of_unrecorded
from nmt.workflow import bleu_options, compared_options, figure_options, models_options, pair_options
from nmt.workflow import check_inputs, check_links, check_models, check_start, check_unchanged
from nmt.workflow import find_files, load_experiment, one_line_mistakes, refuse, sample_options, search_options
from nmt.workflow import sacrebleu_version, show_what_made, speed_options

# Where a step's messages go: to its log and, with SHOWN, to the terminal as well.
LOG = " 2> {log:q}"
SHOWN = " 2> >(tee {log:q} >&2)"
# The options of every table: whether the language is the built-in one, and the output files.
TABLE = " {params.generated:q} --output-csv {output.csv:q} --output-md {output.md:q}"

OF_SUBWORDS = ["source.codes", "target.codes"]  # files that only a model of subwords has
# As a module, this workflow has no files of its own: the other workflow's are not an experiment's.
CONFIG_FILES = workflow.overwrite_configfiles or workflow.configfiles if workflow.modifier.is_main_snakefile() else []
CONFIG_FILES = [os.path.relpath(file) for file in CONFIG_FILES]
escape_output(logger.handlers)
with one_line_mistakes():
    if workflow.modifier.path_modifier.replace_prefix("data") != "data":
        raise UserError("module: a prefix cannot be used; name the folders by `experiment` and `results`")
    if workflow.is_main_process:
        check_start(CONFIG_FILES, os.path.normpath(workflow.basedir), sys.argv[1:])
    EXPERIMENT, REGISTRY, ARTEFACTS = load_experiment(config)
    PARTS = cut_corpora(EXPERIMENT.corpora, EXPERIMENT.monolingual, REGISTRY, EXPERIMENT.shard)
    OWN, ARCHIVES = find_files(EXPERIMENT, REGISTRY, PARTS)
    DEVELOPMENT, TEST = EXPERIMENT.corpora.development, EXPERIMENT.corpora.test
    PLACES = {"": TEST[0], **{f"{name}/": name for name in TEST[1:]}}
    RESULTS = targets(ARTEFACTS.values(), PLACES)
    if workflow.is_main_process:
        check_links(EXPERIMENT)
        check_owner(EXPERIMENT.name, CONFIG_FILES)
        check_folders(EXPERIMENT, sys.argv[1:])  # Snakemake itself does not know the targets yet
        check_inputs(EXPERIMENT, REGISTRY, OWN, ARCHIVES)
        check_models(EXPERIMENT)
        check_results(EXPERIMENT.name, EXPERIMENT.results, RESULTS)
        check_report(EXPERIMENT, sys.argv[1:], RESULTS)
        if not has_hooks(workflow) and not workflow.logger_manager.settings.dryrun:
            record_results(EXPERIMENT.name, EXPERIMENT.results)
        options = {word.partition("=")[0] for word in sys.argv}
        # With --report-after-run, the report shows the run that it follows.
        after_run = any(word.startswith("--report-a") for word in options)
        if "--report" in options and not after_run and workflow.modifier.is_main_snakefile():
            show_what_made(EXPERIMENT.results, config)
    else:
        claim(EXPERIMENT.name, sys.argv)
    check_unchanged(not workflow.is_main_process, config, [REGISTRY[name] for name in PARTS], OWN.values())
    MODEL_FILES = ["model.safetensors", "summary.json", "source.tsv", "target.tsv"]
    MODEL_FILES += OF_SUBWORDS if EXPERIMENT.subwords else []
    LOST = [variant for variant in EXPERIMENT.variants if is_lost(EXPERIMENT.name, variant, MODEL_FILES)]
announce()
end_gently(getattr(snakemake.workflow, "JobScheduler", None))
PLAIN_NAME = plain_names(workflow)
persistence = getattr(snakemake.workflow, "FilePersistence", None)
if workflow.is_main_process:
    logger.info(None, extra={"experiment": EXPERIMENT, "plain_name": PLAIN_NAME})  # for the logger nmt
    outlive_readers(logger.handlers)
    on_nothing_to_do(logger, lambda: warn_of_unrecorded(workflow, EXPERIMENT, PLAIN_NAME))
    spare_locks(persistence, Path(".snakemake"))
    remember_failures(getattr(snakemake.jobs, "Job", None), persistence)
    if clear_locks(Path(".snakemake")) and any(re.fullmatch("--unl(o(ck?)?)?", word) for word in sys.argv):
        refuse("--unlock: another run works here, and needs its locks; wait for it to end")
else:
    leave_marks(persistence)
DATA = f"data/{EXPERIMENT.name}"
LANGUAGES = [EXPERIMENT.languages.source, EXPERIMENT.languages.target]
TRAIN, IN_DOMAIN = EXPERIMENT.corpora.train, EXPERIMENT.corpora.in_domain
HELD_OUT = held_out_sets(EXPERIMENT.corpora)
CORPORA = list(PARTS)
ONE_SIDED = [name for name in CORPORA if REGISTRY[name].is_monolingual]
PART = {part.name: part for parts in PARTS.values() for part in parts}
SETS = [*TEST, "development"]
# The codes of both sides where the vocabularies are of subwords, and the text that ids are made from.
SUBWORDS, HAS_PIECES = EXPERIMENT.subwords, EXPERIMENT.has_pieces
CODES = [
    f"<data>/{'pieces' if HAS_PIECES else 'bpe'}/{'joint' if SUBWORDS.joint else language}.codes"
    for language in (LANGUAGES if SUBWORDS else ())
]
TRAINING_TEXT = f"<data>/{'segmented' if SUBWORDS else 'selected'}/train.{{language}}"
MODEL = [f"<data>/models/{{variant}}/{name}" for name in MODEL_FILES]
SYSTEMS = EXPERIMENT.systems
TRAININGS = {name: variant.label for name, variant in EXPERIMENT.variants.items()}  # each seed has its own label
BEAMS = papers.beams(EXPERIMENT)
MADE_UP = ["--generated"] if EXPERIMENT.is_generated else []
SOURCE, REFERENCE = (f"<data>/tokenized/{{set}}.{language}" for language in LANGUAGES)
# The text beside which alignments are shown and whose words are counted: in pieces, where spaces do not show the words.
SHOWN_SOURCE, SHOWN_REFERENCE = (
    f"<data>/{'tokenized' if not HAS_PIECES or has_spaces(language) else 'segmented'}/{{set}}.{language}"
    for language in LANGUAGES
)
TRANSLATION = "<data>/translations/{variant}/{set}.txt"
SYMBOLS = "<data>/translations/{variant}/{set}.symbols.txt"
EVALUATION = "<data>/evaluation/{variant}/{set}{beam}.json"


def one_of(names):
    """A wildcard constraint: one of the names."""
    return f"(?:{'|'.join(re.escape(name) for name in names)})"


def model_code(step, *variants):
    """The digest of the code of a step that runs models: `variants` or, where none is named, {variant}."""
    return lambda wildcards: code(step, [EXPERIMENT.variants[name] for name in variants or [wildcards.variant]])


def archives_of(wildcards):
    """The files that hold a corpus, source first."""
    archives = REGISTRY[wildcards.corpus].archives
    return [OWN[one.address] if one.address in OWN else f"{DATA}/archives/{one.path}" for one in archives]


def fetched(wildcards):
    """The files of a corpus that are fetched. The user's own are not inputs: their digests count, not their paths."""
    return [f"{DATA}/archives/{one.path}" for one in REGISTRY[wildcards.corpus].archives if one.address not in OWN]


def own_digests(wildcards):
    """The digest of each archive of a corpus that is the user's own file, and '' for each that is fetched, quoted."""
    files = [OWN.get(one.address) for one in REGISTRY[wildcards.corpus].archives]
    return shlex.join(own_digest(file) if file else "" for file in files)


def readings(wildcards):
    """How the user's own files of a corpus are read if their names determine that."""
    files = [OWN[one.address] for one in REGISTRY[wildcards.corpus].archives if one.address in OWN]
    return list(filter(None, map(reading, files)))


def contents(files):
    """The digests of files of the project that a job reads: an update of the project may change them but not their dates."""
    return list(map(own_digest, files))


def untokenized(language):
    """The language by whose rules text is tokenized and detokenized; none where it comes tokenized."""
    return [] if EXPERIMENT.tokenized or HAS_PIECES else language


def growing(mem_mb, runtime, **others):
    """Memory in MB and time in minutes: twice as much for the second attempt at a job, and so on; `others` stay."""
    return others | {
        "mem_mb": lambda wildcards, attempt: mem_mb * attempt,
        "runtime": lambda wildcards, attempt: runtime * attempt,
    }


def untracked(value):
    """A param that says where or how fast, not what. Snakemake does not compare params that depend on the output."""
    return lambda wildcards, output: value(wildcards) if callable(value) else value


def both(path, **names):
    """A path for each of the two languages, source first; {language} stands for it."""
    return expand(path, language=LANGUAGES, allow_missing=True, **names)


def side(number, names, kind="tokenized"):
    """The tokenized source (0) or target (1) sides of corpora, part by part; of another `kind` where it is named."""
    return [f"<data>/{kind}/{part.name}.{LANGUAGES[number]}" for name in names for part in PARTS[name]]


def to_segment(wildcards):
    """The text that is segmented: the selected training text, or one that is tokenized."""
    kind = "selected" if wildcards.segmented == "train" else "tokenized"
    return f"<data>/{kind}/{wildcards.segmented}.{wildcards.language}"


def of_parts(path):
    """`path` for each part of the training corpora, in order; {part} and {corpus} stand for their names."""
    parts = [part for name in TRAIN for part in PARTS[name]]
    return [path.replace("{part}", part.name).replace("{corpus}", part.corpus) for part in parts]


def of_set(path, **names):
    """An input function: `path`, expanded with `names`, for the test set whose tables lie at {place}."""
    return lambda wildcards: expand(path, set=PLACES[wildcards.place], **names)


def labels(systems, of=SYSTEMS):
    """The labels of systems in tables and figures."""
    return [of[system] for system in systems]


def named(systems, of=SYSTEMS):
    """The labels of systems as a param, and which system has which: Snakemake does not compare the order of inputs."""
    return dict(labels=labels(systems, of), systems=[f"{system}: {of[system]}" for system in systems])


# The vocabularies, which decide the words that the models know.
VOCABULARIES = dict(shortlists=both("<data>/shortlist/{language}.tsv"), codes=CODES)


def drawn(name):
    """The files of a figure; the report shows the SVG."""
    files = {kind: f"<results>/{ARTEFACTS[name].path(kind)}" for kind in ("pdf", "svg", "png")}
    return files | {"svg": report(files["svg"], **ARTEFACTS[name].in_report(PLACES))}


def unk_forbidden(systems, of):
    """The translations of a set with the unknown word forbidden, where they are measured."""
    return translations(systems, of, ".no_unk") if EXPERIMENT.evaluate.no_unk else []
