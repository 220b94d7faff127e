# From ids to trained models and their likelihoods.


# Checkpoints are not an output: Snakemake deletes the outputs of a job that fails, and a repeated job resumes from them. tee
# ignores the signals that end a job, so that the training can say what it does about them.
rule train:
    input:
        data=BINARIZED,
        development=both("<data>/tokenized/development.{language}"),
        shortlists=both("<data>/shortlist/{language}.tsv"),
        initial=initial_model,
    output:
        **model_files("<data>/models/{variant}", "metrics.jsonl"),
    log:
        "logs/train/<experiment>/{variant}.log",
    benchmark:
        "benchmarks/train/<experiment>/{variant}.tsv"
    priority: train_priority
    conda:
        "../../environment.yml"
    threads: EXPERIMENT.threads.train
    resources:
        **growing(mem_mb=16000, runtime=2880),
        gpu=1,
    params:
        learned=lambda wildcards: EXPERIMENT.variants[wildcards.variant].learned(),
        code=model_code("train"),
        settings=untracked(lambda wildcards: EXPERIMENT.variants[wildcards.variant].to_json()),
        checkpoints=untracked(f"{DATA}/checkpoints/{{variant}}"),
        initial=initial_option,
        data=untracked(f"{DATA}/binarized"),
        languages=LANGUAGES,
        model=untracked(model_folder),
    shell:
        "python -m nmt train --settings {params.settings:q} --data {params.data}"
        " --development {input.development} --shortlists {input.shortlists} --languages {params.languages}"
        " {params.initial} --checkpoints {params.checkpoints} --threads {threads} --output {params.model}"
        " 2> >(trap '' INT TERM; tee {log} >&2)"
