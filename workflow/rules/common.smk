# What the rules share: the checked configuration, names derived from it, and functions of wildcards.
import re
import shlex
import sys
from pathlib import Path

sys.path.insert(0, str(Path(workflow.basedir)))

from nmt.__main__ import STEPS
from nmt.settings.experiment import PHRASE_BASED, check_corpora, check_moses, load
from nmt.corpora.lock import lock_path
from nmt.corpora.registry import read_registry
from nmt.system.digest import digest
from nmt.system.files import UserError
from nmt.system.orphans import announce, clear_locks
from nmt.settings.variant import CONTEXT_MODULES


def read_config():
    """The checked configuration and its registry; a mistake in them ends the run with one line."""
    try:
        checked = load(config)
        registry = read_registry(checked.registry)
        check_corpora(checked, registry)
        check_moses(checked)
    except UserError as error:
        sys.exit(f"snakemake: {error}")
    return checked, registry


CONFIG, REGISTRY = read_config()
announce()
if workflow.is_main_process:
    clear_locks(Path(".snakemake"))
DATA = f"data/{CONFIG.experiment}"
LANGUAGES = [CONFIG.languages.source, CONFIG.languages.target]
TRAIN, IN_DOMAIN = CONFIG.corpora.train, CONFIG.corpora.in_domain
DEVELOPMENT, TEST = CONFIG.corpora.development, CONFIG.corpora.test
MONOLINGUAL = CONFIG.phrase_based.monolingual
HELD_OUT = list(dict.fromkeys([*DEVELOPMENT, *TEST, *CONFIG.corpora.held_out]))
CORPORA = list(dict.fromkeys([*TRAIN, *IN_DOMAIN, *HELD_OUT, *MONOLINGUAL]))
SETS = [*TEST, "development"]
PLACES = {"": TEST[0], **{f"{name}/": name for name in TEST[1:]}}
ARCHIVES = {
    archive.path: archive for name in CORPORA for archive in REGISTRY[name].archives
}
# The hashes of what was first fetched; the built-in language's archives change with its settings.
LOCK = "" if CONFIG.mirror == "generated" else lock_path(CONFIG.registry)
FORMATS = ["pdf", "svg", "png"]
# The files of folders that steps write. The folders themselves are no outputs: Snakemake compares the bytes of a file that
# was touched, but not those of a folder.
ESTIMATED = expand(
    "<data>/estimated/{side}.{what}",
    side=["source", "target"],
    what=["words", "in-domain.arpa", "general.arpa"],
)
BINARIZED = [
    "<data>/binarized/meta.json",
    *expand(
        "<data>/binarized/{side}.{what}",
        side=["source", "target"],
        what=["ids", "offsets.npy"],
    ),
]
# The systems that are scored: the variants, and the phrase-based system where it is run.
LABELS = {name: variant.label for name, variant in CONFIG.variants.items()}
SYSTEMS = {
    **LABELS,
    **({PHRASE_BASED: CONFIG.phrase_based_label} if CONFIG.runs_phrase_based else {}),
}
# System and baseline of each row of the table of significance, by name; without rows the table is not asked for.
COMPARED = [(name, PHRASE_BASED) for name in LABELS if PHRASE_BASED in SYSTEMS]
COMPARED += [
    (name, other)
    for name, variant in CONFIG.variants.items()
    for other, fixed in CONFIG.variants.items()
    if (variant.context, fixed.context) == ("attention", "fixed")
    and variant.maximum_length == fixed.maximum_length
]
# The tables of the report: where they lie, the ending of the file that is shown, category and name.
SHEETS = {
    "table1": (PLACES, "md", "Tables", {"table": "Table 1"}),
    "significance": (
        PLACES if COMPARED else [],
        "md",
        "Tables",
        {"table": "Significance"},
    ),
    "table2": ([""], "md", "Tables", {"table": "Table 2"}),
    "table3": (PLACES, "md", "Tables", {"table": "Table 3"}),
    "selection": ([""], "csv", "Corpora", {"result": "Data selection"}),
    "coverage": ([""], "csv", "Corpora", {"result": "Shortlist coverage"}),
}
# What the steps that run a model read of its folder.
MODEL = [
    f"<data>/models/{{variant}}/{name}"
    for name in ("model.safetensors", "summary.json", "source.tsv", "target.tsv")
]


def cut(corpus):
    """The parts in which a corpus is worked on, each with the option that tokenizes it: shards, or the whole."""
    wanted = corpus in TRAIN and corpus not in [*IN_DOMAIN, *HELD_OUT]
    shards = CONFIG.shard.count(REGISTRY[corpus].pairs or 0) if wanted else 1
    if shards == 1:
        return {corpus: ""}
    return {
        f"{corpus}.{number}-of-{shards}": f"--shard {number} {shards} {CONFIG.shard.pairs}"
        for number in range(1, shards + 1)
    }


PARTS = {corpus: cut(corpus) for corpus in CORPORA}
CORPUS = {part: corpus for corpus in CORPORA for part in PARTS[corpus]}


