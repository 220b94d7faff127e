# From translations to scores, and the tables and figures that every experiment has.


rule evaluate:
    input:
        **VOCABULARIES,
        source=SOURCE,
        reference=REFERENCE,
        raw_reference=f"<data>/extracted/{{set}}.{LANGUAGES[1]}",
        translation="<data>/translations/{variant}/{set}{beam}.txt",
        no_unk=lambda wildcards: [] if wildcards.beam else unk_forbidden([wildcards.variant], wildcards.set),
    output:
        EVALUATION,
    log:
        "logs/evaluate/<experiment>/{variant}.{set}{beam}.log",
    benchmark:
        "benchmarks/evaluate/<experiment>/{variant}.{set}{beam}.tsv"
    wildcard_constraints:
        variant=one_of(SYSTEMS),
    localrule: True
    conda:
        "../../environment.yml"
    params:
        language=untokenized(LANGUAGES[1]),
        bleu=bleu_options(EXPERIMENT),
        version=sacrebleu_version(),
        code=code("evaluate"),
    shell:
        "python -m nmt evaluate --source {input.source:q} --reference {input.reference:q}"
        " --raw-reference {input.raw_reference:q} --language {params.language:q} --shortlists {input.shortlists:q}"
        " --codes {input.codes:q} --translation {input.translation:q} --translation-no-unk {input.no_unk:q} {params.bleu:q}"
        f" --output {{output:q}}{LOG}"


rule selection_table:
    input:
        audit="<data>/selected/audit.csv",
        printed=ARTEFACTS["selection"].printed,
    output:
        "<results>/selection.csv",
    log:
        "logs/selection_table/<experiment>/selection.log",
    benchmark:
        "benchmarks/selection_table/<experiment>/selection.tsv"
    localrule: True
    conda:
        "../../environment.yml"
    params:
        contents=contents(ARTEFACTS["selection"].printed),
        code=code("selection_table"),
    shell:
        f"python -m nmt selection_table --audit {{input.audit:q}} --printed {{input.printed:q}} --output {{output:q}}{LOG}"


rule coverage:
    input:
        **VOCABULARIES,
        texts=both("<data>/selected/train.{language}"),
        audit="<data>/selected/audit.csv",
        sources=side(0, [*DEVELOPMENT, *TEST]),
        targets=side(1, [*DEVELOPMENT, *TEST]),
    output:
        "<results>/coverage.csv",
    log:
        "logs/coverage/<experiment>/coverage.log",
    benchmark:
        "benchmarks/coverage/<experiment>/coverage.tsv"
    priority: 4  # before the trainings, because it warns of too few words
    conda:
        "../../environment.yml"
    resources:
        **growing(mem_mb=4000, runtime=60),
    params:
        names=[*DEVELOPMENT, *TEST],
        languages=LANGUAGES,
        code=code("coverage"),
    shell:
        "python -m nmt coverage --shortlists {input.shortlists:q} --codes {input.codes:q}"
        " --texts {input.texts:q} --audit {input.audit:q}"
        f" --names {{params.names:q}} --sources {{input.sources:q}} --targets {{input.targets:q}} --output {{output:q}}{SHOWN}"


rule significance:
    input:
        **VOCABULARIES,
        source=of_set(SOURCE),
        reference=of_set(REFERENCE),
        translations=of_set(TRANSLATION, variant=SYSTEMS),
        no_unk=lambda wildcards: unk_forbidden(SYSTEMS, PLACES[wildcards.place]),
        greedy=lambda wildcards: (
            translations(SYSTEMS, PLACES[wildcards.place], BEAMS[1]) if 1 in BEAMS and len(BEAMS) > 1 else []
        ),
    output:
        multiext("<results>/{place}significance", csv=".csv", md=".md"),
    log:
        "logs/significance/<experiment>/{place}significance.log",
    benchmark:
        "benchmarks/significance/<experiment>/{place}significance.tsv"
    localrule: True
    conda:
        "../../environment.yml"
    params:
        **named(SYSTEMS),
        pairs=compared_options(EXPERIMENT),
        bleu=bleu_options(EXPERIMENT),
        generated=MADE_UP,
        seed=EXPERIMENT.seed,
        code=code("significance"),
    shell:
        "python -m nmt significance --source {input.source:q} --reference {input.reference:q}"
        " --shortlists {input.shortlists:q} --codes {input.codes:q} --translations {input.translations:q}"
        " --translations-no-unk {input.no_unk:q} --translations-greedy {input.greedy:q}"
        f" --labels {{params.labels:q}} {{params.pairs:q}} {{params.bleu:q}} --seed {{params.seed:q}}{TABLE}{LOG}"


rule gather_metrics:
    input:
        metrics=expand("<data>/models/{variant}/metrics.jsonl", variant=EXPERIMENT.variants),
        summaries=expand("<data>/models/{variant}/summary.json", variant=EXPERIMENT.variants),
    output:
        "<results>/learning_curves.csv",
    log:
        "logs/gather_metrics/<experiment>/learning_curves.log",
    benchmark:
        "benchmarks/gather_metrics/<experiment>/learning_curves.tsv"
    localrule: True
    conda:
        "../../environment.yml"
    params:
        models=models_options(EXPERIMENT),
        code=code("gather_metrics"),
    shell:
        f"python -m nmt gather_metrics {{params.models:q}} --output {{output:q}}{LOG}"


if "ratings" in ARTEFACTS:

    rule ratings:
        input:
            "<data>/selected/ratings.csv",
        output:
            **drawn("ratings"),
            csv="<results>/ratings.csv",
        log:
            "logs/ratings/<experiment>/ratings.log",
        benchmark:
            "benchmarks/ratings/<experiment>/ratings.tsv"
        localrule: True
        conda:
            "../../environment.yml"
        params:
            code=code("ratings"),
        shell:
            "cp {input:q} {output.csv:q} && python -m nmt ratings --points {input:q}"
            f" --outputs {{output.pdf:q}} {{output.svg:q}} {{output.png:q}}{LOG}"
