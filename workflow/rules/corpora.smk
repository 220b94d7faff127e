# From the registry to word ids in memory-mapped arrays. Each `localrule` runs where Snakemake itself runs, also on a
# cluster: it takes seconds, or it needs the network, which the nodes of a cluster often lack.

# Outputs are the files of a folder, not the folder: Snakemake compares the bytes of a file that was touched, but not those of a
# folder.
SIDES = ["source", "target"]
WORDS_AND_MODELS = ["words", "in-domain.arpa", "general.arpa"]
LANGUAGE_MODELS = ["<data>/language_models/meta.json"]
LANGUAGE_MODELS += expand("<data>/language_models/{side}.{what}", side=SIDES, what=WORDS_AND_MODELS)
BINARIZED = ["<data>/binarized/meta.json"]
BINARIZED += expand("<data>/binarized/{side}.{what}", side=SIDES, what=["ids", "offsets.npy"])
CLEANED = dict(sources=side(0, TRAIN), targets=side(1, TRAIN), cleaned=of_parts("<data>/cleaned/{part}.npy"))
SCORED = EXPERIMENT.select.scores_pairs
# The hashes of what was first fetched. The built-in language has none, because its archives change with its settings.
LOCK = find(lock_path(EXPERIMENT.registry)) if EXPERIMENT.registry and not EXPERIMENT.is_generated else ""


rule generate:
    output:
        [f"<data>/mirror/{path}" for path in ARCHIVES] if EXPERIMENT.is_generated else [],
    log:
        "logs/generate/<experiment>/generate.log",
    benchmark:
        "benchmarks/generate/<experiment>/generate.tsv"
    localrule: True
    conda:
        "../../environment.yml"
    params:
        settings=EXPERIMENT.generated.to_json(),
        seed=EXPERIMENT.seed,
        folder=f"{DATA}/mirror",
        code=code("generate"),
    shell:
        f"python -m nmt generate --settings {{params.settings:q}} --seed {{params.seed:q}} --output {{params.folder:q}}{LOG}"


# Address and hash are params, so a change of either fetches the archive again, unless the one that the run has kept is right. The
# partial file is not an output, because Snakemake deletes the outputs of a failed job.
rule fetch:
    input:
        "<data>/mirror/{archive}" if EXPERIMENT.is_generated else [],
    output:
        "<data>/archives/{archive}",
    log:
        "logs/fetch/<experiment>/{archive}.log",
    benchmark:
        "benchmarks/fetch/<experiment>/{archive}.tsv"
    wildcard_constraints:
        archive=one_of(ARCHIVES),
    priority: 1
    localrule: True
    conda:
        "../../environment.yml"
    resources:
        network=1,
    params:
        address=lambda wildcards: ARCHIVES[wildcards.archive].address,
        hash=lambda wildcards: ARCHIVES[wildcards.archive].sha256,
        registry=untracked(find(EXPERIMENT.registry)),
        lock=untracked(LOCK),
        mirror=untracked(f"{DATA}/mirror" if EXPERIMENT.is_generated else EXPERIMENT.mirror or ""),
    shell:
        "python -m nmt fetch --registry {params.registry:q} --archive={wildcards.archive:q} --address={params.address:q}"
        f" --sha256={{params.hash:q}} --lock={{params.lock:q}} --mirror={{params.mirror:q}} --output {{output:q}}{SHOWN}"


if EXPERIMENT.registry:

    # There is no benchmark file: Snakemake would take it for an output and not verify again.
    rule verify:
        log:
            "logs/verify/<experiment>/verify.log",
        localrule: True
        conda:
            "../../environment.yml"
        params:
            registry=find(EXPERIMENT.registry),
            lock=LOCK,
            archives=f"{DATA}/archives",
        shell:
            "python -m nmt verify --registry {params.registry:q} --lock={params.lock:q}"
            f" --archives {{params.archives:q}}{LOG}"


