# The phrase-based system with Thot, from the package index: from the selected text to translations, stage by stage.


rule word_align:
    input:
        both("<data>/selected/train.{language}"),
    output:
        directory("<data>/phrase_based/{direction}"),
    log:
        "logs/word_align/<experiment>/{direction}.log",
    benchmark:
        "benchmarks/word_align/<experiment>/{direction}.tsv"
    wildcard_constraints:
        direction="direct|inverse",
    conda:
        "../../environment.yml"
    threads: 1
    resources:
        mem_mb=8000,
        runtime=240,
    params:
        inverse=word_align_inverse,
        pairs=CONFIG.phrase_based.pairs,
        iterations=CONFIG.phrase_based.align_iterations,
        seed=CONFIG.seed,
        code=code("word_align"),
    shell:
        "python -m nmt word_align --texts {input} --pairs {params.pairs} --seed {params.seed} {params.inverse}"
        " --iterations {params.iterations} --output {output} 2> >(tee {log} >&2)"


rule symmetrize:
    input:
        direct="<data>/phrase_based/direct",
        inverse="<data>/phrase_based/inverse",
    output:
        "<data>/phrase_based/symmetrized/links.txt",
    log:
        "logs/symmetrize/<experiment>/symmetrize.log",
    benchmark:
        "benchmarks/symmetrize/<experiment>/symmetrize.tsv"
    conda:
        "../../environment.yml"
    threads: 1
    resources:
        mem_mb=4000,
        runtime=60,
    params:
        code=code("symmetrize"),
    shell:
        "python -m nmt symmetrize --direct {input.direct}/links.txt --inverse {input.inverse}/links.txt"
        " --output {output} 2> {log}"


rule phrase_table:
    input:
        texts=both("<data>/selected/train.{language}"),
        links="<data>/phrase_based/symmetrized/links.txt",
    output:
        "<data>/phrase_based/phrase_table/phrases.txt",
    log:
        "logs/phrase_table/<experiment>/phrase_table.log",
    benchmark:
        "benchmarks/phrase_table/<experiment>/phrase_table.tsv"
    conda:
        "../../environment.yml"
    threads: 1
    resources:
        mem_mb=16000,
        runtime=120,
    params:
        pairs=CONFIG.phrase_based.pairs,
        longest=CONFIG.phrase_based.phrase_length,
        translations=CONFIG.phrase_based.translations,
        seed=CONFIG.seed,
        code=code("phrase_table"),
    shell:
        "python -m nmt phrase_table --texts {input.texts} --pairs {params.pairs} --seed {params.seed}"
        " --links {input.links} --longest {params.longest} --translations {params.translations}"
        " --output {output} 2> {log}"


rule language_model:
    input:
        selected=f"<data>/selected/train.{LANGUAGES[1]}",
        monolingual=monolingual_texts(),
    output:
        directory("<data>/phrase_based/language_model"),
    log:
        "logs/language_model/<experiment>/language_model.log",
    benchmark:
        "benchmarks/language_model/<experiment>/language_model.tsv"
    conda:
        "../../environment.yml"
    threads: 1
    resources:
        mem_mb=8000,
        runtime=120,
    params:
        order=CONFIG.phrase_based.order,
        code=code("language_model"),
    shell:
        "python -m nmt language_model --texts {input} --order {params.order} --output {output} 2> {log}"


rule mert:
    input:
        direct="<data>/phrase_based/direct",
        inverse="<data>/phrase_based/inverse",
        phrases="<data>/phrase_based/phrase_table/phrases.txt",
        language_model="<data>/phrase_based/language_model",
        texts=both("<data>/tokenized/development.{language}"),
    output:
        "<data>/phrase_based/tuning.json",
    log:
        "logs/mert/<experiment>/mert.log",
    benchmark:
        "benchmarks/mert/<experiment>/mert.tsv"
    conda:
        "../../environment.yml"
    threads: CONFIG.threads.phrase_based
    resources:
        mem_mb=16000,
        runtime=480,
    params:
        search=search_options(),
        sentences=CONFIG.phrase_based.tune_sentences,
        rounds=CONFIG.phrase_based.tune_rounds,
        n_best=CONFIG.phrase_based.n_best,
        seed=CONFIG.seed,
        code=code("mert"),
    shell:
        "python -m nmt mert --direct {input.direct} --inverse {input.inverse} --phrase-table {input.phrases}"
        " --language-model {input.language_model} {params.search} --texts {input.texts}"
        " --sentences {params.sentences} --rounds {params.rounds} --n-best {params.n_best} --seed {params.seed}"
        " --threads {threads} --output {output} 2> >(tee {log} >&2)"


rule decode:
    input:
        direct="<data>/phrase_based/direct",
        inverse="<data>/phrase_based/inverse",
        phrases="<data>/phrase_based/phrase_table/phrases.txt",
        language_model="<data>/phrase_based/language_model",
        tuning="<data>/phrase_based/tuning.json",
        source=f"<data>/tokenized/{{set}}.{LANGUAGES[0]}",
    output:
        f"<data>/translations/{PHRASE_BASED}/{{set}}.txt",
    log:
        "logs/decode/<experiment>/{set}.log",
    benchmark:
        "benchmarks/decode/<experiment>/{set}.tsv"
    conda:
        "../../environment.yml"
    threads: CONFIG.threads.phrase_based
    resources:
        mem_mb=16000,
        runtime=240,
    params:
        search=search_options(),
        code=code("decode"),
    shell:
        "python -m nmt decode --direct {input.direct} --inverse {input.inverse} --phrase-table {input.phrases}"
        " --language-model {input.language_model} {params.search} --weights {input.tuning}"
        " --source {input.source} --threads {threads} --output {output} 2> >(tee {log} >&2)"
