# The tables and figures of Choi, Cho and Bengio (2017). Those that the experiment leaves out have no rule.
from dataclasses import replace

from nmt.corpora.own import check_files
from nmt.papers.choi2017.paper import language_pair, points, timed
from nmt.papers.choi2017.word_classes import read_word_classes

PAPER = papers.settings(EXPERIMENT)
COMPARED = [word for pair in PAPER.pairs for word in ("--compare", *labels(pair))]


if PAPER.table1:

    rule table1:
        input:
            scores=of_set(EVALUATION, variant=EXPERIMENT.variants, beam=BEAMS.values()),
            development=expand(EVALUATION, set="development", variant=EXPERIMENT.variants, beam=BEAMS.values()),
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
        params:
            **named(EXPERIMENT.variants),
            contents=contents(ARTEFACTS["table1"].printed),
            pair=language_pair(EXPERIMENT),
            beams=list(BEAMS),
            generated=MADE_UP,
            code=code("choi2017.table1"),
        shell:
            "python -m nmt choi2017.table1 --pair {params.pair:q} --labels {params.labels:q} --beams {params.beams:q}"
            " --scores {input.scores:q} --development-scores {input.development:q}"
            f" --printed {{input.printed:q}}{TABLE}{LOG}"


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
            **growing(mem_mb=16000, runtime=720, gpu=1),
        params:
            **named(timed(PAPER)),
            models=[f"{DATA}/models/{variant}" for variant in timed(PAPER)],
            sentences=PAPER.table2.sentences,
            settings=EXPERIMENT.translate.to_json(),
            device=EXPERIMENT.variants[timed(PAPER)[0]].run_time.device,
            threads=f"threads: {EXPERIMENT.threads.translate}",  # another number would change the times
            code=model_code("choi2017.translation_times", *timed(PAPER)),
        shell:
            "python -m nmt choi2017.translation_times --models {params.models:q} --labels {params.labels:q}"
            " --source {input.source:q} --sentences {params.sentences:q} --settings {params.settings:q}"
            f" --device {{params.device:q}} --threads {{threads}} --output {{output:q}}{SHOWN}"

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
        params:
            contents=contents(ARTEFACTS["table2"].printed),
            pair=language_pair(EXPERIMENT),
            compared=COMPARED,
            generated=MADE_UP,
            code=code("choi2017.table2"),
        shell:
            "python -m nmt choi2017.table2 --pair {params.pair:q} --times {input.times:q} {params.compared:q}"
            f" --printed {{input.printed:q}}{TABLE}{LOG}"


if PAPER.parameters:

    rule parameters:
        input:
            models=expand("<data>/models/{variant}/model.safetensors", variant=EXPERIMENT.models),
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
        params:
            **named(EXPERIMENT.models),
            contents=contents(ARTEFACTS["parameters"].printed),
            pair=language_pair(EXPERIMENT),
            compared=COMPARED,
            generated=MADE_UP,
            code=code("choi2017.parameters"),
        shell:
            "python -m nmt choi2017.parameters --pair {params.pair:q} --models {input.models:q}"
            f" --labels {{params.labels:q}} {{params.compared:q}} --printed {{input.printed:q}}{TABLE}{LOG}"


if PAPER.figure4:
    with one_line_mistakes():
        check_files(PAPER.figure4.files)
        for file in PAPER.figure4.files:
            read_word_classes(file, EXPERIMENT.normalize)

    rule specialized_dimensions:
        input:
            model=expand(MODEL, variant=PAPER.figure4.model),
            aligner=expand(MODEL, variant=PAPER.figure4.aligner),
            source=expand(SOURCE, set=TEST[0]),
            translation=expand(SYMBOLS, variant=PAPER.figure4.model, set=TEST[0]),
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
            **growing(mem_mb=16000, runtime=240, gpu=1),
        params:
            **named([PAPER.figure4.model, PAPER.figure4.aligner]),
            settings=untracked(PAPER.figure4.to_json()),
            compared=replace(PAPER.figure4, words=bool(PAPER.figure4.files)).to_json(),
            words=[own_digest(file) for file in PAPER.figure4.files],
            seed=EXPERIMENT.seed,
            device=untracked(EXPERIMENT.variants[PAPER.figure4.model].run_time.device),
            generated=MADE_UP,
            code=model_code("choi2017.specialized_dimensions", PAPER.figure4.model, PAPER.figure4.aligner),
        shell:
            "python -m nmt choi2017.specialized_dimensions --model $(dirname {input.model[0]:q})"
            " --aligner $(dirname {input.aligner[0]:q}) --source {input.source:q} --translation {input.translation:q}"
            " --settings {params.settings:q} --labels {params.labels:q} --seed {params.seed:q}"
            f" --device {{params.device:q}} --threads {{threads}}{TABLE}{SHOWN}"


# The points of Figures 2, 3 and 4, each of one sentence of the development set.
for step, figure, models, options in points(PAPER, EXPERIMENT):

    rule:
        name:
            f"{step}"
        input:
            models=[file for variant in models for file in expand(MODEL, variant=variant)],
            source=expand(SOURCE, set="development"),
            translations=expand(SYMBOLS, variant=models, set="development"),
            dimensions=["<results>/specialized_dimensions.csv"] * (step == "dimension_weights"),
        output:
            f"<results>/{figure}.csv",
        log:
            f"logs/{step}/<experiment>/{step}.log",
        benchmark:
            f"benchmarks/{step}/<experiment>/{step}.tsv"
        conda:
            "../../environment.yml"
        resources:
            **growing(mem_mb=8000, runtime=30),
        params:
            step=untracked(f"choi2017.{step}"),
            models=[f"{DATA}/models/{variant}" for variant in models],
            options=options,
            line=PAPER.sentence,
            code=model_code(f"choi2017.{step}", *models),
        shell:
            "python -m nmt {params.step:q} --model {params.models:q} {params.options:q} --source {input.source:q}"
            " --translation {input.translations:q} --line {params.line:q} --device cpu"
            f" --output {{output:q}}{LOG}"