rule extract:
    input:
        fetched,
    output:
        both("<data>/extracted/{{corpus}}.{language}"),
    log:
        "logs/extract/<experiment>/{corpus}.log",
    benchmark:
        "benchmarks/extract/<experiment>/{corpus}.tsv"
    wildcard_constraints:
        corpus=one_of(name for name in CORPORA if name not in ONE_SIDED),
    conda:
        "../../environment.yml"
    resources:
        **growing(mem_mb=1000, runtime=120),
    params:
        members=lambda wildcards: shlex.join(REGISTRY[wildcards.corpus].members),
        pairs=untracked(lambda wildcards: REGISTRY[wildcards.corpus].pairs or ""),
        archives=untracked(archives_of),
        own=own_digests,
        readings=readings,
        sides=lambda wildcards: [*LANGUAGES, *fetched(wildcards)],  # Snakemake does not compare the order of inputs
        normalize=EXPERIMENT.normalize,
        code=code("extract"),
    shell:
        "python -m nmt extract --name {wildcards.corpus:q} --archives {params.archives:q} --members {params.members}"
        " --normalize {params.normalize:q} --digests {params.own}"
        f" --expected-pairs {{params.pairs:q}} --outputs {{output:q}}{LOG}"


if ONE_SIDED:

    # A monolingual corpus has no source side.
    use rule extract as extract_monolingual with:
        output:
            f"<data>/extracted/{{corpus}}.{LANGUAGES[1]}",
        log:
            "logs/extract_monolingual/<experiment>/{corpus}.log",
        benchmark:
            "benchmarks/extract_monolingual/<experiment>/{corpus}.tsv"
        wildcard_constraints:
            corpus=one_of(ONE_SIDED),


# A large training corpus consists of parts (shards) that are tokenized, cleaned and scored one by one.
rule tokenize:
    input:
        lambda wildcards: f"<data>/extracted/{PART[wildcards.part].corpus}.{wildcards.language}",
    output:
        "<data>/tokenized/{part}.{language}",
    log:
        "logs/tokenize/<experiment>/{part}.{language}.log",
    benchmark:
        "benchmarks/tokenize/<experiment>/{part}.{language}.tsv"
    conda:
        "../../environment.yml"
    resources:
        **growing(mem_mb=1000, runtime=60),
    params:
        language=lambda wildcards: untokenized(wildcards.language),
        shard=lambda wildcards: PART[wildcards.part].options,
        code=code("tokenize"),
    shell:
        "python -m nmt tokenize --language {params.language:q} {params.shard:q} --input {input:q}"
        f" --output {{output:q}}{LOG}"


rule development:
    input:
        [f"<data>/{{kind}}/{name}.{{language}}" for name in DEVELOPMENT],
    output:
        "<data>/{kind}/development.{language}",
    log:
        "logs/development/<experiment>/{kind}.{language}.log",
    benchmark:
        "benchmarks/development/<experiment>/{kind}.{language}.tsv"
    localrule: True
    conda:
        "../../environment.yml"
    params:
        names=DEVELOPMENT,
    shell:
        f"cat {{input:q}} > {{output:q}}{LOG}"


# Rules depend on the file of the version, not on the program: a rebuilt program has other bytes, but computes the same. An
# `ancient` input would not do: when a job makes one, Snakemake skips all jobs behind it.
rule lmplz:
    output:
        program="data/tools/lmplz",
        version="data/tools/lmplz.version",
    log:
        "logs/lmplz/lmplz.log",
    benchmark:
        "benchmarks/lmplz/lmplz.tsv"
    localrule: True
    conda:
        "../../environment.yml"
    threads: 2
    resources:
        network=1,
    params:
        version=KENLM,
    shell:
        f"python -m nmt lmplz --output {{output.program:q}}{LOG}; echo {{params.version:q}} > {{output.version:q}}"


