# From models to translations: beam search, with the unknown word allowed and forbidden.


rule translate:
    input:
        model=MODEL,
        source=SOURCE,
    output:
        translation="<data>/translations/{variant}/{set}{beam}.txt",
        scores="<data>/translations/{variant}/{set}{beam}.scores.tsv",
        symbols="<data>/translations/{variant}/{set}{beam}.symbols.txt",
        alignments="<data>/translations/{variant}/{set}{beam}.alignments.jsonl",
    log:
        "logs/translate/<experiment>/{variant}.{set}{beam}.log",
    benchmark:
        "benchmarks/translate/<experiment>/{variant}.{set}{beam}.tsv"
    conda:
        "../../environment.yml"
    threads: EXPERIMENT.threads.translate
    resources:
        **growing(mem_mb=16000, runtime=720, gpu=1),
    params:
        search=lambda wildcards: search_options(EXPERIMENT, wildcards.get("beam", "")),
        code=model_code("translate"),
        speed=untracked(lambda wildcards: speed_options(EXPERIMENT, wildcards.variant)),
        more=lambda wildcards, output: ["--symbols", output.symbols, "--alignments", output.alignments],
    shell:
        "python -m nmt translate --model $(dirname {input.model[0]:q}) --tokenized --source {input.source:q}"
        " --output {output.translation:q} --scores {output.scores:q} {params.more:q}"
        f" {{params.search:q}} {{params.speed:q}} --threads {{threads}}{SHOWN}"


# Only the sentences of the paper's "No UNK" column: no unknown word in source or reference.
use rule translate as translate_no_unk with:
    input:
        model=MODEL,
        source=SOURCE,
        reference=REFERENCE,
    output:
        translation="<data>/translations/{variant}/{set}.no_unk.txt",
        scores="<data>/translations/{variant}/{set}.no_unk.scores.tsv",
    log:
        "logs/translate_no_unk/<experiment>/{variant}.{set}.log",
    benchmark:
        "benchmarks/translate_no_unk/<experiment>/{variant}.{set}.tsv"
    params:
        more=lambda wildcards, input: ["--forbid-unk", "--only-known", input.reference],
