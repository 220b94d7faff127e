# From translations to the tables and figures, each with a CSV of its numbers.


rule evaluate:
    input:
        source=f"<data>/tokenized/{{set}}.{LANGUAGES[0]}",
        reference=f"<data>/tokenized/{{set}}.{LANGUAGES[1]}",
        raw_reference=f"<data>/extracted/{{set}}.{LANGUAGES[1]}",
        shortlists=both("<data>/shortlist/{language}.tsv"),
        translation="<data>/translations/{variant}/{set}.txt",
        translation_no_unk=evaluate_no_unk,
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
    threads: 1
    resources:
        mem_mb=growing(2000),
        runtime=growing(30),
    params:
        language=LANGUAGES[1],
        code=code("evaluate"),
    shell:
        "python -m nmt evaluate --source {input.source} --reference {input.reference}"
        " --raw-reference {input.raw_reference} --language {params.language} --shortlists {input.shortlists}"
        " --translation {input.translation} --translation-no-unk {input.translation_no_unk}"
        " --output {output} 2> {log}"


rule selection_table:
    input:
        audit="<data>/selected/audit.csv",
        registry=CONFIG.registry,
    output:
        "<results>/selection.csv",
    log:
        "logs/selection_table/<experiment>/selection.log",
    benchmark:
        "benchmarks/selection_table/<experiment>/selection.tsv"
    localrule: True
    conda:
        "../../environment.yml"
    threads: 1
    resources:
        mem_mb=growing(500),
        runtime=growing(5),
    params:
        code=code("selection_table"),
    shell:
        "python -m nmt selection_table --audit {input.audit} --registry {input.registry} --output {output} 2> {log}"


rule ratings:
    input:
        "<results>/ratings.csv",
    output:
        pdf="<results>/ratings.pdf",
        svg=report(
            "<results>/ratings.svg",
            caption="../report/ratings.rst",
            category="Corpora",
            labels={"result": "Ratings of data selection"},
        ),
        png="<results>/ratings.png",
    log:
        "logs/ratings/<experiment>/ratings.log",
    benchmark:
        "benchmarks/ratings/<experiment>/ratings.tsv"
    localrule: True
    conda:
        "../../environment.yml"
    threads: 1
    resources:
        mem_mb=growing(2000),
        runtime=growing(30),
    params:
        code=code("ratings"),
    shell:
        "python -m nmt ratings --points {input} --outputs {output} 2> {log}"


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
    threads: 1
    resources:
        mem_mb=growing(4000),
        runtime=growing(60),
    params:
        names=[*DEVELOPMENT, *TEST],
        code=code("coverage"),
    shell:
        "python -m nmt coverage --shortlists {input.shortlists} --texts {input.texts} --audit {input.audit}"
        " --names {params.names} --sources {input.sources} --targets {input.targets} --output {output} 2> {log}"


rule table1:
    input:
        scores=of_set("<data>/evaluation/{variant}/{set}.json", variant=SYSTEMS),
        tuning=phrase_based_tuning(),
        paper="data/paper.tsv",
    output:
        csv="<results>/{place}table1.csv",
        md="<results>/{place}table1.md",
        tex="<results>/{place}table1.tex",
    log:
        "logs/table1/<experiment>/{place}table1.log",
    benchmark:
        "benchmarks/table1/<experiment>/{place}table1.tsv"
    localrule: True
    conda:
        "../../environment.yml"
    threads: 1
    resources:
        mem_mb=growing(2000),
        runtime=growing(30),
    params:
        labels=labels(SYSTEMS),
        note=phrase_based_note(),
        code=code("table1"),
    shell:
        "python -m nmt table1 --scores {input.scores} --labels {params.labels} --paper {input.paper} {params.note} {input.tuning}"
        " --output-csv {output.csv} --output-md {output.md} --output-tex {output.tex} 2> {log}"