rule clean:
    input:
        texts=both("<data>/tokenized/{{part}}.{language}"),
        held_out_sources=side(0, HELD_OUT),
        held_out_targets=side(1, HELD_OUT),
    output:
        "<data>/cleaned/{part}.npy",
    log:
        "logs/clean/<experiment>/{part}.log",
    benchmark:
        "benchmarks/clean/<experiment>/{part}.tsv"
    conda:
        "../../environment.yml"
    resources:
        **growing(mem_mb=1000, runtime=30),
    params:
        code=code("clean"),
    shell:
        "python -m nmt clean --texts {input.texts:q} --held-out-sources {input.held_out_sources:q}"
        f" --held-out-targets {{input.held_out_targets:q}} --output {{output:q}}{LOG}"


# Language models and ratings are made only if the rule of selection needs them (SCORED).
rule train_lm:
    input:
        **CLEANED,
        lmplz="data/tools/lmplz.version",
        in_domain_sources=side(0, IN_DOMAIN),
        in_domain_targets=side(1, IN_DOMAIN),
    output:
        models=LANGUAGE_MODELS,
    log:
        "logs/train_lm/<experiment>/train_lm.log",
    benchmark:
        "benchmarks/train_lm/<experiment>/train_lm.tsv"
    conda:
        "../../environment.yml"
    resources:
        **growing(mem_mb=4000, runtime=60),
    params:
        lmplz=lambda wildcards, input: os.path.splitext(input.lmplz)[0],
        names=of_parts("{corpus}"),
        languages=LANGUAGES,
        settings=EXPERIMENT.select.to_json("drop_duplicates", "order"),
        seed=EXPERIMENT.seed,
        code=code("train_lm"),
    shell:
        "python -m nmt train_lm --lmplz {params.lmplz:q} --names {params.names:q} --sources {input.sources:q}"
        " --targets {input.targets:q} --cleaned {input.cleaned:q} --in-domain-sources {input.in_domain_sources:q}"
        " --in-domain-targets {input.in_domain_targets:q} --settings {params.settings:q} --seed {params.seed:q}"
        f" --output $(dirname {{output.models[0]:q}}){LOG}"


rule score_pairs:
    input:
        texts=both("<data>/tokenized/{{part}}.{language}"),
        models=LANGUAGE_MODELS,
    output:
        "<data>/scored/{part}.npy",
    log:
        "logs/score_pairs/<experiment>/{part}.log",
    benchmark:
        "benchmarks/score_pairs/<experiment>/{part}.tsv"
    conda:
        "../../environment.yml"
    resources:
        **growing(mem_mb=1000, runtime=60),
    params:
        languages=LANGUAGES,
        code=code("score_pairs"),
    shell:
        "python -m nmt score_pairs --texts {input.texts:q} --models $(dirname {input.models[0]:q})"
        f" --output {{output:q}}{LOG}"


rule select:
    input:
        **CLEANED,
        ratings=of_parts("<data>/scored/{part}.npy") if SCORED else [],
    output:
        texts=both("<data>/selected/train.{language}"),
        audit="<data>/selected/audit.csv",
        distribution="<data>/selected/ratings.csv" if SCORED else [],
        examples="<data>/selected/examples.tsv" if SCORED else [],
    log:
        "logs/select/<experiment>/select.log",
    benchmark:
        "benchmarks/select/<experiment>/select.tsv"
    conda:
        "../../environment.yml"
    resources:
        **growing(mem_mb=4000, runtime=60),
    params:
        names=of_parts("{corpus}"),
        languages=LANGUAGES,
        settings=EXPERIMENT.select.to_json("rule", "words", "shares", "drop_duplicates"),
        seed=EXPERIMENT.seed,
        code=code("select"),
    shell:
        "python -m nmt select --names {params.names:q} --sources {input.sources:q} --targets {input.targets:q}"
        " --cleaned {input.cleaned:q} --ratings {input.ratings:q} --settings {params.settings:q} --seed {params.seed:q}"
        " --outputs {output.texts:q} --audit {output.audit:q} --examples {output.examples:q}"
        f" --distribution {{output.distribution:q}}{LOG}"


