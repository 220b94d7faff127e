# The phrase-based system with Thot, from the package index: from the selected text to translations, step by step.

# The text that Thot reads.
PHRASES = "segmented" if HAS_PIECES else "tokenized"
PHRASE_TEXT = f"<data>/{'segmented' if HAS_PIECES else 'selected'}/train.{{language}}"
# The outputs of an alignment in one direction: the links, and the digests of the model's files, which are not outputs themselves.
LINKS = "<data>/phrase_based/thot_word_align/{direction}/links.txt"
DIGESTS = "<data>/phrase_based/thot_word_align/{direction}/digests.json"
# What tuning and translation read, and the options that name it.
THOT = dict(
    direct=DIGESTS.replace("{direction}", "direct"),
    inverse=DIGESTS.replace("{direction}", "inverse"),
    phrases="<data>/phrase_based/thot_phrase_table/phrases.txt",
    language_model=multiext("<data>/phrase_based/thot_language_model/model", "", ".weights", ".wp"),
)
THOT_OPTIONS = (
    " --direct $(dirname {input.direct:q}) --inverse $(dirname {input.inverse:q}) --phrase-table {input.phrases:q}"
    " --language-model $(dirname {input.language_model[0]:q})"
)
SEARCH = ["stack", "distortion_limit", "phrase_length", "translations"]


rule thot_word_align:
    input:
        both(PHRASE_TEXT),
    output:
        links=LINKS,
        digests=DIGESTS,
    log:
        "logs/thot_word_align/<experiment>/{direction}.log",
    benchmark:
        "benchmarks/thot_word_align/<experiment>/{direction}.tsv"
    wildcard_constraints:
        direction="direct|inverse",
    conda:
        "../../environment.yml"
    resources:
        **growing(mem_mb=8000, runtime=240),
    params:
        inverse=lambda wildcards: ("--inverse" if wildcards.direction == "inverse" else ""),
        settings=EXPERIMENT.phrase_based.to_json("pairs", "align_iterations"),
        seed=EXPERIMENT.seed,
        languages=LANGUAGES,
        code=code("thot_word_align"),
    shell:
        "python -m nmt thot_word_align --texts {input:q} {params.inverse:q} --settings {params.settings:q}"
        f" --seed {{params.seed:q}} --output $(dirname {{output.links:q}}){SHOWN}"


rule thot_symmetrize:
    input:
        direct=LINKS.replace("{direction}", "direct"),
        inverse=LINKS.replace("{direction}", "inverse"),
    output:
        "<data>/phrase_based/thot_symmetrize/links.txt",
    log:
        "logs/thot_symmetrize/<experiment>/thot_symmetrize.log",
    benchmark:
        "benchmarks/thot_symmetrize/<experiment>/thot_symmetrize.tsv"
    conda:
        "../../environment.yml"
    resources:
        **growing(mem_mb=4000, runtime=60),
    params:
        code=code("thot_symmetrize"),
    shell:
        f"python -m nmt thot_symmetrize --direct {{input.direct:q}} --inverse {{input.inverse:q}} --output {{output:q}}{LOG}"


rule thot_phrase_table:
    input:
        texts=both(PHRASE_TEXT),
        links="<data>/phrase_based/thot_symmetrize/links.txt",
    output:
        THOT["phrases"],
    log:
        "logs/thot_phrase_table/<experiment>/thot_phrase_table.log",
    benchmark:
        "benchmarks/thot_phrase_table/<experiment>/thot_phrase_table.tsv"
    conda:
        "../../environment.yml"
    resources:
        **growing(mem_mb=16000, runtime=120),
    params:
        settings=EXPERIMENT.phrase_based.to_json("pairs", "phrase_length", "translations"),
        seed=EXPERIMENT.seed,
        languages=LANGUAGES,
        code=code("thot_phrase_table"),
    shell:
        "python -m nmt thot_phrase_table --texts {input.texts:q} --links {input.links:q} --settings {params.settings:q}"
        f" --seed {{params.seed:q}} --output {{output:q}}{LOG}"


rule thot_language_model:
    input:
        texts=[PHRASE_TEXT.format(language=LANGUAGES[1]), *side(1, EXPERIMENT.monolingual, PHRASES)],
        held_out=side(1, HELD_OUT, PHRASES),
    output:
        THOT["language_model"],
    log:
        "logs/thot_language_model/<experiment>/thot_language_model.log",
    benchmark:
        "benchmarks/thot_language_model/<experiment>/thot_language_model.tsv"
    conda:
        "../../environment.yml"
    resources:
        **growing(mem_mb=8000, runtime=120),
    params:
        texts=EXPERIMENT.monolingual,  # in order: the first occurrence of each word counts as an unknown one
        settings=EXPERIMENT.phrase_based.to_json("order"),
        code=code("thot_language_model"),
    shell:
        "python -m nmt thot_language_model --texts {input.texts:q} --held-out {input.held_out:q}"
        f" --settings {{params.settings:q}} --output $(dirname {{output[0]:q}}){LOG}"


rule thot_tune:
    input:
        **THOT,
        texts=both(f"<data>/{PHRASES}/development.{{language}}"),
    output:
        "<data>/phrase_based/tuning.json",
    log:
        "logs/thot_tune/<experiment>/thot_tune.log",
    benchmark:
        "benchmarks/thot_tune/<experiment>/thot_tune.tsv"
    conda:
        "../../environment.yml"
    threads: EXPERIMENT.threads.phrase_based
    resources:
        **growing(mem_mb=16000, runtime=480),
    params:
        settings=EXPERIMENT.phrase_based.to_json(*SEARCH, "tune_sentences", "tune_rounds", "n_best"),
        seed=EXPERIMENT.seed,
        languages=LANGUAGES,
        code=code("thot_tune"),
    shell:
        "python -m nmt thot_tune --texts {input.texts:q} --settings {params.settings:q}"
        f" --seed {{params.seed:q}} --threads {{threads}} --output {{output:q}}{THOT_OPTIONS}{SHOWN}"


rule thot_translate:
    input:
        **THOT,
        tuning="<data>/phrase_based/tuning.json",
        source=f"<data>/{PHRASES}/{{set}}.{LANGUAGES[0]}",
        pieces=CODES[1:] if HAS_PIECES else [],
    output:
        f"<data>/translations/{PHRASE_BASED}/{{set}}.txt",
    log:
        "logs/thot_translate/<experiment>/{set}.log",
    benchmark:
        "benchmarks/thot_translate/<experiment>/{set}.tsv"
    conda:
        "../../environment.yml"
    threads: EXPERIMENT.threads.phrase_based
    resources:
        **growing(mem_mb=16000, runtime=240),
    params:
        settings=EXPERIMENT.phrase_based.to_json(*SEARCH),
        code=code("thot_translate"),
    shell:
        "python -m nmt thot_translate --weights {input.tuning:q} --source {input.source:q}"
        f" --pieces {{input.pieces:q}} --settings {{params.settings:q}} --threads {{threads}} --output {{output:q}}{THOT_OPTIONS}{SHOWN}"
