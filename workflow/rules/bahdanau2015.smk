# The tables and figures of Bahdanau, Cho and Bengio (2015). Those that the experiment leaves out have no rule.
from nmt.papers.bahdanau2015.paper import curves, phrase_based_options

PAPER = papers.settings(EXPERIMENT)


if PAPER.table1:

    rule table1:
        input:
            scores=of_set("<data>/evaluation/{variant}/{set}.json", variant=SYSTEMS),
            tuning=["<data>/phrase_based/tuning.json"] * (PHRASE_BASED in SYSTEMS),
            printed=ARTEFACTS["table1"].printed,
        output:
            multiext("<results>/{place}table1", csv=".csv", md=".md", tex=".tex"),
        log:
            "logs/table1/<experiment>/{place}table1.log",
        benchmark:
            "benchmarks/table1/<experiment>/{place}table1.tsv"
        localrule: True
        conda:
            "../../environment.yml"
        params:
            **named(SYSTEMS),
            contents=contents(ARTEFACTS["table1"].printed),
            phrase_based=phrase_based_options(EXPERIMENT),
            generated=MADE_UP,
            code=code("bahdanau2015.table1"),
        shell:
            "python -m nmt bahdanau2015.table1 --scores {input.scores:q} --labels {params.labels:q}"
            " --printed {input.printed:q} {params.phrase_based:q} --tuning {input.tuning:q}"
            f" --output-tex {{output.tex:q}}{TABLE}{LOG}"


if PAPER.table2:

    rule table2:
        input:
            summaries=expand("<data>/models/{variant}/summary.json", variant=EXPERIMENT.variants),
            train=expand("<data>/nll/{variant}/train.json", variant=EXPERIMENT.variants),
            development=expand("<data>/nll/{variant}/development.json", variant=EXPERIMENT.variants),
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
            **named(TRAININGS, TRAININGS),
            contents=contents(ARTEFACTS["table2"].printed),
            generated=MADE_UP,
            code=code("bahdanau2015.table2"),
        shell:
            "python -m nmt bahdanau2015.table2 --summaries {input.summaries:q}"
            " --train-nll {input.train:q} --development-nll {input.development:q} --labels {params.labels:q}"
            f" --printed {{input.printed:q}}{TABLE}{LOG}"


if PAPER.table3:

    rule table3:
        input:
            source=of_set(SHOWN_SOURCE),
            raw_source=of_set(f"<data>/extracted/{{set}}.{LANGUAGES[0]}"),
            reference=of_set(REFERENCE),
            translations=of_set(TRANSLATION, variant=PAPER.table3.models),
        output:
            multiext("<results>/{place}table3", csv=".csv", md=".md"),
        log:
            "logs/table3/<experiment>/{place}table3.log",
        benchmark:
            "benchmarks/table3/<experiment>/{place}table3.tsv"
        localrule: True
        conda:
            "../../environment.yml"
        params:
            **named(PAPER.table3.models),
            set=lambda wildcards: PLACES[wildcards.place],
            language=untokenized(LANGUAGES[1]),
            settings=PAPER.table3.to_json(),
            seed=EXPERIMENT.seed,
            generated=MADE_UP,
            code=code("bahdanau2015.table3"),
        shell:
            "python -m nmt bahdanau2015.table3 --source {input.source:q} --raw-source {input.raw_source:q}"
            " --reference {input.reference:q} --translations {input.translations:q} --labels {params.labels:q}"
            " --set {params.set:q} --language {params.language:q}"
            f" --settings {{params.settings:q}} --seed {{params.seed:q}}{TABLE}{LOG}"


if PAPER.figure2:

    rule bleu_by_length:
        input:
            source=of_set(SHOWN_SOURCE),
            reference=of_set(REFERENCE),
            translations=of_set(TRANSLATION, variant=curves(PAPER, EXPERIMENT)),
        output:
            "<results>/{place}figure2.csv",
        log:
            "logs/bleu_by_length/<experiment>/{place}figure2.log",
        benchmark:
            "benchmarks/bleu_by_length/<experiment>/{place}figure2.tsv"
        localrule: True
        conda:
            "../../environment.yml"
        params:
            **named(curves(PAPER, EXPERIMENT)),
            settings=PAPER.figure2.to_json("bin_width", "fewest"),
            bleu=bleu_options(EXPERIMENT),
            seed=EXPERIMENT.seed,
            code=code("bleu_by_length"),
        shell:
            "python -m nmt bleu_by_length --source {input.source:q} --reference {input.reference:q}"
            " --translations {input.translations:q} --labels {params.labels:q} --settings {params.settings:q}"
            f" {{params.bleu:q}} --seed {{params.seed:q}} --output {{output:q}}{LOG}"


if PAPER.figure3:

    rule sample_alignments:
        input:
            **VOCABULARIES,
            alignments=of_set("<data>/translations/{variant}/{set}.alignments.jsonl", variant=PAPER.figure3.model),
            source=of_set(SHOWN_SOURCE),
            raw_source=of_set(f"<data>/extracted/{{set}}.{LANGUAGES[0]}"),
        output:
            "<results>/{place}figure3.csv",
        log:
            "logs/sample_alignments/<experiment>/{place}figure3.log",
        benchmark:
            "benchmarks/sample_alignments/<experiment>/{place}figure3.tsv"
        localrule: True
        conda:
            "../../environment.yml"
        params:
            set=lambda wildcards: PLACES[wildcards.place],
            settings=PAPER.figure3.to_json(),
            seed=EXPERIMENT.seed,
            code=code("bahdanau2015.sample_alignments"),
        shell:
            "python -m nmt bahdanau2015.sample_alignments --alignments {input.alignments:q} --source {input.source:q}"
            " --raw-source {input.raw_source:q} --set {params.set:q} --shortlists {input.shortlists:q}"
            f" --codes {{input.codes:q}} --seed {{params.seed:q}} --settings {{params.settings:q}} --output {{output:q}}{LOG}"
