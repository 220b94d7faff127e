# From tables and figures to the pages that show them: each table as one, for the report, and all together as another.


# A rule for each table: a caption in the report is of a rule.
for table, (places, ending, category, _) in SHEETS.items():

    rule:
        name:
            f"sheet_{table}"
        input:
            table=f"<results>/{{place}}{table}.{ending}",
            numbers=f"<results>/{{place}}{table}.csv",
            style="nmt/report/page.css",
        output:
            report(
                f"<data>/sheets/{{place}}{table}.html",
                caption=f"../report/{table}.rst",
                category=category,
                labels=sheet_labels(table),
            ),
        log:
            f"logs/sheet/<experiment>/{{place}}{table}.log",
        benchmark:
            f"benchmarks/sheet/<experiment>/{{place}}{table}.tsv"
        localrule: True
        conda:
            "../../environment.yml"
        threads: 1
        resources:
            mem_mb=growing(500),
            runtime=growing(5),
        params:
            code=code("sheet"),
        shell:
            "python -m nmt sheet --table {input.table} --numbers {input.numbers} --output {output} 2> {log}"


# Figures are only linked, so that they must be there, but a change of one does not make the page again.
rule index:
    input:
        tables=[path for path in shown() if not path.endswith(".svg")],
        figures=ancient([path for path in shown() if path.endswith(".svg")]),
        captions=expand(
            "workflow/report/{name}.rst", name=[Path(path).stem for path in shown()]
        ),
        sources=expand(f"<data>/tokenized/{{set}}.{LANGUAGES[0]}", set=TEST),
        references=expand(f"<data>/tokenized/{{set}}.{LANGUAGES[1]}", set=TEST),
        alignments=[
            f"<data>/translations/{variant}/{name}.alignments.jsonl"
            for name in TEST
            for variant in CONFIG.variants
        ],
        baseline=[
            f"<data>/translations/{PHRASE_BASED}/{name}.txt"
            for name in TEST
            if PHRASE_BASED in SYSTEMS
        ],
        parts=["nmt/report/page.css", "nmt/report/index.js"],
    output:
        page="<results>/index.html",
        sentences=directory("<results>/index"),
    log:
        "logs/index/<experiment>/index.log",
    benchmark:
        "benchmarks/index/<experiment>/index.tsv"
    localrule: True
    conda:
        "../../environment.yml"
    threads: 1
    resources:
        mem_mb=growing(2000),
        runtime=growing(30),
    params:
        experiment=CONFIG.experiment,
        shown=shown(),
        sets=TEST,
        labels=labels(CONFIG.variants),
        baseline=(
            f"--baseline {labels([PHRASE_BASED])}" if PHRASE_BASED in SYSTEMS else ""
        ),
        code=code("index"),
    shell:
        "python -m nmt index --experiment {params.experiment} --shown {params.shown} --captions workflow/report"
        " --sets {params.sets} --sources {input.sources} --references {input.references}"
        " --labels {params.labels} --alignments {input.alignments} {params.baseline} {input.baseline} --output {output.page} 2> {log}"
