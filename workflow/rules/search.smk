# From models to translations: beam search, with the unknown word allowed and forbidden.


rule translate:
    input:
        model=MODEL,
        source=SOURCE,
    output:
        translation="<data>/translations/{variant}/{set}.txt",
        scores="<data>/translations/{variant}/{set}.scores.tsv",
        alignments="<data>/translations/{variant}/{set}.alignments.jsonl",
    log:
        "logs/translate/<experiment>/{variant}.{set}.log",
    benchmark:
        "benchmarks/translate/<experiment>/{variant}.{set}.tsv"
    conda:
        "../../environment.yml"
    threads: EXPERIMENT.threads.translate
    resources:
        **growing(mem_mb=16000, runtime=720),
        gpu=1,
    params:
        search=search_options(),
        code=model_code("translate"),
        speed=untracked(speed_options),
    shell:
        "python -m nmt translate --model $(dirname {input.model[0]}) --tokenized --source {input.source}"
        " --output {output.translation} --scores {output.scores} --alignments {output.alignments}"
        " {params.search} {params.speed} --threads {threads} 2> >(tee {log} >&2)"


# Only the sentences of the paper's "No UNK" column: no unknown word in source or reference.
rule translate_no_unk:
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
    conda:
        "../../environment.yml"
    threads: EXPERIMENT.threads.translate
    resources:
        **growing(mem_mb=16000, runtime=720),
        gpu=1,
    params:
        search=search_options(),
        code=model_code("translate"),
        speed=untracked(speed_options),
    shell:
        "python -m nmt translate --model $(dirname {input.model[0]}) --tokenized --source {input.source}"
        " --output {output.translation} --scores {output.scores} --forbid-unk --only-known {input.reference}"
        " {params.search} {params.speed} --threads {threads} 2> >(tee {log} >&2)"
