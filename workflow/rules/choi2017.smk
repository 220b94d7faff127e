# The tables and figures of Choi, Cho and Bengio (2017). Those that the experiment leaves out have no rule.
from nmt.papers.choi2017.room import language_pair, timed
from nmt.papers.choi2017.word_classes import GENERATED

PAPER = papers.settings(EXPERIMENT)
COMPARED = [word for pair in PAPER.pairs for word in ("--compare", *labels(pair))]


if PAPER.table1:

    rule table1:
        input:
            scores=of_set(
                "<data>/evaluation/{variant}/{set}{beam}.json",
                variant=EXPERIMENT.variants,
                beam=BEAMS.values(),
            ),
            development=expand(
                "<data>/evaluation/{variant}/development{beam}.json",
                variant=EXPERIMENT.variants,
                beam=BEAMS.values(),
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
            beams=list(BEAMS),
            generated=MADE_UP,
            code=code("choi2017.table1"),
        shell:
            "python -m nmt choi2017.table1 --pair {params.pair:q} --labels {params.labels:q} --beams {params.beams:q}"
            " --scores {input.scores:q} --development-scores {input.development:q} --printed {input.printed:q}"
            " {params.generated:q} --output-csv {output.csv:q} --output-md {output.md:q} 2> {log:q}"


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
            threads=EXPERIMENT.threads.translate,  # others take other times
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
            generated=MADE_UP,
            code=code("choi2017.table2"),
        shell:
            "python -m nmt choi2017.table2 --pair {params.pair:q} --times {input.times:q} {params.compared:q}"
            " --printed {input.printed:q} {params.generated:q} --output-csv {output.csv:q} --output-md {output.md:q} 2> {log:q}"


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
            generated=MADE_UP,
            code=code("choi2017.parameters"),
        shell:
            "python -m nmt choi2017.parameters --pair {params.pair:q} --models {input.models:q}"
            " --labels {params.labels:q} {params.compared:q} --printed {input.printed:q}"
            " {params.generated:q} --output-csv {output.csv:q} --output-md {output.md:q} 2> {log:q}"


if PAPER.figure2:

    rule model_alignments:
        input:
            models=[file for variant in PAPER.figure2.models for file in expand(MODEL, variant=variant)],
            source=expand(SOURCE, set="development"),
            translations=expand(SYMBOLS, variant=PAPER.figure2.models, set="development"),
        output:
            "<results>/figure2.csv",
        log:
            "logs/model_alignments/<experiment>/model_alignments.log",
        benchmark:
            "benchmarks/model_alignments/<experiment>/model_alignments.tsv"
        conda:
            "../../environment.yml"
        resources:
            **growing(mem_mb=8000, runtime=30),
        params:
            models=[f"{DATA}/models/{variant}" for variant in PAPER.figure2.models],
            labels=labels(PAPER.figure2.models),
            line=PAPER.sentence,
            code=model_code("choi2017.model_alignments", *PAPER.figure2.models),
        shell:
            "python -m nmt choi2017.model_alignments --models {params.models:q} --labels {params.labels:q}"
            " --source {input.source:q} --translations {input.translations:q} --line {params.line:q} --device cpu"
            " --output {output:q} 2> {log:q}"

    rule figure2:
        input:
            "<results>/figure2.csv",
        output:
            **drawn("figure2"),
        log:
            "logs/figure2/<experiment>/figure2.log",
        benchmark:
            "benchmarks/figure2/<experiment>/figure2.tsv"
        localrule: True
        conda:
            "../../environment.yml"
        resources:
            **growing(mem_mb=2000, runtime=30),
        params:
            code=code("choi2017.figure2"),
        shell:
            "python -m nmt choi2017.figure2 --points {input:q} --outputs {output:q} 2> {log:q}"


if PAPER.figure3:

    rule mean_weights:
        input:
            model=expand(MODEL, variant=PAPER.figure3.model),
            source=expand(SOURCE, set="development"),
            translation=expand(SYMBOLS, variant=PAPER.figure3.model, set="development"),
        output:
            "<results>/figure3.csv",
        log:
            "logs/mean_weights/<experiment>/mean_weights.log",
        benchmark:
            "benchmarks/mean_weights/<experiment>/mean_weights.tsv"
        conda:
            "../../environment.yml"
        resources:
            **growing(mem_mb=8000, runtime=30),
        params:
            line=PAPER.sentence,
            settings=PAPER.figure3.to_json(),
            code=model_code("choi2017.mean_weights", PAPER.figure3.model),
        shell:
            "python -m nmt choi2017.mean_weights --model $(dirname {input.model[0]:q}) --source {input.source:q}"
            " --translation {input.translation:q} --line {params.line:q} --settings {params.settings:q} --device cpu"
            " --output {output:q} 2> {log:q}"

    rule figure3:
        input:
            "<results>/figure3.csv",
        output:
            **drawn("figure3"),
        log:
            "logs/figure3/<experiment>/figure3.log",
        benchmark:
            "benchmarks/figure3/<experiment>/figure3.tsv"
        localrule: True
        conda:
            "../../environment.yml"
        resources:
            **growing(mem_mb=2000, runtime=30),
        params:
            code=code("choi2017.figure3"),
        shell:
            "python -m nmt choi2017.figure3 --points {input:q} --outputs {output:q} 2> {log:q}"


if PAPER.figure4:

    rule specialized_dimensions:
        input:
            model=expand(MODEL, variant=PAPER.figure4.model),
            aligner=expand(MODEL, variant=PAPER.figure4.aligner),
            source=expand(SOURCE, set=TEST[0]),
            translation=expand(SYMBOLS, variant=PAPER.figure4.model, set=TEST[0]),
            words=[] if PAPER.figure4.words == GENERATED else PAPER.figure4.words,
        output:
            multiext("<results>/specialized_dimensions", csv=".csv", md=".md"),
        log:
            "logs/specialized_dimensions/<experiment>/specialized_dimensions.log",
        benchmark:
            "benchmarks/specialized_dimensions/<experiment>/specialized_dimensions.tsv"
        conda:
            "../../environment.yml"
        threads: EXPERIMENT.threads.translate
        resources:
            **growing(mem_mb=16000, runtime=240),
            gpu=1,
        params:
            settings=PAPER.figure4.to_json(),
            seed=EXPERIMENT.seed,
            device=untracked(EXPERIMENT.variants[PAPER.figure4.model].run_time.device),
            generated=MADE_UP,
            code=model_code("choi2017.specialized_dimensions", PAPER.figure4.model, PAPER.figure4.aligner),
        shell:
            "python -m nmt choi2017.specialized_dimensions --model $(dirname {input.model[0]:q})"
            " --aligner $(dirname {input.aligner[0]:q}) --source {input.source:q} --translation {input.translation:q}"
            " --settings {params.settings:q} --seed {params.seed:q} --device {params.device:q} --threads {threads}"
            " {params.generated:q} --output-csv {output.csv:q} --output-md {output.md:q} 2> >(tee {log:q} >&2)"

    rule dimension_weights:
        input:
            model=expand(MODEL, variant=PAPER.figure4.model),
            source=expand(SOURCE, set="development"),
            translation=expand(SYMBOLS, variant=PAPER.figure4.model, set="development"),
            dimensions="<results>/specialized_dimensions.csv",
        output:
            "<results>/figure4.csv",
        log:
            "logs/dimension_weights/<experiment>/dimension_weights.log",
        benchmark:
            "benchmarks/dimension_weights/<experiment>/dimension_weights.tsv"
        conda:
            "../../environment.yml"
        resources:
            **growing(mem_mb=8000, runtime=30),
        params:
            line=PAPER.sentence,
            code=model_code("choi2017.dimension_weights", PAPER.figure4.model),
        shell:
            "python -m nmt choi2017.dimension_weights --model $(dirname {input.model[0]:q}) --source {input.source:q}"
            " --translation {input.translation:q} --line {params.line:q} --dimensions {input.dimensions:q} --device cpu"
            " --output {output:q} 2> {log:q}"

    rule figure4:
        input:
            "<results>/figure4.csv",
        output:
            **drawn("figure4"),
        log:
            "logs/figure4/<experiment>/figure4.log",
        benchmark:
            "benchmarks/figure4/<experiment>/figure4.tsv"
        localrule: True
        conda:
            "../../environment.yml"
        resources:
            **growing(mem_mb=2000, runtime=30),
        params:
            code=code("choi2017.figure4"),
        shell:
            "python -m nmt choi2017.figure4 --points {input:q} --outputs {output:q} 2> {log:q}"
