# What the rules share: the checked experiment, names derived from it, and functions of wildcards.
import os
import re
import shlex
import sys
from contextlib import contextmanager
from pathlib import Path

# Jobs import nmt, too, in any folder and in conda environments, for which Snakemake unsets PYTHONPATH. Their `tee` outlives the
# signals that end them, so that they can say what they do about these, and the reader of the terminal.
sys.path.insert(0, str(ROOT))
shell.prefix(
    "set -euo pipefail; export PYTHONPATH={ROOT:q}${{PYTHONPATH:+:$PYTHONPATH}};"
    " tee() {{ trap '' INT TERM PIPE; command tee \"$@\"; }}; "
)

from nmt import commands, papers
from nmt.corpora.lock import lock_path
from nmt.corpora.own import check_files, check_mirror, check_outside, check_tests, own_files, read_corpora
from nmt.corpora.own import digest as own_digest
from nmt.corpora.parts import cut_corpora, held_out_sets
from nmt.monitor.forecast import announcement
from nmt.report.artefacts import collect, compared, on_page, targets
from nmt.settings.checks import PLAIN, is_plain
from nmt.settings.elsewhere import check_folders
from nmt.settings.experiment import PHRASE_BASED, check_corpora, check_moses, load
from nmt.settings.extends import read, resolve
from nmt.settings.ownership import check_owner, record
from nmt.settings.project import find
from nmt.settings.variant import ATTENTIONS, UNITS
from nmt.system.digest import digest
from nmt.system.files import UserError, check_room
from nmt.system.orphans import announce, clear_locks, end_gently, name_locks
from nmt.system.scheduler import check_slurm
from nmt.system.streams import outlive_readers


def refuse(reason):
    """End the run with one line, which a logger shows, too."""
    logger.error(f"snakemake: {reason}")
    sys.exit(1)


@contextmanager
def one_line_mistakes():
    """A mistake in the context ends the run with one line."""
    try:
        yield
    except UserError as error:
        refuse(error)
    except OSError as error:
        refuse(f"{error.filename}: {error.strerror}")


def read_experiment():
    """The checked experiment, its registry and its artefacts."""
    if not is_plain(workflow.basedir):
        raise UserError(f"{workflow.basedir}: expected a path {PLAIN}; move the project elsewhere")
    for folder in (Path.cwd(), Path(".snakemake"), Path(os.environ.get("TMPDIR", "."))):
        if workflow.is_main_process and folder.is_dir():
            check_room(folder)
    if workflow.modifier.path_modifier.replace_prefix("data") != "data":
        raise UserError("module: a prefix cannot be used; name the folders by `experiment` and `results`")
    if workflow.is_main_process:
        for file in CONFIG_FILES:
            read(file)  # stricter than Snakemake, which has read it already
    resolved = resolve(config)
    experiment = load(resolved)
    if workflow.is_main_process:
        check_owner(experiment.name, CONFIG_FILES)
        check_folders(experiment, sys.argv[1:])  # Snakemake itself does not know the targets yet
    registry = read_corpora(experiment)
    check_corpora(experiment, registry)
    check_moses(experiment)
    found = collect(experiment, papers.artefacts(experiment))
    config.clear()
    config.update(resolved)  # which the report shows
    return experiment, registry, found


CONFIG_FILES = [os.path.relpath(file) for file in workflow.overwrite_configfiles or workflow.configfiles]
with one_line_mistakes():
    EXPERIMENT, REGISTRY, ARTEFACTS = read_experiment()
announce()
if workflow.is_main_process:
    logger.info(None, extra={"experiment": EXPERIMENT})  # for the logger nmt
    outlive_readers(logger.handlers)
    if clear_locks(Path(".snakemake")) and "--unlock" in sys.argv:
        refuse("--unlock: another run works here, and needs its locks; wait for it to end")
