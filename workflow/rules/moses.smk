# The phrase-based system with Moses, step by step: with the installation that the experiment names, or one that is built here for
# all experiments.

from nmt.phrase_based.moses.files import TABLES
from nmt.settings.experiment import BUILT, BUILT_COMMIT, BUILT_RECORD, moses_files

SETTINGS = EXPERIMENT.phrase_based
BIN = SETTINGS.bin or f"{BUILT}/bin"
INSTALLED = [] if SETTINGS.bin else BUILT_RECORD
PROGRAMS = [] if INSTALLED else contents(moses_files(BIN))  # elsewhere, the same programs do the same
PHRASES = f"{DATA}/phrase_based/moses_phrases"
TRAINED = [f"<data>/phrase_based/moses_phrases/model/{name}" for name in TABLES]
LANGUAGE_MODEL = "<data>/phrase_based/moses_language_model/model.binary"

if INSTALLED:

    rule moses_build:
        output:
            INSTALLED,
        log:
            "logs/moses_build/moses_build.log",
        benchmark:
            "benchmarks/moses_build/moses_build.tsv"
        localrule: True
        conda:
            "../../environment.yml"
        threads: 4
        resources:
            network=1,
        params:
            sources=untracked(SETTINGS.sources or ""),
            recipe=own_digest(find("nmt/phrase_based/moses/CMakeLists.txt")),
            commit=BUILT_COMMIT,
        shell:
            f"python -m nmt moses_build --sources={{params.sources:q}} --threads {{threads}} --output {{output:q}}{SHOWN}"


rule moses_align:
    input:
        texts=both("<data>/selected/train.{language}"),
        built=INSTALLED,
    output:
        "<data>/phrase_based/moses_align/links.txt",
    log:
        "logs/moses_align/<experiment>/moses_align.log",
    benchmark:
        "benchmarks/moses_align/<experiment>/moses_align.tsv"
    conda:
        "../../environment.yml"
    threads: EXPERIMENT.threads.phrase_based
    resources:
        **growing(mem_mb=64000, runtime=10080),
    params:
        bin=untracked(BIN),
        settings=untracked(SETTINGS.to_json("version")),
        compared=PROGRAMS,
        languages=LANGUAGES,
        code=code("moses_align"),
    shell:
        "python -m nmt moses_align --bin {params.bin:q} --settings {params.settings:q}"
        f" --texts {{input.texts:q}} --threads {{threads}} --output {{output:q}}{SHOWN}"


rule moses_language_model:
    input:
        texts=[f"<data>/selected/train.{LANGUAGES[1]}", *side(1, EXPERIMENT.monolingual)],
        held_out=side(1, HELD_OUT),
        built=INSTALLED,
    output:
        LANGUAGE_MODEL,
    log:
        "logs/moses_language_model/<experiment>/moses_language_model.log",
    benchmark:
        "benchmarks/moses_language_model/<experiment>/moses_language_model.tsv"
    conda:
        "../../environment.yml"
    threads: EXPERIMENT.threads.phrase_based
    resources:
        **growing(mem_mb=64000, runtime=2880),
    params:
        bin=untracked(BIN),
        settings=untracked(SETTINGS.to_json("version", "order")),
        compared=[SETTINGS.to_json("order"), *PROGRAMS],
        code=code("moses_language_model"),
    shell:
        "python -m nmt moses_language_model --bin {params.bin:q} --settings {params.settings:q}"
        " --texts {input.texts:q} --held-out {input.held_out:q} --memory {resources.mem_mb}"
        f" --output {{output:q}}{SHOWN}"


rule moses_phrases:
    input:
        texts=both("<data>/selected/train.{language}"),
        links="<data>/phrase_based/moses_align/links.txt",
        built=INSTALLED,
    output:
        TRAINED,
    log:
        "logs/moses_phrases/<experiment>/moses_phrases.log",
    benchmark:
        "benchmarks/moses_phrases/<experiment>/moses_phrases.tsv"
    conda:
        "../../environment.yml"
    threads: EXPERIMENT.threads.phrase_based
    resources:
        **growing(mem_mb=64000, runtime=2880),
    params:
        bin=untracked(BIN),
        settings=untracked(SETTINGS.to_json("version", "phrase_length")),
        compared=[SETTINGS.to_json("phrase_length"), *PROGRAMS],
        languages=LANGUAGES,
        folder=untracked(PHRASES),
        code=code("moses_phrases"),
    shell:
        "python -m nmt moses_phrases --bin {params.bin:q} --settings {params.settings:q}"
        " --texts {input.texts:q} --links {input.links:q}"
        f" --threads {{threads}} --output {{params.folder:q}}{SHOWN}"


rule moses_tune:
    input:
        tables=TRAINED,
        language_model=LANGUAGE_MODEL,
        texts=both("<data>/tokenized/development.{language}"),
        built=INSTALLED,
    output:
        configuration="<data>/phrase_based/moses_tune/moses.ini",
        summary="<data>/phrase_based/tuning.json",
    log:
        "logs/moses_tune/<experiment>/moses_tune.log",
    benchmark:
        "benchmarks/moses_tune/<experiment>/moses_tune.tsv"
    conda:
        "../../environment.yml"
    threads: EXPERIMENT.threads.phrase_based
    resources:
        **growing(mem_mb=64000, runtime=2880),
    params:
        bin=untracked(BIN),
        work=untracked(f"{DATA}/phrase_based/moses_tune.work"),
        model=untracked(PHRASES),
        settings=untracked(
            SETTINGS.to_json(
                "version", "order", "stack", "distortion_limit", "tune_sentences", "tune_rounds", "n_best"
            )
        ),
        compared=[
            SETTINGS.to_json("order", "stack", "distortion_limit", "tune_sentences", "tune_rounds", "n_best"),
            *PROGRAMS,
        ],
        seed=EXPERIMENT.seed,
        languages=LANGUAGES,
        code=code("moses_tune"),
    shell:
        "python -m nmt moses_tune --bin {params.bin:q} --settings {params.settings:q}"
        " --seed {params.seed:q} --model {params.model:q} --language-model {input.language_model:q} --texts {input.texts:q}"
        " --threads {threads} --work {params.work:q}"
        f" --configuration {{output.configuration:q}} --output {{output.summary:q}}{SHOWN}"


rule moses_translate:
    input:
        configuration="<data>/phrase_based/moses_tune/moses.ini",
        models=[*TRAINED, LANGUAGE_MODEL],  # which the configuration names
        source=SOURCE,
        built=INSTALLED,
    output:
        f"<data>/translations/{PHRASE_BASED}/{{set}}.txt",
    log:
        "logs/moses_translate/<experiment>/{set}.log",
    benchmark:
        "benchmarks/moses_translate/<experiment>/{set}.tsv"
    conda:
        "../../environment.yml"
    threads: EXPERIMENT.threads.phrase_based
    resources:
        **growing(mem_mb=64000, runtime=2880),
    params:
        bin=untracked(BIN),
        settings=untracked(SETTINGS.to_json("version", "stack", "distortion_limit")),
        compared=[SETTINGS.to_json("stack", "distortion_limit"), *PROGRAMS],
        code=code("moses_translate"),
    shell:
        "python -m nmt moses_translate --bin {params.bin:q} --settings {params.settings:q}"
        " --threads {threads} --configuration {input.configuration:q} --source {input.source:q}"
        f" --output {{output:q}}{SHOWN}"
