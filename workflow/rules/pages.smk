# From tables and figures to the pages that show them: a page for each table, for the report, and one for all of them.
PAGE = on_page(ARTEFACTS.values(), PLACES)

# A rule for each table, because a caption in the report belongs to a rule.
for table, artefact in ARTEFACTS.items():
    if artefact.is_figure:
        continue

    rule:
        name:
            f"sheet_{table}"
        input:
            table=f"<results>/{artefact.path()}",
            numbers=f"<results>/{artefact.path('csv')}",
            style=find("nmt/report/page.css"),
        output:
            report(f"<data>/sheets/{artefact.path('html')}", **artefact.in_report(PLACES)),
        log:
            f"logs/sheet/<experiment>/{artefact.path('log')}",
        benchmark:
            f"benchmarks/sheet/<experiment>/{artefact.path('tsv')}"
        localrule: True
        conda:
            "../../environment.yml"
        resources:
            **growing(mem_mb=500, runtime=5),
        params:
            generated=MADE_UP,
            code=code("sheet"),
        shell:
            "python -m nmt sheet --table {input.table:q} --numbers {input.numbers:q} {params.generated:q} --output {output:q} 2> {log:q}"


# The page links to figures, so they must be there, but a change of one does not make the page again. Its folder also has scripts of
# the alignments; they are no outputs, for their number is that of the sentences, and come and go with those of the texts.
rule index:
    input:
        tables=[f"<results>/{file}" for one, file in PAGE if not one.is_figure],
        figures=ancient([f"<results>/{file}" for one, file in PAGE if one.is_figure]),
        captions=[find(one.caption) for one, _ in PAGE],
        sources=expand(SOURCE, set=TEST),
        references=expand(REFERENCE, set=TEST),
        alignments=expand("<data>/translations/{variant}/{set}.alignments.jsonl", set=TEST, variant=EXPERIMENT.variants),
        baseline=expand(TRANSLATION, variant=PHRASE_BASED, set=TEST if PHRASE_BASED in SYSTEMS else []),
        parts=[find(f"nmt/report/{part}") for part in ("page.css", "words.js", "index.js")],
    output:
        page="<results>/index.html",
        texts=expand("<results>/index/{set}.js", set=TEST),
    log:
        "logs/index/<experiment>/index.log",
    benchmark:
        "benchmarks/index/<experiment>/index.tsv"
    localrule: True
    conda:
        "../../environment.yml"
    resources:
        **growing(mem_mb=2000, runtime=30),
    params:
        experiment=EXPERIMENT.name,
        head=papers.page_head(EXPERIMENT),
        shown=[f"{EXPERIMENT.results}/{file}" for _, file in PAGE],
        titles=[one.title for one, _ in PAGE],
        sets=TEST,
        languages=untokenized(LANGUAGES),
        labels=labels(EXPERIMENT.variants),
        baseline=(["--baseline", *labels([PHRASE_BASED])] if PHRASE_BASED in SYSTEMS else []),
        generated=MADE_UP,
        code=code("index"),
    shell:
        "python -m nmt index --experiment {params.experiment:q} {params.head:q} --shown {params.shown:q}"
        " --titles {params.titles:q} --captions {input.captions:q} --sets {params.sets:q} --sources {input.sources:q}"
        " --references {input.references:q} --languages {params.languages:q} --labels {params.labels:q} --alignments {input.alignments:q}"
        " {params.baseline:q} {input.baseline:q} {params.generated:q} --output {output.page:q} 2> {log:q}"
