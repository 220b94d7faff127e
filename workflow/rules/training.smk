# From ids to trained models and their likelihoods.


# Checkpoints are not an output: Snakemake deletes the outputs of a job that fails, and a repeated job resumes from them. It also
# deletes a finished model if the run ends before Snakemake has recorded it, and before a model is trained again, even if the setting
# that changed is then undone. So the last checkpoint of a finished training is kept. When a model of words replaces one of subwords,
# Snakemake leaves the codes behind, because they are no longer outputs.
rule train:
    input:
        **VOCABULARIES,
        data=BINARIZED,
        development=both("<data>/tokenized/development.{language}"),
        initial=lambda wildcards: expand(MODEL, variant=EXPERIMENT.variants[wildcards.variant].continues or []),
    output:
        model=MODEL,
        metrics="<data>/models/{variant}/metrics.jsonl",
    log:
        "logs/train/<experiment>/{variant}.log",
    benchmark:
        "benchmarks/train/<experiment>/{variant}.tsv"
    priority: lambda wildcards: train_priority(EXPERIMENT, wildcards.variant)
    conda:
        "../../environment.yml"
    threads: EXPERIMENT.threads.train
    resources:
        **growing(mem_mb=16000, runtime=2880, gpu=1),
    params:
        learned=lambda wildcards: EXPERIMENT.variants[wildcards.variant].learned(),
        seed=lambda wildcards: EXPERIMENT.variants[wildcards.variant].optimization.seed,  # tables show it even if unused
        code=model_code("train"),
        settings=untracked(lambda wildcards: EXPERIMENT.variants[wildcards.variant].to_json()),
        checkpoints=untracked(lambda wildcards: f"{DATA}/checkpoints/{wildcards.variant}"),
        initial=lambda wildcards, input: (["--initial", Path(input.initial[0]).parent] if input.initial else []),
        languages=LANGUAGES,
        normalize=EXPERIMENT.normalize,
        stale=untracked(lambda wildcards: [f"{DATA}/models/{wildcards.variant}/{name}" for name in OF_SUBWORDS]),
    shell:
        f"{'' if SUBWORDS else 'rm -f {params.stale:q}; '}"
        "python -m nmt train --settings {params.settings:q} --data $(dirname {input.data[0]:q})"
        " --development {input.development:q} --shortlists {input.shortlists:q} --codes {input.codes:q}"
        " --languages {params.languages:q} --normalize {params.normalize:q} {params.initial:q} --checkpoints {params.checkpoints:q}"
        f" --code {{params.code:q}} --threads {{threads}} --output $(dirname {{output.model[0]:q}}){SHOWN}"


rule nll:
    input:
        model=MODEL,
        texts=lambda wildcards: both(
            f"<data>/{'selected' if wildcards.text == 'train' else 'tokenized'}/{wildcards.text}.{{language}}"
        ),
    output:
        "<data>/nll/{variant}/{text}.json",
    log:
        "logs/nll/<experiment>/{variant}.{text}.log",
    benchmark:
        "benchmarks/nll/<experiment>/{variant}.{text}.tsv"
    conda:
        "../../environment.yml"
    threads: EXPERIMENT.threads.translate
    resources:
        **growing(mem_mb=16000, runtime=120, gpu=1),
    params:
        sample=lambda wildcards: sample_options(EXPERIMENT, wildcards.variant, wildcards.text),
        device=untracked(lambda wildcards: EXPERIMENT.variants[wildcards.variant].run_time.device),
        code=model_code("nll"),
    shell:
        "python -m nmt nll --model $(dirname {input.model[0]:q}) --texts {input.texts:q}"
        f" {{params.sample:q}} --device {{params.device:q}} --threads {{threads}} --output {{output:q}}{SHOWN}"
