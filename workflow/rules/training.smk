# From ids to trained models and their likelihoods.


# The checkpoints are no output: Snakemake deletes the outputs of a job that fails, and a repeated one goes on from them.
# Signals that end the job reach tee, too; it ignores them, for the training to say what it does about them.
rule train:
    input:
        data=BINARIZED,
        development=both("<data>/tokenized/development.{language}"),
        shortlists=both("<data>/shortlist/{language}.tsv"),
        initial=initial_model,
    output:
        model="<data>/models/{variant}/model.safetensors",
        summary="<data>/models/{variant}/summary.json",
        metrics="<data>/models/{variant}/metrics.jsonl",
        source="<data>/models/{variant}/source.tsv",
        target="<data>/models/{variant}/target.tsv",
    log:
        "logs/train/<experiment>/{variant}.log",
    benchmark:
        "benchmarks/train/<experiment>/{variant}.tsv"
    priority: train_priority
    conda:
        "../../environment.yml"
    threads: CONFIG.threads.train
    resources:
        mem_mb=growing(16000),
        runtime=growing(2880),
        gpu=1,
    params:
        learned=learned,
        code=model_code("train"),
        settings=untracked(settings),
        checkpoints=untracked(checkpoints),
        initial=initial_option,
        data=untracked(f"{DATA}/binarized"),
        languages=LANGUAGES,
        model=untracked(model_folder),
    shell:
        "python -m nmt train --settings {params.settings} --data {params.data}"
        " --development {input.development} --shortlists {input.shortlists} --languages {params.languages}"
        " {params.initial} --checkpoints {params.checkpoints} --threads {threads} --output {params.model}"
        " 2> >(trap '' INT TERM; tee {log} >&2)"


rule nll:
    input:
        model=MODEL,
        texts=nll_texts,
    output:
        "<data>/nll/{variant}/{text}.json",
    log:
        "logs/nll/<experiment>/{variant}.{text}.log",
    benchmark:
        "benchmarks/nll/<experiment>/{variant}.{text}.tsv"
    conda:
        "../../environment.yml"
    threads: CONFIG.threads.translate
    resources:
        mem_mb=growing(16000),
        runtime=growing(120),
        gpu=1,
    params:
        sample=nll_sample,
        code=model_code("nll"),
        model=untracked(model_folder),
    shell:
        "python -m nmt nll --model {params.model} --texts {input.texts}"
        " {params.sample} --threads {threads} --output {output} 2> >(tee {log} >&2)"
