# The phrase-based system with Thot, from the package index: from the selected text to translations, stage by stage.

LANGUAGE_MODEL = multiext(
    "<data>/phrase_based/language_model/model", "", ".weights", ".wp"
)


rule thot_word_align:
    input:
        both("<data>/selected/train.{language}"),
    output:
        "<data>/phrase_based/{direction}/links.txt",
    log:
        "logs/thot_word_align/<experiment>/{direction}.log",
    benchmark:
        "benchmarks/thot_word_align/<experiment>/{direction}.tsv"
    wildcard_constraints:
        direction="direct|inverse",
    conda:
        "../../environment.yml"
    threads: 1
    resources:
        mem_mb=growing(8000),
        runtime=growing(240),
    params:
        inverse=word_align_inverse,
        pairs=CONFIG.phrase_based.pairs,
        iterations=CONFIG.phrase_based.align_iterations,
        seed=CONFIG.seed,
        code=code("thot_word_align"),
    shell:
        "python -m nmt thot_word_align --texts {input} --pairs {params.pairs} --seed {params.seed} {params.inverse}"
        " --iterations {params.iterations} --output $(dirname {output}) 2> >(tee {log} >&2)"


rule thot_symmetrize:
    input:
        direct="<data>/phrase_based/direct/links.txt",
        inverse="<data>/phrase_based/inverse/links.txt",
    output:
        "<data>/phrase_based/symmetrized/links.txt",
    log:
        "logs/thot_symmetrize/<experiment>/symmetrize.log",
    benchmark:
        "benchmarks/thot_symmetrize/<experiment>/symmetrize.tsv"
    conda:
        "../../environment.yml"
    threads: 1
    resources:
        mem_mb=growing(4000),
        runtime=growing(60),
    params:
        code=code("thot_symmetrize"),
    shell:
        "python -m nmt thot_symmetrize --direct {input.direct} --inverse {input.inverse}"
        " --output {output} 2> {log}"


rule thot_phrase_table:
    input:
        texts=both("<data>/selected/train.{language}"),
        links="<data>/phrase_based/symmetrized/links.txt",
    output:
        "<data>/phrase_based/phrase_table/phrases.txt",
    log:
        "logs/thot_phrase_table/<experiment>/phrase_table.log",
    benchmark:
        "benchmarks/thot_phrase_table/<experiment>/phrase_table.tsv"
    conda:
        "../../environment.yml"
    threads: 1
    resources:
        mem_mb=growing(16000),
        runtime=growing(120),
    params:
        pairs=CONFIG.phrase_based.pairs,
        longest=CONFIG.phrase_based.phrase_length,
        translations=CONFIG.phrase_based.translations,
        seed=CONFIG.seed,
        code=code("thot_phrase_table"),
    shell:
        "python -m nmt thot_phrase_table --texts {input.texts} --pairs {params.pairs} --seed {params.seed}"
        " --links {input.links} --longest {params.longest} --translations {params.translations}"
        " --output {output} 2> {log}"


rule thot_language_model:
    input:
        selected=f"<data>/selected/train.{LANGUAGES[1]}",
        monolingual=monolingual_texts(),
        held_out=side(1, HELD_OUT),
    output:
        LANGUAGE_MODEL,
    log:
        "logs/thot_language_model/<experiment>/language_model.log",
    benchmark:
        "benchmarks/thot_language_model/<experiment>/language_model.tsv"
    conda:
        "../../environment.yml"
    threads: 1
    resources:
        mem_mb=growing(8000),
        runtime=growing(120),
    params:
        order=CONFIG.phrase_based.order,
        code=code("thot_language_model"),
    shell:
        "python -m nmt thot_language_model --texts {input.selected} {input.monolingual} --held-out {input.held_out}"
        " --order {params.order} --output $(dirname {output[0]}) 2> {log}"


rule thot_tune:
    input:
        direct="<data>/phrase_based/direct/links.txt",
        inverse="<data>/phrase_based/inverse/links.txt",
        phrases="<data>/phrase_based/phrase_table/phrases.txt",
        language_model=LANGUAGE_MODEL,
        texts=both("<data>/tokenized/development.{language}"),
    output:
        "<data>/phrase_based/tuning.json",
    log:
        "logs/thot_tune/<experiment>/mert.log",
    benchmark:
        "benchmarks/thot_tune/<experiment>/mert.tsv"
    conda:
        "../../environment.yml"
    threads: CONFIG.threads.phrase_based
    resources:
        mem_mb=growing(16000),
        runtime=growing(480),
    params:
        search=search_options(),
        sentences=CONFIG.phrase_based.tune_sentences,
        rounds=CONFIG.phrase_based.tune_rounds,
        n_best=CONFIG.phrase_based.n_best,
        seed=CONFIG.seed,
        code=code("thot_tune"),
    shell:
        "python -m nmt thot_tune --direct $(dirname {input.direct}) --inverse $(dirname {input.inverse}) --phrase-table {input.phrases}"
        " --language-model $(dirname {input.language_model[0]}) {params.search} --texts {input.texts}"
        " --sentences {params.sentences} --rounds {params.rounds} --n-best {params.n_best} --seed {params.seed}"
        " --threads {threads} --output {output} 2> >(tee {log} >&2)"


rule thot_translate:
    input:
        direct="<data>/phrase_based/direct/links.txt",
        inverse="<data>/phrase_based/inverse/links.txt",
        phrases="<data>/phrase_based/phrase_table/phrases.txt",
        language_model=LANGUAGE_MODEL,
        tuning="<data>/phrase_based/tuning.json",
        source=f"<data>/tokenized/{{set}}.{LANGUAGES[0]}",
    output:
        f"<data>/translations/{PHRASE_BASED}/{{set}}.txt",
    log:
        "logs/thot_translate/<experiment>/{set}.log",
    benchmark:
        "benchmarks/thot_translate/<experiment>/{set}.tsv"
    conda:
        "../../environment.yml"
    threads: CONFIG.threads.phrase_based
    resources:
        mem_mb=growing(16000),
        runtime=growing(240),
    params:
        search=search_options(),
        code=code("thot_translate"),
    shell:
        "python -m nmt thot_translate --direct $(dirname {input.direct}) --inverse $(dirname {input.inverse}) --phrase-table {input.phrases}"
        " --language-model $(dirname {input.language_model[0]}) {params.search} --weights {input.tuning}"
        " --source {input.source} --threads {threads} --output {output} 2> >(tee {log} >&2)"