if SUBWORDS:
    LEARNED_FROM = both("<data>/selected/train.{language}") if SUBWORDS.joint else "<data>/selected/train.{codes}"

    rule learn_bpe:
        input:
            LEARNED_FROM,
        output:
            "<data>/bpe/{codes}.codes",
        log:
            "logs/learn_bpe/<experiment>/{codes}.log",
        benchmark:
            "benchmarks/learn_bpe/<experiment>/{codes}.tsv"
        conda:
            "../../environment.yml"
        resources:
            **growing(mem_mb=8000, runtime=240),
        params:
            settings=SUBWORDS.to_json("symbols"),
            code=code("learn_bpe"),
        shell:
            f"python -m nmt learn_bpe --inputs {{input:q}} --settings {{params.settings:q}} --output {{output:q}}{LOG}"

    rule learn_pieces:
        input:
            LEARNED_FROM,
        output:
            "<data>/pieces/{codes}.codes",
        log:
            "logs/learn_pieces/<experiment>/{codes}.log",
        benchmark:
            "benchmarks/learn_pieces/<experiment>/{codes}.tsv"
        conda:
            "../../environment.yml"
        threads: 4
        resources:
            **growing(mem_mb=8000, runtime=120),
        params:
            settings=EXPERIMENT.sentencepiece.to_json(),
            seed=EXPERIMENT.seed,
            code=code("learn_pieces"),
        shell:
            "python -m nmt learn_pieces --inputs {input:q} --settings {params.settings:q} --seed {params.seed:q}"
            f" --output {{output:q}}{LOG}"

    rule segment:
        input:
            text=to_segment,
            codes=lambda wildcards: CODES[LANGUAGES.index(wildcards.language)],
        output:
            "<data>/segmented/{segmented}.{language}",
        log:
            "logs/segment/<experiment>/{segmented}.{language}.log",
        benchmark:
            "benchmarks/segment/<experiment>/{segmented}.{language}.tsv"
        wildcard_constraints:
            segmented=one_of(["train", "development", *PART]),
        conda:
            "../../environment.yml"
        resources:
            **growing(mem_mb=4000, runtime=60),
        params:
            code=code("segment"),
        shell:
            f"python -m nmt segment --input {{input.text:q}} --codes {{input.codes:q}} --output {{output:q}}{LOG}"


rule shortlist:
    input:
        text=TRAINING_TEXT,
        pieces=lambda wildcards: CODES[LANGUAGES.index(wildcards.language)] if HAS_PIECES else [],
    output:
        "<data>/shortlist/{language}.tsv",
    log:
        "logs/shortlist/<experiment>/{language}.log",
    benchmark:
        "benchmarks/shortlist/<experiment>/{language}.tsv"
    conda:
        "../../environment.yml"
    resources:
        **growing(mem_mb=8000, runtime=60),
    params:
        settings=EXPERIMENT.shortlist.to_json("size"),
        code=code("shortlist"),
    shell:
        "python -m nmt shortlist --input {input.text:q} --pieces {input.pieces:q} --settings {params.settings:q}"
        f" --output {{output:q}}{LOG}"


rule binarize:
    input:
        texts=both(TRAINING_TEXT),
        shortlists=both("<data>/shortlist/{language}.tsv"),
    output:
        files=BINARIZED,
    log:
        "logs/binarize/<experiment>/binarize.log",
    benchmark:
        "benchmarks/binarize/<experiment>/binarize.tsv"
    conda:
        "../../environment.yml"
    resources:
        **growing(mem_mb=8000, runtime=120),
    params:
        languages=LANGUAGES,
        seed=EXPERIMENT.seed,
        code=code("binarize"),
    shell:
        "python -m nmt binarize --texts {input.texts:q} --shortlists {input.shortlists:q} --seed {params.seed:q}"
        f" --output $(dirname {{output.files[0]:q}}){LOG}"