DATA = f"data/{EXPERIMENT.name}"
LANGUAGES = [EXPERIMENT.languages.source, EXPERIMENT.languages.target]
TRAIN, IN_DOMAIN = EXPERIMENT.corpora.train, EXPERIMENT.corpora.in_domain
DEVELOPMENT, TEST = EXPERIMENT.corpora.development, EXPERIMENT.corpora.test
HELD_OUT = held_out_sets(EXPERIMENT.corpora)
MONOLINGUAL = EXPERIMENT.phrase_based.monolingual if EXPERIMENT.phrase_based else ()
PARTS = cut_corpora(EXPERIMENT.corpora, MONOLINGUAL, REGISTRY, EXPERIMENT.shard)
CORPORA = list(PARTS)
ONE_SIDED = [name for name in CORPORA if REGISTRY[name].is_monolingual]
PART = {part.name: part for parts in PARTS.values() for part in parts}
SETS = [*TEST, "development"]
PLACES = {"": TEST[0], **{f"{name}/": name for name in TEST[1:]}}
GENERATED = EXPERIMENT.mirror == "generated"
MIRROR = f"{DATA}/mirror" if GENERATED else EXPERIMENT.mirror or ""
with one_line_mistakes():
    FILES = [archive for name in CORPORA for archive in REGISTRY[name].archives]
    # The user's own files, which are read where they are, and the archives that are fetched.
    OWN = {} if GENERATED else own_files(FILES, MIRROR)
    ARCHIVES = {archive.path: archive for archive in FILES if archive.address not in OWN}
    if workflow.is_main_process:
        check_tests(EXPERIMENT, REGISTRY, OWN)
        check_outside(EXPERIMENT, OWN.values(), "" if GENERATED else MIRROR, ARCHIVES)
    if workflow.is_main_process and not GENERATED:
        check_files(OWN.values())
        check_mirror(MIRROR, [f"{DATA}/archives/{path}" for path in ARCHIVES])
# The codes of both sides where the vocabularies are of subwords, and the text that they and the ids are made from.
BPE = EXPERIMENT.bpe
CODES = [f"<data>/bpe/{'joint' if BPE.joint else language}.codes" for language in LANGUAGES] if BPE else []
TRAINING_TEXT = f"<data>/{'segmented' if BPE else 'selected'}/train.{{language}}"
MODEL = [
    f"<data>/models/{{variant}}/{name}"
    for name in ("model.safetensors", "summary.json", "source.tsv", "target.tsv")
    + (("source.codes", "target.codes") if BPE else ())
]
SYSTEMS = EXPERIMENT.systems
BEAMS = papers.beams(EXPERIMENT)
# The option of tables and pages that says whether the language is that of the project.
MADE_UP = ["--generated"] if GENERATED else []
SOURCE, REFERENCE = (f"<data>/tokenized/{{set}}.{language}" for language in LANGUAGES)
TRANSLATION = "<data>/translations/{variant}/{set}.txt"
SYMBOLS = "<data>/translations/{variant}/{set}.symbols.txt"


def begin():
    """Check that jobs can be submitted, and prepare for the end of this run, whichever way it comes."""
    if workflow.executor_plugin.name == "slurm":
        check_slurm()
    name_locks(Path(".snakemake"), workflow.persistence._lockfile.values())
    end_gently()


def announce_work():
    """Say on standard error what the run downloads and how long it trains, where that is much."""
    jobs = list(workflow.dag.needrun_jobs())
    archives = [ARCHIVES[job.wildcards.archive] for job in jobs if job.rule.name == "fetch"]
    variants = [job.wildcards.variant for job in jobs if job.rule.name == "train"]
    if said := announcement(EXPERIMENT, archives, variants, ROOT):
        print(said, file=sys.stderr, flush=True)


def one_of(names):
    """A wildcard constraint: one of the names."""
    return f"(?:{'|'.join(re.escape(name) for name in names)})"


def code(step):
    """The digest of a step's code: a change of what it computes runs it again, a change of its wording does not."""
    return digest([commands.module(step)])


def model_code(step, *variants):
    """As `code`, for a step that runs models: only what its variants need counts, of attentions, units and scores.

    These are `variants` or, where none is named, {variant}.
    """

    def of_variants(wildcards):
        chosen = [EXPERIMENT.variants[name] for name in variants or [wildcards.variant]]
        models = [one.architecture for one in chosen]
        own = {module for one in models for module in (ATTENTIONS[one.attention][0], UNITS[one.unit][0])}
        others = {module for module, _ in (*ATTENTIONS.values(), *UNITS.values())} - own
        if all(one.optimization.stop_on == "nll" for one in chosen):
            others.add("nmt.training.greedy")
        if all(one.contextualization is None for one in models):
            others.add("nmt.model.contextualization")
        return digest([commands.module(step), *own], others)

    return of_variants


def archives_of(wildcards):
    """The files that hold a corpus, source first."""
    archives = REGISTRY[wildcards.corpus].archives
    return [OWN[one.address] if one.address in OWN else f"{DATA}/archives/{one.path}" for one in archives]


def fetched(wildcards):
    """Those of them that are fetched. The user's own are no inputs: what counts are their digests, not where they are."""
    return [f"{DATA}/archives/{one.path}" for one in REGISTRY[wildcards.corpus].archives if one.address not in OWN]


