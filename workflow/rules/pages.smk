# From points to figures, and from tables and figures to the pages that show them. A rule for each figure, drawn from its points
# if it has any, and for each table, because a caption in the report belongs to a rule.
PAGE = on_page(ARTEFACTS.values(), PLACES)
PAGE_FILES = ["nmt/report/page.css", "nmt/report/words.js", "nmt/report/index.js"]

for figure, artefact in ARTEFACTS.items():
    if not artefact.is_figure or figure == "ratings":  # whose points are those of `select`
        continue

    rule:
        name:
            f"{figure}"
        input:
            [f"<results>/{artefact.path('csv')}"] * ("csv" in artefact.endings),
        output:
            **drawn(figure),
        log:
            f"logs/{figure}/<experiment>/{artefact.path('log')}",
        benchmark:
            f"benchmarks/{figure}/<experiment>/{artefact.path('tsv')}"
        localrule: True
        conda:
            "../../environment.yml"
        params:
            step=untracked(step_of(EXPERIMENT, figure)),
            points=untracked(["--points"] * ("csv" in artefact.endings)),
            systems=figure_options(EXPERIMENT, artefact),
            code=code(step_of(EXPERIMENT, figure)),
        shell:
            "python -m nmt {params.step:q} {params.points:q} {input:q} {params.systems:q}"
            f" --outputs {{output:q}}{LOG}"


for table, artefact in ARTEFACTS.items():
    if artefact.is_figure:
        continue

    rule:
        name:
            f"sheet_{table}"
        input:
            table=f"<results>/{artefact.path()}",
            numbers=f"<results>/{artefact.path('csv')}",
        output:
            report(f"<data>/sheets/{artefact.path('html')}", **artefact.in_report(PLACES)),
        log:
            f"logs/sheet/<experiment>/{artefact.path('log')}",
        benchmark:
            f"benchmarks/sheet/<experiment>/{artefact.path('tsv')}"
        localrule: True
        conda:
            "../../environment.yml"
        params:
            generated=MADE_UP,
            contents=contents([find("nmt/report/page.css")]),
            code=code("sheet"),
        shell:
            "python -m nmt sheet --table {input.table:q} --numbers {input.numbers:q} {params.generated:q}"
            f" --output {{output:q}}{LOG}"


# The page links to figures, so they must exist. The scripts of the alignments, in the page's folder, are not outputs, because
# there are as many as the sentences need; they come and go with those of the texts.
rule index:
    input:
        tables=[f"<results>/{file}" for one, file in PAGE if not one.is_figure],
        figures=[f"<results>/{file}" for one, file in PAGE if one.is_figure],
        sources=expand(SHOWN_SOURCE, set=TEST),
        references=expand(SHOWN_REFERENCE, set=TEST),
        alignments=expand("<data>/translations/{variant}/{set}.alignments.jsonl", set=TEST, variant=EXPERIMENT.variants),
        baseline=expand(TRANSLATION, variant=PHRASE_BASED, set=TEST if PHRASE_BASED in SYSTEMS else []),
        scores=expand("<data>/evaluation/{variant}/{set}.json", set=TEST, variant=SYSTEMS),
        significance=["<results>/significance.csv"] * ("significance" in ARTEFACTS),
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
    params:
        **named(EXPERIMENT.variants),
        experiment=EXPERIMENT.name,
        head=papers.page_head(EXPERIMENT),
        shown=[f"{EXPERIMENT.results}/{file}" for _, file in PAGE],
        titles=[one.title for one, _ in PAGE],
        captions=untracked([find(one.caption) for one, _ in PAGE]),
        contents=contents([find(file) for file in [*(one.caption for one, _ in PAGE), *PAGE_FILES]]),
        front=[f"{EXPERIMENT.results}/{front(PAGE)}"],
        pairs=pair_options(EXPERIMENT),
        sets=TEST,
        languages=untokenized(LANGUAGES),
        pieces=[side for side, one in zip(SIDES, LANGUAGES) if HAS_PIECES and not has_spaces(one)],
        baseline=(["--baseline", *labels([PHRASE_BASED])] if PHRASE_BASED in SYSTEMS else []),
        generated=MADE_UP,
        code=code("index"),
    shell:
        "python -m nmt index --experiment {params.experiment:q} {params.head:q} --shown {params.shown:q}"
        " --titles {params.titles:q} --captions {params.captions:q} --sets {params.sets:q} --sources {input.sources:q}"
        " --references {input.references:q} --languages {params.languages:q} --pieces {params.pieces:q}"
        " --labels {params.labels:q} --alignments {input.alignments:q}"
        " {params.baseline:q} {input.baseline:q} --scores {input.scores:q} --significance {input.significance:q} {params.pairs:q}"
        f" --front {{params.front:q}} {{params.generated:q}} --output {{output.page:q}}{LOG}"


# The last job: it runs when everything that it records has ended.
rule provenance:
    input:
        results=RESULTS,
        summaries=expand("<data>/models/{variant}/summary.json", variant=EXPERIMENT.variants),
        texts=both("<data>/selected/train.{language}") + both("<data>/tokenized/{set}.{language}", set=SETS),
    output:
        "<results>/provenance.json",
    log:
        "logs/provenance/<experiment>/provenance.log",
    benchmark:
        "benchmarks/provenance/<experiment>/provenance.tsv"
    localrule: True
    conda:
        "../../environment.yml"
    params:
        experiment=EXPERIMENT.name,
        command=untracked(shlex.join(["snakemake", *sys.argv[1:]])),
        configuration=untracked(json.dumps(config)),
        steps=json.dumps(codes(EXPERIMENT)),
        rules=lambda wildcards: sorted(PLAIN_NAME(rule.name) for rule in workflow.rules),
        code=code("provenance"),
    shell:
        "python -m nmt provenance --experiment {params.experiment:q} --command {params.command:q}"
        " --configuration {params.configuration:q} --code {params.steps:q} --summaries {input.summaries:q}"
        f" --texts {{input.texts:q}} --rules {{params.rules:q}} --output {{output:q}}{LOG}"
