# From translations to scores, and the tables and figures that every experiment has.


rule evaluate:
    input:
        source=SOURCE,
        reference=REFERENCE,
        raw_reference=f"<data>/extracted/{{set}}.{LANGUAGES[1]}",
        shortlists=both("<data>/shortlist/{language}.tsv"),
        translation=TRANSLATION,
        no_unk=lambda wildcards: unk_forbidden([wildcards.variant], wildcards.set),
    output:
        "<data>/evaluation/{variant}/{set}.json",
    log:
        "logs/evaluate/<experiment>/{variant}.{set}.log",
    benchmark:
        "benchmarks/evaluate/<experiment>/{variant}.{set}.tsv"
    wildcard_constraints:
        variant=one_of(SYSTEMS),
    localrule: True
    conda:
        "../../environment.yml"
    resources:
        **growing(mem_mb=2000, runtime=30),
    params:
        language=LANGUAGES[1],
        code=code("evaluate"),
    shell:
        "python -m nmt evaluate --source {input.source} --reference {input.reference}"
        " --raw-reference {input.raw_reference} --language {params.language} --shortlists {input.shortlists}"
        " --translation {input.translation} --translation-no-unk {input.no_unk} --output {output} 2> {log}"


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
    resources:
        **growing(mem_mb=500, runtime=5),
    params:
        code=code("selection_table"),
    shell:
        "python -m nmt selection_table --audit {input.audit} --printed {input.printed} --output {output} 2> {log}"


rule coverage:
    input:
        shortlists=both("<data>/shortlist/{language}.tsv"),
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
    conda:
        "../../environment.yml"
    resources:
        **growing(mem_mb=4000, runtime=60),
    params:
        names=[*DEVELOPMENT, *TEST],
        code=code("coverage"),
    shell:
        "python -m nmt coverage --shortlists {input.shortlists} --texts {input.texts} --audit {input.audit}"
        " --names {params.names} --sources {input.sources} --targets {input.targets} --output {output} 2> {log}"


rule significance:
    input:
        source=of_set(SOURCE),
        reference=of_set(REFERENCE),
        shortlists=both("<data>/shortlist/{language}.tsv"),
        translations=of_set(TRANSLATION, variant=SYSTEMS),
        no_unk=lambda wildcards: unk_forbidden(SYSTEMS, PLACES[wildcards.place]),
    output:
        multiext("<results>/{place}significance", csv=".csv", md=".md"),
    log:
        "logs/significance/<experiment>/{place}significance.log",
    benchmark:
        "benchmarks/significance/<experiment>/{place}significance.tsv"
    localrule: True
    conda:
        "../../environment.yml"
    resources:
        **growing(mem_mb=4000, runtime=60),
    params:
        labels=labels(SYSTEMS),
        pairs=" ".join(f"--pair {labels(pair)}" for pair in compared(EXPERIMENT)),
        seed=EXPERIMENT.seed,
        code=code("significance"),
    shell:
        "python -m nmt significance --source {input.source} --reference {input.reference}"
        " --shortlists {input.shortlists} --translations {input.translations} --translations-no-unk {input.no_unk}"
        " --labels {params.labels} {params.pairs} --seed {params.seed}"
        " --output-csv {output.csv} --output-md {output.md} 2> {log}"


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
    resources:
        **growing(mem_mb=500, runtime=5),
    params:
        models=" ".join(f"--model {labels([variant])} {DATA}/models/{variant}" for variant in EXPERIMENT.variants),
        code=code("gather_metrics"),
    shell:
        "python -m nmt gather_metrics {params.models} --output {output} 2> {log}"


rule learning_curves:
    input:
        "<results>/learning_curves.csv",
    output:
        **drawn("learning_curves"),
    log:
        "logs/learning_curves/<experiment>/learning_curves.log",
    benchmark:
        "benchmarks/learning_curves/<experiment>/learning_curves.tsv"
    localrule: True
    conda:
        "../../environment.yml"
    resources:
        **growing(mem_mb=2000, runtime=30),
    params:
        code=code("learning_curves"),
    shell:
        "python -m nmt learning_curves --points {input} --outputs {output} 2> {log}"


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
        resources:
            **growing(mem_mb=2000, runtime=30),
        params:
            code=code("ratings"),
        shell:
            "cp {input} {output.csv} && python -m nmt ratings --points {input} --outputs {output.pdf} {output.svg} {output.png}"
            " 2> {log}"