def own_digests(wildcards):
    """The digests of the user's own files that hold a corpus."""
    return [own_digest(OWN[one.address]) for one in REGISTRY[wildcards.corpus].archives if one.address in OWN]


def untokenized(language):
    """The language by whose rules text is tokenized and detokenized; none where it comes tokenized."""
    return [] if EXPERIMENT.tokenized else language


def growing(mem_mb, runtime):
    """Memory in MB and time in minutes: twice as much for the second attempt at a job, and so on."""
    return {
        "mem_mb": lambda wildcards, attempt: mem_mb * attempt,
        "runtime": lambda wildcards, attempt: runtime * attempt,
    }


def untracked(value):
    """A param that says where or how fast, not what. Snakemake does not compare params that depend on the output."""
    return lambda wildcards, output: value(wildcards) if callable(value) else value


def settings(section, *keys):
    """The settings of a section that a step uses, as JSON."""
    return getattr(EXPERIMENT, section).to_json(*keys)


def both(path, **names):
    """A path for each of the two languages, source first; {language} stands for it."""
    return expand(path, language=LANGUAGES, allow_missing=True, **names)


def side(number, names):
    """The tokenized source (0) or target (1) sides of corpora, part by part."""
    return [f"<data>/tokenized/{part.name}.{LANGUAGES[number]}" for name in names for part in PARTS[name]]


def of_parts(path):
    """`path` for each part of the training corpora, in order; {part} and {corpus} stand for their names."""
    parts = [part for name in TRAIN for part in PARTS[name]]
    return [path.replace("{part}", part.name).replace("{corpus}", part.corpus) for part in parts]


def of_set(path, **names):
    """An input function: `path`, expanded with `names`, for the test set whose tables lie at {place}."""
    return lambda wildcards: expand(path, set=PLACES[wildcards.place], **names)


def labels(systems):
    """The labels of systems in tables and figures."""
    return [SYSTEMS[system] for system in systems]


def of_systems(systems, of, ending):
    """The translations of a set whose names end so; the phrase-based system has one translation for all purposes."""
    return [f"<data>/translations/{one}/{of}{'' if one == PHRASE_BASED else ending}.txt" for one in systems]


def initial_model(wildcards):
    """The files of the model that a variant continues, if any."""
    before = EXPERIMENT.variants[wildcards.variant].continues
    return expand(MODEL, variant=before) if before else []


def train_priority(wildcards):
    """Trainings that continue each other start first, because together they take longest."""
    continued = {variant.continues for variant in EXPERIMENT.variants.values()}
    follows = EXPERIMENT.variants[wildcards.variant].continues is not None
    return 3 if follows or wildcards.variant in continued else 2


def nll_sample(wildcards):
    """The options that draw some of the pairs that a variant trains on; their likelihood stands for that of all."""
    if wildcards.text == "development":
        return []
    longest = EXPERIMENT.variants[wildcards.variant].optimization.maximum_length
    drawn = ["--sample", EXPERIMENT.evaluate.train_sample, "--seed", EXPERIMENT.seed]
    return ["--maximum-length", longest, *drawn]


def search_options(wildcards):
    """The options that decide what is found; a translation with another beam than the experiment's names it."""
    chosen = EXPERIMENT.translate
    beam = int(wildcards.get("beam", "").removeprefix(".beam") or chosen.beam)
    fallback = [] if chosen.fallback else ["--no-fallback"]
    ratio = chosen.minimum_length_ratio
    return ["--beam", beam, "--minimum-length-ratio", ratio, *fallback, "--precision", chosen.precision]


def speed_options(wildcards):
    """The options that say where and how fast."""
    device = EXPERIMENT.variants[wildcards.variant].run_time.device
    return ["--batch", EXPERIMENT.translate.batch, "--device", device]


def drawn(name):
    """The files of a figure; the report shows the SVG."""
    files = {kind: f"<results>/{ARTEFACTS[name].path(kind)}" for kind in ("pdf", "svg", "png")}
    return files | {"svg": report(files["svg"], **ARTEFACTS[name].in_report(PLACES))}


def unk_forbidden(systems, of):
    """The translations of a set with the unknown word forbidden, where they are measured."""
    return of_systems(systems, of, ".no_unk") if EXPERIMENT.evaluate.no_unk else []


def greedy(systems, of):
    """The greedy translations of a set, where they are measured beside those of the experiment's beam."""
    return of_systems(systems, of, BEAMS[1]) if 1 in BEAMS and len(BEAMS) > 1 else []