rule significance:
    input:
        source=of_set(f"<data>/tokenized/{{set}}.{LANGUAGES[0]}"),
        reference=of_set(f"<data>/tokenized/{{set}}.{LANGUAGES[1]}"),
        shortlists=both("<data>/shortlist/{language}.tsv"),
        translations=of_set("<data>/translations/{variant}/{set}.txt", variant=SYSTEMS),
        translations_no_unk=significance_no_unk,
    output:
        csv="<results>/{place}significance.csv",
        md="<results>/{place}significance.md",
    log:
        "logs/significance/<experiment>/{place}significance.log",
    benchmark:
        "benchmarks/significance/<experiment>/{place}significance.tsv"
    localrule: True
    conda:
        "../../environment.yml"
    threads: 1
    resources:
        mem_mb=growing(4000),
        runtime=growing(60),
    params:
        labels=labels(SYSTEMS),
        pairs=compared_options(),
        seed=CONFIG.seed,
        code=code("significance"),
    shell:
        "python -m nmt significance --source {input.source} --reference {input.reference}"
        " --shortlists {input.shortlists} --translations {input.translations}"
        " --translations-no-unk {input.translations_no_unk} --labels {params.labels} {params.pairs}"
        " --seed {params.seed} --output-csv {output.csv} --output-md {output.md} 2> {log}"


rule table2:
    input:
        summaries=expand(
            "<data>/models/{variant}/summary.json", variant=CONFIG.variants
        ),
        train=expand("<data>/nll/{variant}/train.json", variant=CONFIG.variants),
        development=expand(
            "<data>/nll/{variant}/development.json", variant=CONFIG.variants
        ),
        paper="data/paper.tsv",
    output:
        csv="<results>/table2.csv",
        md="<results>/table2.md",
    log:
        "logs/table2/<experiment>/table2.log",
    benchmark:
        "benchmarks/table2/<experiment>/table2.tsv"
    localrule: True
    conda:
        "../../environment.yml"
    threads: 1
    resources:
        mem_mb=growing(2000),
        runtime=growing(30),
    params:
        labels=labels(CONFIG.variants),
        code=code("table2"),
    shell:
        "python -m nmt table2 --summaries {input.summaries} --train-nll {input.train}"
        " --development-nll {input.development} --labels {params.labels} --paper {input.paper}"
        " --output-csv {output.csv} --output-md {output.md} 2> {log}"


rule table3:
    input:
        source=of_set(f"<data>/tokenized/{{set}}.{LANGUAGES[0]}"),
        raw_source=of_set(f"<data>/extracted/{{set}}.{LANGUAGES[0]}"),
        reference=of_set(f"<data>/tokenized/{{set}}.{LANGUAGES[1]}"),
        translations=of_set(
            "<data>/translations/{variant}/{set}.txt", variant=CONFIG.table3.models
        ),
    output:
        csv="<results>/{place}table3.csv",
        md="<results>/{place}table3.md",
    log:
        "logs/table3/<experiment>/{place}table3.log",
    benchmark:
        "benchmarks/table3/<experiment>/{place}table3.tsv"
    localrule: True
    conda:
        "../../environment.yml"
    threads: 1
    resources:
        mem_mb=growing(2000),
        runtime=growing(30),
    params:
        labels=labels(CONFIG.table3.models),
        set=table_set,
        language=LANGUAGES[1],
        sentences=CONFIG.table3.sentences,
        minimum=CONFIG.table3.minimum_words,
        seed=CONFIG.seed,
        code=code("table3"),
    shell:
        "python -m nmt table3 --source {input.source} --raw-source {input.raw_source}"
        " --reference {input.reference} --translations {input.translations} --labels {params.labels}"
        " --set {params.set} --language {params.language} --sentences {params.sentences}"
        " --minimum-words {params.minimum} --seed {params.seed}"
        " --output-csv {output.csv} --output-md {output.md} 2> {log}"


