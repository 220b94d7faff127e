# The tables and figures of Bahdanau, Cho and Bengio (2015). Those that the experiment leaves out have no rule.
from nmt.papers.bahdanau2015.room import curves, phrase_based_options

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
        resources:
            **growing(mem_mb=2000, runtime=30),
        params:
            labels=labels(SYSTEMS),
            phrase_based=phrase_based_options(EXPERIMENT),
            code=code("bahdanau2015.table1"),
        shell:
            "python -m nmt bahdanau2015.table1 --scores {input.scores} --labels {params.labels}"
            " --printed {input.printed} {params.phrase_based:q} --tuning {input.tuning}"
            " --output-csv {output.csv} --output-md {output.md} --output-tex {output.tex} 2> {log}"


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
        resources:
            **growing(mem_mb=2000, runtime=30),
        params:
            labels=labels(EXPERIMENT.variants),
            batches=[variant.optimization.batch for variant in EXPERIMENT.variants.values()],
            code=code("bahdanau2015.table2"),
        shell:
            "python -m nmt bahdanau2015.table2 --summaries {input.summaries} --batches {params.batches}"
            " --train-nll {input.train} --development-nll {input.development} --labels {params.labels}"
            " --printed {input.printed} --output-csv {output.csv} --output-md {output.md} 2> {log}"


if PAPER.table3:

    rule table3:
        input:
            source=of_set(SOURCE),
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
        resources:
            **growing(mem_mb=2000, runtime=30),
        params:
            labels=labels(PAPER.table3.models),
            set=lambda wildcards: PLACES[wildcards.place],
            language=LANGUAGES[1],
            settings=PAPER.table3.to_json(),
            seed=EXPERIMENT.seed,
            code=code("bahdanau2015.table3"),
        shell:
            "python -m nmt bahdanau2015.table3 --source {input.source} --raw-source {input.raw_source}"
            " --reference {input.reference} --translations {input.translations} --labels {params.labels}"
            " --set {params.set} --language {params.language} --settings {params.settings:q} --seed {params.seed}"
            " --output-csv {output.csv} --output-md {output.md} 2> {log}"


if PAPER.figure1:

    rule figure1:
        output:
            **drawn("figure1"),
        log:
            "logs/figure1/<experiment>/figure1.log",
        benchmark:
            "benchmarks/figure1/<experiment>/figure1.tsv"
        localrule: True
        conda:
            "../../environment.yml"
        resources:
            **growing(mem_mb=2000, runtime=30),
        params:
            code=code("bahdanau2015.figure1"),
        shell:
            "python -m nmt bahdanau2015.figure1 --outputs {output} 2> {log}"


if PAPER.figure2:

    rule bleu_by_length:
        input:
            source=of_set(SOURCE),
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
        resources:
            **growing(mem_mb=2000, runtime=30),
        params:
            labels=labels(curves(PAPER, EXPERIMENT)),
            settings=PAPER.figure2.to_json("bin_width"),
            code=code("bleu_by_length"),
        shell:
            "python -m nmt bleu_by_length --source {input.source} --reference {input.reference}"
            " --translations {input.translations} --labels {params.labels} --settings {params.settings:q}"
            " --output {output} 2> {log}"

    rule figure2:
        input:
            "<results>/{place}figure2.csv",
        output:
            **drawn("figure2"),
        log:
            "logs/figure2/<experiment>/{place}figure2.log",
        benchmark:
            "benchmarks/figure2/<experiment>/{place}figure2.tsv"
        localrule: True
        conda:
            "../../environment.yml"
        resources:
            **growing(mem_mb=2000, runtime=30),
        params:
            code=code("bahdanau2015.figure2"),
        shell:
            "python -m nmt bahdanau2015.figure2 --points {input} --outputs {output} 2> {log}"


if PAPER.figure3:

    rule sample_alignments:
        input:
            alignments=of_set("<data>/translations/{variant}/{set}.alignments.jsonl", variant=PAPER.figure3.model),
            source=of_set(SOURCE),
            raw_source=of_set(f"<data>/extracted/{{set}}.{LANGUAGES[0]}"),
            shortlists=both("<data>/shortlist/{language}.tsv"),
        output:
            "<results>/{place}figure3.csv",
        log:
            "logs/sample_alignments/<experiment>/{place}figure3.log",
        benchmark:
            "benchmarks/sample_alignments/<experiment>/{place}figure3.tsv"
        localrule: True
        conda:
            "../../environment.yml"
        resources:
            **growing(mem_mb=2000, runtime=30),
        params:
            set=lambda wildcards: PLACES[wildcards.place],
            settings=PAPER.figure3.to_json(),
            seed=EXPERIMENT.seed,
            code=code("bahdanau2015.sample_alignments"),
        shell:
            "python -m nmt bahdanau2015.sample_alignments --alignments {input.alignments} --source {input.source}"
            " --raw-source {input.raw_source} --set {params.set} --shortlists {input.shortlists}"
            " --seed {params.seed} --settings {params.settings:q} --output {output} 2> {log}"

    rule figure3:
        input:
            "<results>/{place}figure3.csv",
        output:
            **drawn("figure3"),
        log:
            "logs/figure3/<experiment>/{place}figure3.log",
        benchmark:
            "benchmarks/figure3/<experiment>/{place}figure3.tsv"
        localrule: True
        conda:
            "../../environment.yml"
        resources:
            **growing(mem_mb=2000, runtime=30),
        params:
            code=code("bahdanau2015.figure3"),
        shell:
            "python -m nmt bahdanau2015.figure3 --points {input} --outputs {output} 2> {log}"