def one_of(names):
    """A wildcard constraint: one of the names."""
    return f"(?:{'|'.join(re.escape(name) for name in names)})"


def code(step):
    """The digest of a step's code: a change of what it does, not of how it is written, runs it again."""
    return digest([STEPS[step]])


def model_code(step):
    """As `code`, for a step that runs a model: of the two sources of the context only the variant's own counts."""

    def of_variant(wildcards):
        context = CONFIG.variants[wildcards.variant].context
        others = [
            source for name, (source, _) in CONTEXT_MODULES.items() if name != context
        ]
        return digest([STEPS[step], CONTEXT_MODULES[context][0]], others)

    return of_variant


def growing(amount):
    """Memory in MB or time in minutes, with as much again for each further attempt at a job that failed."""
    return lambda wildcards, attempt: amount * attempt


def untracked(value):
    """A param that says where or how fast, not what: Snakemake compares no params that depend on the output."""
    return lambda wildcards, output: value(wildcards) if callable(value) else value


def both(path, **names):
    """A path for each of the two languages, source first; {language} stands for it."""
    return expand(path, language=LANGUAGES, allow_missing=True, **names)


def side(number, names):
    """The tokenized source (0) or target (1) sides of corpora, part by part."""
    parts = [part for corpus in names for part in PARTS[corpus]]
    return [f"<data>/tokenized/{part}.{LANGUAGES[number]}" for part in parts]


def of_parts(path):
    """`path` for each part of the training corpora, in order; {part} and {corpus} stand for their names."""
    parts = [(part, corpus) for corpus in TRAIN for part in PARTS[corpus]]
    return [
        path.replace("{part}", part).replace("{corpus}", corpus)
        for part, corpus in parts
    ]


def labels(systems):
    """How tables and figures call the systems, quoted for the shell."""
    return shlex.join(SYSTEMS[system] for system in systems)


def mirror_archives():
    """The archives that the built-in language consists of, none where the text comes from elsewhere."""
    return (
        [f"<data>/mirror/{path}" for path in ARCHIVES]
        if CONFIG.mirror == "generated"
        else []
    )


def fetch_input(wildcards):
    return f"<data>/mirror/{wildcards.archive}" if CONFIG.mirror == "generated" else []


def fetch_mirror(wildcards):
    return f"{DATA}/mirror" if CONFIG.mirror == "generated" else CONFIG.mirror or ""


def fetch_address(wildcards):
    return ARCHIVES[wildcards.archive].address


def fetch_hash(wildcards):
    sha256 = ARCHIVES[wildcards.archive].sha256
    return f"sha256:{sha256}" if sha256 else ""


def extract_archives(wildcards):
    archives = REGISTRY[wildcards.corpus].archives
    return [f"<data>/archives/{archive.path}" for archive in archives]


def extract_members(wildcards):
    return shlex.join(REGISTRY[wildcards.corpus].members)


def extract_expectation(wildcards):
    pairs = REGISTRY[wildcards.corpus].pairs
    return f"--expected-pairs {pairs}" if pairs is not None else ""


def tokenize_input(wildcards):
    return f"<data>/extracted/{CORPUS[wildcards.part]}.{wildcards.language}"


def tokenize_shard(wildcards):
    return PARTS[CORPUS[wildcards.part]][wildcards.part]


def select_shares():
    """The option that names the shares of the corpora, where they say what is kept."""
    shares = CONFIG.select.shares if CONFIG.select.rule == "shares" else {}
    named = [f"{corpus}={share}" for corpus, share in shares.items()]
    return shlex.join(["--shares", *named]) if named else ""


def development_texts(wildcards):
    return [
        f"<data>/{wildcards.kind}/{name}.{wildcards.language}" for name in DEVELOPMENT
    ]


def initial_model(wildcards):
    """The model that a variant goes on from, and its summary, if any."""
    before = CONFIG.variants[wildcards.variant].continues
    if before is None:
        return []
    return [
        f"<data>/models/{before}/{name}"
        for name in ("model.safetensors", "summary.json")
    ]


def initial_option(wildcards, input):
    return f"--initial {Path(input.initial[0]).parent}" if input.initial else ""


def settings(wildcards):
    """All settings of a variant, quoted for the shell."""
    return shlex.quote(CONFIG.variants[wildcards.variant].to_json())


def learned(wildcards):
    """The settings of a variant that decide what it learns."""
    return CONFIG.variants[wildcards.variant].what_is_learned()


def train_priority(wildcards):
    """Trainings that follow one another begin first: together they take longest."""
    continued = {variant.continues for variant in CONFIG.variants.values()}
    follows = CONFIG.variants[wildcards.variant].continues is not None
    return 3 if follows or wildcards.variant in continued else 2


def model_folder(wildcards):
    return f"{DATA}/models/{wildcards.variant}"


def checkpoints(wildcards):
    return f"{DATA}/checkpoints/{wildcards.variant}"


