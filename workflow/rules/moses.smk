# The phrase-based system with Moses, from the installation that the configuration names, stage by stage.


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
    threads: CONFIG.threads.phrase_based
    resources:
        mem_mb=growing(64000),
        runtime=growing(10080),
    params:
        bin=untracked(moses_bin),
        version=CONFIG.moses.version,
        code=code("moses_align"),
    shell:
        "python -m nmt moses_align --bin {params.bin:q} --version={params.version:q}"
        " --texts {input} --threads {threads} --output {output} 2> >(tee {log} >&2)"


rule moses_language_model:
    input:
        selected=f"<data>/selected/train.{LANGUAGES[1]}",
        monolingual=monolingual_texts(),
        held_out=side(1, HELD_OUT),
    output:
        "<data>/phrase_based/moses_language_model/model.binary",
    log:
        "logs/moses_language_model/<experiment>/moses_language_model.log",
    benchmark:
        "benchmarks/moses_language_model/<experiment>/moses_language_model.tsv"
    conda:
        "../../environment.yml"
    threads: CONFIG.threads.phrase_based
    resources:
        mem_mb=growing(64000),
        runtime=growing(2880),
    params:
        bin=untracked(moses_bin),
        version=CONFIG.moses.version,
        order=CONFIG.phrase_based.order,
        code=code("moses_language_model"),
    shell:
        "python -m nmt moses_language_model --bin {params.bin:q} --version={params.version:q}"
        " --texts {input.selected} {input.monolingual} --held-out {input.held_out} --order {params.order}"
        " --memory {resources.mem_mb} --output {output} 2> >(tee {log} >&2)"


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
    threads: CONFIG.threads.phrase_based
    resources:
        mem_mb=growing(64000),
        runtime=growing(2880),
    params:
        bin=untracked(moses_bin),
        version=CONFIG.moses.version,
        order=CONFIG.phrase_based.order,
        longest=CONFIG.phrase_based.phrase_length,
        code=code("moses_phrases"),
    shell:
        "python -m nmt moses_phrases --bin {params.bin:q} --version={params.version:q}"
        " --texts {input.texts} --links {input.links} --language-model {input.language_model} --order {params.order}"
        " --longest {params.longest} --threads {threads} --output {output} 2> >(tee {log} >&2)"


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
    threads: CONFIG.threads.phrase_based
    resources:
        mem_mb=growing(64000),
        runtime=growing(2880),
    params:
        bin=untracked(moses_bin),
        version=CONFIG.moses.version,
        work=untracked(f"{DATA}/phrase_based/moses_tune.work"),
        search=moses_search(),
        sentences=CONFIG.phrase_based.tune_sentences,
        rounds=CONFIG.phrase_based.tune_rounds,
        n_best=CONFIG.phrase_based.n_best,
        seed=CONFIG.seed,
        code=code("moses_tune"),
    shell:
        "python -m nmt moses_tune --bin {params.bin:q} --version={params.version:q}"
        " --model {input.model} --texts {input.texts} {params.search} --sentences {params.sentences}"
        " --rounds {params.rounds} --n-best {params.n_best} --seed {params.seed} --threads {threads}"
        " --work {params.work} --configuration {output.configuration} --output {output.summary} 2> >(tee {log} >&2)"


rule moses_translate:
    input:
        configuration="<data>/phrase_based/moses_tune/moses.ini",
        source=f"<data>/tokenized/{{set}}.{LANGUAGES[0]}",
    output:
        f"<data>/translations/{PHRASE_BASED}/{{set}}.txt",
    log:
        "logs/moses_translate/<experiment>/{set}.log",
    benchmark:
        "benchmarks/moses_translate/<experiment>/{set}.tsv"
    conda:
        "../../environment.yml"
    threads: CONFIG.threads.phrase_based
    resources:
        mem_mb=growing(64000),
        runtime=growing(2880),
    params:
        bin=untracked(moses_bin),
        version=CONFIG.moses.version,
        search=moses_search(),
        code=code("moses_translate"),
    shell:
        "python -m nmt moses_translate --bin {params.bin:q} --version={params.version:q}"
        " --configuration {input.configuration} --source {input.source} {params.search} --threads {threads}"
        " --output {output} 2> >(tee {log} >&2)"
