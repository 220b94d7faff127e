# The phrase-based system with Moses, from the installation that the experiment names, step by step.


rule moses_align:
    input:
        both("<data>/selected/train.{language}"),
    output:
        "<data>/phrase_based/moses_align/links.txt",
    log:
        "logs/moses_align/<experiment>/moses_align.log",
    benchmark:
        "benchmarks/moses_align/<experiment>/moses_align.tsv"
    conda:
        "../../environment.yml"
    threads: EXPERIMENT.threads.phrase_based
    resources:
        **growing(mem_mb=64000, runtime=10080),
    params:
        bin=untracked(EXPERIMENT.phrase_based.bin),
        settings=EXPERIMENT.phrase_based.to_json("version"),
        code=code("moses_align"),
    shell:
        "python -m nmt moses_align --bin {params.bin:q} --settings {params.settings:q}"
        f" --texts {{input:q}} --threads {{threads}} --output {{output:q}}{SHOWN}"


rule moses_language_model:
    input:
        texts=[f"<data>/selected/train.{LANGUAGES[1]}", *side(1, MONOLINGUAL)],
        held_out=side(1, HELD_OUT),
    output:
        "<data>/phrase_based/moses_language_model/model.binary",
    log:
        "logs/moses_language_model/<experiment>/moses_language_model.log",
    benchmark:
        "benchmarks/moses_language_model/<experiment>/moses_language_model.tsv"
    conda:
        "../../environment.yml"
    threads: EXPERIMENT.threads.phrase_based
    resources:
        **growing(mem_mb=64000, runtime=2880),
    params:
        bin=untracked(EXPERIMENT.phrase_based.bin),
        settings=EXPERIMENT.phrase_based.to_json("version", "order"),
        code=code("moses_language_model"),
    shell:
        "python -m nmt moses_language_model --bin {params.bin:q} --settings {params.settings:q}"
        " --texts {input.texts:q} --held-out {input.held_out:q} --memory {resources.mem_mb}"
        f" --output {{output:q}}{SHOWN}"


rule moses_phrases:
    input:
        texts=both("<data>/selected/train.{language}"),
        links="<data>/phrase_based/moses_align/links.txt",
        language_model="<data>/phrase_based/moses_language_model/model.binary",
    output:
        directory("<data>/phrase_based/moses_phrases"),
    log:
        "logs/moses_phrases/<experiment>/moses_phrases.log",
    benchmark:
        "benchmarks/moses_phrases/<experiment>/moses_phrases.tsv"
    conda:
        "../../environment.yml"
    threads: EXPERIMENT.threads.phrase_based
    resources:
        **growing(mem_mb=64000, runtime=2880),
    params:
        bin=untracked(EXPERIMENT.phrase_based.bin),
        settings=EXPERIMENT.phrase_based.to_json("version", "order", "phrase_length"),
        code=code("moses_phrases"),
    shell:
        "python -m nmt moses_phrases --bin {params.bin:q} --settings {params.settings:q}"
        " --texts {input.texts:q} --links {input.links:q} --language-model {input.language_model:q}"
        f" --threads {{threads}} --output {{output:q}}{SHOWN}"


rule moses_tune:
    input:
        model="<data>/phrase_based/moses_phrases",
        texts=both("<data>/tokenized/development.{language}"),
    output:
        configuration="<data>/phrase_based/moses_tune/moses.ini",
        summary="<data>/phrase_based/tuning.json",
    log:
        "logs/moses_tune/<experiment>/moses_tune.log",
    benchmark:
        "benchmarks/moses_tune/<experiment>/moses_tune.tsv"
    conda:
        "../../environment.yml"
    threads: EXPERIMENT.threads.phrase_based
    resources:
        **growing(mem_mb=64000, runtime=2880),
    params:
        bin=untracked(EXPERIMENT.phrase_based.bin),
        work=untracked(f"{DATA}/phrase_based/moses_tune.work"),
        settings=EXPERIMENT.phrase_based.to_json(
            *("version", "stack", "distortion_limit"), *("tune_sentences", "tune_rounds", "n_best")
        ),
        seed=EXPERIMENT.seed,
        code=code("moses_tune"),
    shell:
        "python -m nmt moses_tune --bin {params.bin:q} --settings {params.settings:q}"
        " --seed {params.seed:q} --model {input.model:q} --texts {input.texts:q} --threads {threads} --work {params.work:q}"
        f" --configuration {{output.configuration:q}} --output {{output.summary:q}}{SHOWN}"


rule moses_translate:
    input:
        configuration="<data>/phrase_based/moses_tune/moses.ini",
        source=SOURCE,
    output:
        f"<data>/translations/{PHRASE_BASED}/{{set}}.txt",
    log:
        "logs/moses_translate/<experiment>/{set}.log",
    benchmark:
        "benchmarks/moses_translate/<experiment>/{set}.tsv"
    conda:
        "../../environment.yml"
    threads: EXPERIMENT.threads.phrase_based
    resources:
        **growing(mem_mb=64000, runtime=2880),
    params:
        bin=untracked(EXPERIMENT.phrase_based.bin),
        settings=EXPERIMENT.phrase_based.to_json("version", "stack", "distortion_limit"),
        code=code("moses_translate"),
    shell:
        "python -m nmt moses_translate --bin {params.bin:q} --settings {params.settings:q}"
        " --threads {threads} --configuration {input.configuration:q} --source {input.source:q}"
        f" --output {{output:q}}{SHOWN}"
