# The tables of Choi, Cho and Bengio (2017). Those that the experiment leaves out have no rule.
from nmt.papers.choi2017.room import beams, language_pair, timed

PAPER = papers.settings(EXPERIMENT)
COMPARED = [word for pair in PAPER.pairs for word in ("--compare", *labels(pair))]


if PAPER.table1:

    rule table1:
        input:
            scores=of_set(
                "<data>/evaluation/{variant}/{set}{beam}.json",
                variant=EXPERIMENT.variants,
                beam=beams(EXPERIMENT).values(),
            ),
            development=expand(
                "<data>/evaluation/{variant}/development{beam}.json",
                variant=EXPERIMENT.variants,
                beam=beams(EXPERIMENT).values(),
            ),
            printed=ARTEFACTS["table1"].printed,
        output:
            multiext("<results>/{place}table1", csv=".csv", md=".md"),
        log:
            "logs/table1/<experiment>/{place}table1.log",
        benchmark:
            "benchmarks/table1/<experiment>/{place}table1.tsv"
        localrule: True
        conda:
            "../../environment.yml"
        resources:
            **growing(mem_mb=500, runtime=5),
        params:
            pair=language_pair(EXPERIMENT),
            labels=labels(EXPERIMENT.variants),
            beams=list(beams(EXPERIMENT)),
            code=code("choi2017.table1"),
        shell:
            "python -m nmt choi2017.table1 --pair {params.pair:q} --labels {params.labels:q} --beams {params.beams:q}"
            " --scores {input.scores:q} --development-scores {input.development:q} --printed {input.printed:q}"
            " --output-csv {output.csv:q} --output-md {output.md:q} 2> {log:q}"


if PAPER.table2:

    rule translation_times:
        input:
            models=[file for variant in timed(PAPER) for file in expand(MODEL, variant=variant)],
            source=expand(SOURCE, set=TEST[0]),
        output:
            "<data>/translation_times.csv",
        log:
            "logs/translation_times/<experiment>/translation_times.log",
        benchmark:
            "benchmarks/translation_times/<experiment>/translation_times.tsv"
        conda:
            "../../environment.yml"
        threads: EXPERIMENT.threads.translate
        resources:
            **growing(mem_mb=16000, runtime=720),
            gpu=1,
        params:
            models=[f"{DATA}/models/{variant}" for variant in timed(PAPER)],
            labels=labels(timed(PAPER)),
            sentences=PAPER.table2.sentences,
            settings=settings("translate"),
            device=EXPERIMENT.variants[timed(PAPER)[0]].run_time.device,
            code=model_code("choi2017.translation_times", *timed(PAPER)),
        shell:
            "python -m nmt choi2017.translation_times --models {params.models:q} --labels {params.labels:q}"
            " --source {input.source:q} --sentences {params.sentences:q} --settings {params.settings:q}"
            " --device {params.device:q} --threads {threads} --output {output:q} 2> >(tee {log:q} >&2)"

    rule table2:
        input:
            times="<data>/translation_times.csv",
            printed=ARTEFACTS["table2"].printed,
        output:
            multiext("<results>/table2", csv=".csv", md=".md"),
        log:
            "logs/table2/<experiment>/table2.log",
        benchmark:
            "benchmarks/table2/<experiment>/table2.tsv"
        localrule: True
        conda:
            "../../environment.yml"
        resources:
            **growing(mem_mb=500, runtime=5),
        params:
            pair=language_pair(EXPERIMENT),
            compared=COMPARED,
            code=code("choi2017.table2"),
        shell:
            "python -m nmt choi2017.table2 --pair {params.pair:q} --times {input.times:q} {params.compared:q}"
            " --printed {input.printed:q} --output-csv {output.csv:q} --output-md {output.md:q} 2> {log:q}"


if PAPER.parameters:

    rule parameters:
        input:
            models=expand("<data>/models/{variant}/model.safetensors", variant=EXPERIMENT.variants),
            printed=ARTEFACTS["parameters"].printed,
        output:
            multiext("<results>/parameters", csv=".csv", md=".md"),
        log:
            "logs/parameters/<experiment>/parameters.log",
        benchmark:
            "benchmarks/parameters/<experiment>/parameters.tsv"
        localrule: True
        conda:
            "../../environment.yml"
        resources:
            **growing(mem_mb=2000, runtime=30),
        params:
            pair=language_pair(EXPERIMENT),
            labels=labels(EXPERIMENT.variants),
            compared=COMPARED,
            code=code("choi2017.parameters"),
        shell:
            "python -m nmt choi2017.parameters --pair {params.pair:q} --models {input.models:q}"
            " --labels {params.labels:q} {params.compared:q} --printed {input.printed:q}"
            " --output-csv {output.csv:q} --output-md {output.md:q} 2> {log:q}"