def device(wildcards):
    return CONFIG.variants[wildcards.variant].device


def nll_texts(wildcards):
    folder = "selected" if wildcards.text == "train" else "tokenized"
    return both(f"<data>/{folder}/{wildcards.text}.{{language}}")


def nll_sample(wildcards):
    if wildcards.text == "development":
        return ""
    return f"--sample {CONFIG.table2.train_sample} --seed {CONFIG.seed}"


def word_align_inverse(wildcards):
    return "--inverse" if wildcards.direction == "inverse" else ""


def monolingual_texts():
    """The target sides that the language model of the phrase-based system has beside the selected text."""
    return side(1, MONOLINGUAL)


def moses_bin(wildcards):
    """The folder of Moses's programs; its rules are asked for only where one is named."""
    return CONFIG.moses.bin or sys.exit(
        "snakemake: config: moses.bin: null; name a folder"
    )


def moses_search():
    """The options that set the size of Moses's search."""
    size = CONFIG.phrase_based
    return f"--stack {size.stack} --reordering {size.reordering}"


def search_options():
    """The options that set the size of the phrase-based search."""
    size = CONFIG.phrase_based
    return (
        f"--stack {size.stack} --reordering {size.reordering} --longest {size.phrase_length}"
        f" --translations {size.translations}"
    )


def phrase_based_tuning():
    """What the phrase-based system's tuning says of it, where it is run."""
    return ["<data>/phrase_based/tuning.json"] if PHRASE_BASED in SYSTEMS else []


def phrase_based_note():
    """The options by which Table 1 says how the phrase-based system was made."""
    if PHRASE_BASED not in SYSTEMS:
        return ""
    made = CONFIG.phrase_based
    options = f"--phrase-based {labels([PHRASE_BASED])} --pairs {made.pairs} --order {made.order}"
    return f"{options} --monolingual {shlex.join(MONOLINGUAL)} --tuning"


def of_set(path, **names):
    """An input function: `path`, expanded with `names`, for the test set whose tables lie at {place}."""
    return lambda wildcards: expand(path, set=PLACES[wildcards.place], **names)


def table_set(wildcards):
    return PLACES[wildcards.place]


def sheet_labels(table):
    """How the report calls a table, and the test set it is of where each has its own."""
    places, _, _, labels = SHEETS[table]
    return lambda wildcards: (
        {**labels, "set": PLACES[wildcards.place]} if places is PLACES else labels
    )


def figure_labels(figure):
    """How the report calls a figure that each test set has."""
    return lambda wildcards: {"figure": figure, "set": PLACES[wildcards.place]}


def curves():
    """The systems of Figure 2."""
    left_out = [*CONFIG.figure2.leave_out]
    if not CONFIG.figure2.phrase_based:
        left_out.append(PHRASE_BASED)
    return [system for system in SYSTEMS if system not in left_out]


def no_unk(system, of):
    """A translation without unknown words; the phrase-based system, which copies what it does not know, has one alone."""
    ending = "" if system == PHRASE_BASED else ".no_unk"
    return f"<data>/translations/{system}/{of}{ending}.txt"


def evaluate_no_unk(wildcards):
    return no_unk(wildcards.variant, wildcards.set)


def significance_no_unk(wildcards):
    return [no_unk(system, PLACES[wildcards.place]) for system in SYSTEMS]


def shown():
    """The tables and figures of the page of all, in its order: the first test set's, the experiment's, the other sets'."""
    of_set = ["table1.md", *(["significance.md"] if COMPARED else [])]
    of_set += ["figure2.svg", "table3.md", "figure3.svg"]
    whole = ["table2.md", "figure1.svg", "selection.csv", "ratings.svg", "coverage.csv"]
    names = (
        of_set + whole + [place + name for place in PLACES if place for name in of_set]
    )
    return [f"{CONFIG.results}/{name}" for name in names]


def compared_options():
    """The options that name the rows of the table of significance."""
    return " ".join(f"--pair {labels(pair)}" for pair in COMPARED)


def targets():
    """Every table and figure, and the pages that show them."""
    of_sets = [
        "table1.csv",
        "table1.md",
        "table1.tex",
        *(["significance.csv", "significance.md"] if COMPARED else []),
        "table3.csv",
        "table3.md",
        "figure2.csv",
        "figure3.csv",
    ]
    of_sets += [
        f"{figure}.{ending}" for figure in ("figure2", "figure3") for ending in FORMATS
    ]
    once = ["selection.csv", "ratings.csv", "coverage.csv", "table2.csv", "table2.md"]
    once.append("index.html")
    once += [
        f"{name}.{ending}" for name in ("ratings", "figure1") for ending in FORMATS
    ]
    return [
        f"<results>/{name}"
        for name in once + [place + name for place in PLACES for name in of_sets]
    ] + [
        f"<data>/sheets/{place}{table}.html"
        for table, (places, *_) in SHEETS.items()
        for place in places
    ]
