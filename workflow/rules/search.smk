# From models to translations: beam search, with the unknown word allowed and forbidden.


rule translate:
    input:
        model=MODEL,
        source=f"<data>/tokenized/{{set}}.{LANGUAGES[0]}",
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
    threads: CONFIG.threads.translate
    resources:
        mem_mb=growing(16000),
        runtime=growing(720),
        gpu=1,
    params:
        beam=CONFIG.translate.beam,
        ratio=CONFIG.translate.minimum_length_ratio,
        code=model_code("translate"),
        model=untracked(model_folder),
        batch=untracked(CONFIG.translate.batch),
        device=untracked(device),
    shell:
        "python -m nmt translate --model {params.model} --tokenized --source {input.source}"
        " --output {output.translation} --scores {output.scores} --alignments {output.alignments}"
        " --beam {params.beam} --batch {params.batch} --minimum-length-ratio {params.ratio}"
        " --device {params.device} --threads {threads} 2> >(tee {log} >&2)"


# Only the sentences that Table 1's last column counts: no unknown word in source or reference.
rule translate_no_unk:
    input:
        model=MODEL,
        source=f"<data>/tokenized/{{set}}.{LANGUAGES[0]}",
        reference=f"<data>/tokenized/{{set}}.{LANGUAGES[1]}",
    output:
        translation="<data>/translations/{variant}/{set}.no_unk.txt",
        scores="<data>/translations/{variant}/{set}.no_unk.scores.tsv",
    log:
        "logs/translate/<experiment>/{variant}.{set}.no_unk.log",
    benchmark:
        "benchmarks/translate/<experiment>/{variant}.{set}.no_unk.tsv"
    conda:
        "../../environment.yml"
    threads: CONFIG.threads.translate
    resources:
        mem_mb=growing(16000),
        runtime=growing(720),
        gpu=1,
    params:
        beam=CONFIG.translate.beam,
        ratio=CONFIG.translate.minimum_length_ratio,
        code=model_code("translate"),
        model=untracked(model_folder),
        batch=untracked(CONFIG.translate.batch),
        device=untracked(device),
    shell:
        "python -m nmt translate --model {params.model} --tokenized --source {input.source}"
        " --output {output.translation} --scores {output.scores} --forbid-unk --only-known {input.reference}"
        " --beam {params.beam} --batch {params.batch} --minimum-length-ratio {params.ratio}"
        " --device {params.device} --threads {threads} 2> >(tee {log} >&2)"