rule figure1:
    output:
        pdf="<results>/figure1.pdf",
        svg=report(
            "<results>/figure1.svg",
            caption="../report/figure1.rst",
            category="Figures",
            labels={"figure": "Figure 1"},
        ),
        png="<results>/figure1.png",
    log:
        "logs/figure1/<experiment>/figure1.log",
    benchmark:
        "benchmarks/figure1/<experiment>/figure1.tsv"
    localrule: True
    conda:
        "../../environment.yml"
    threads: 1
    resources:
        mem_mb=growing(2000),
        runtime=growing(30),
    params:
        code=code("figure1"),
    shell:
        "python -m nmt figure1 --outputs {output} 2> {log}"


rule lengths:
    input:
        source=of_set(f"<data>/tokenized/{{set}}.{LANGUAGES[0]}"),
        reference=of_set(f"<data>/tokenized/{{set}}.{LANGUAGES[1]}"),
        translations=of_set("<data>/translations/{variant}/{set}.txt", variant=curves()),
    output:
        "<results>/{place}figure2.csv",
    log:
        "logs/lengths/<experiment>/{place}lengths.log",
    benchmark:
        "benchmarks/lengths/<experiment>/{place}lengths.tsv"
    localrule: True
    conda:
        "../../environment.yml"
    threads: 1
    resources:
        mem_mb=growing(2000),
        runtime=growing(30),
    params:
        labels=labels(curves()),
        width=CONFIG.figure2.bin_width,
        code=code("lengths"),
    shell:
        "python -m nmt lengths --source {input.source} --reference {input.reference}"
        " --translations {input.translations} --labels {params.labels} --bin-width {params.width}"
        " --output {output} 2> {log}"


rule figure2:
    input:
        "<results>/{place}figure2.csv",
    output:
        pdf="<results>/{place}figure2.pdf",
        svg=report(
            "<results>/{place}figure2.svg",
            caption="../report/figure2.rst",
            category="Figures",
            labels=figure_labels("Figure 2"),
        ),
        png="<results>/{place}figure2.png",
    log:
        "logs/figure2/<experiment>/{place}figure2.log",
    benchmark:
        "benchmarks/figure2/<experiment>/{place}figure2.tsv"
    localrule: True
    conda:
        "../../environment.yml"
    threads: 1
    resources:
        mem_mb=growing(2000),
        runtime=growing(30),
    params:
        code=code("figure2"),
    shell:
        "python -m nmt figure2 --points {input} --outputs {output} 2> {log}"


rule samples:
    input:
        alignments=of_set(
            "<data>/translations/{variant}/{set}.alignments.jsonl",
            variant=CONFIG.figure3.model,
        ),
        source=of_set(f"<data>/tokenized/{{set}}.{LANGUAGES[0]}"),
        shortlists=both("<data>/shortlist/{language}.tsv"),
    output:
        "<results>/{place}figure3.csv",
    log:
        "logs/samples/<experiment>/{place}samples.log",
    benchmark:
        "benchmarks/samples/<experiment>/{place}samples.tsv"
    localrule: True
    conda:
        "../../environment.yml"
    threads: 1
    resources:
        mem_mb=growing(2000),
        runtime=growing(30),
    params:
        chosen=CONFIG.figure3.chosen,
        seed=CONFIG.seed,
        code=code("samples"),
    shell:
        "python -m nmt samples --alignments {input.alignments} --source {input.source}"
        " --shortlists {input.shortlists} --seed {params.seed} --chosen {params.chosen} --output {output} 2> {log}"


rule figure3:
    input:
        "<results>/{place}figure3.csv",
    output:
        pdf="<results>/{place}figure3.pdf",
        svg=report(
            "<results>/{place}figure3.svg",
            caption="../report/figure3.rst",
            category="Figures",
            labels=figure_labels("Figure 3"),
        ),
        png="<results>/{place}figure3.png",
    log:
        "logs/figure3/<experiment>/{place}figure3.log",
    benchmark:
        "benchmarks/figure3/<experiment>/{place}figure3.tsv"
    localrule: True
    conda:
        "../../environment.yml"
    threads: 1
    resources:
        mem_mb=growing(2000),
        runtime=growing(30),
    params:
        code=code("figure3"),
    shell:
        "python -m nmt figure3 --points {input} --outputs {output} 2> {log}"
