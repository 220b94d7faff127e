# From the registry to ids in memory-mapped arrays.


rule mirror:
    output:
        mirror_archives(),
    log:
        "logs/mirror/<experiment>/mirror.log",
    benchmark:
        "benchmarks/mirror/<experiment>/mirror.tsv"
    conda:
        "../../environment.yml"
    threads: 1
    resources:
        mem_mb=1000,
        runtime=10,
    params:
        folder=f"{DATA}/mirror",
        pairs=CONFIG.generated.pairs,
        seed=CONFIG.seed,
        code=code("mirror"),
    shell:
        "python -m nmt mirror --output {params.folder} --seed {params.seed} --pairs {params.pairs} 2> {log}"


rule fetch:
    input:
        fetch_input,
    output:
        "<data>/archives/{archive}",
    log:
        "logs/fetch/<experiment>/{archive}.log",
    benchmark:
        "benchmarks/fetch/<experiment>/{archive}.tsv"
    wildcard_constraints:
        archive=one_of(ARCHIVES),
    priority: 1
    conda:
        "../../environment.yml"
    threads: 1
    resources:
        mem_mb=500,
        runtime=600,
        network=1,
    params:
        address=fetch_address,
        hash=fetch_hash,
        mirror=untracked(fetch_mirror),
    shell:
        "python -m nmt fetch --address {params.address:q} --mirror={params.mirror:q} --hash={params.hash:q}"
        " --output {output} 2> {log}"


rule extract:
    input:
        extract_archives,
    output:
        both("<data>/extracted/{{corpus}}.{language}"),
    log:
        "logs/extract/<experiment>/{corpus}.log",
    benchmark:
        "benchmarks/extract/<experiment>/{corpus}.tsv"
    conda:
        "../../environment.yml"
    threads: 1
    resources:
        mem_mb=1000,
        runtime=120,
    params:
        members=extract_members,
        expectation=extract_expectation,
        code=code("extract"),
    shell:
        "python -m nmt extract --name {wildcards.corpus} --archives {input} --members {params.members}"
        " {params.expectation} --outputs {output} 2> {log}"


rule tokenize:
    input:
        "<data>/extracted/{corpus}.{language}",
    output:
        "<data>/tokenized/{corpus}.{language}",
    log:
        "logs/tokenize/<experiment>/{corpus}.{language}.log",
    benchmark:
        "benchmarks/tokenize/<experiment>/{corpus}.{language}.tsv"
    conda:
        "../../environment.yml"
    threads: CONFIG.threads.tokenize
    resources:
        mem_mb=4000,
        runtime=720,
    params:
        code=code("tokenize"),
    shell:
        "python -m nmt tokenize --language {wildcards.language} --threads {threads} --input {input}"
        " --output {output} 2> {log}"


rule development:
    input:
        development_texts,
    output:
        "<data>/{kind}/development.{language}",
    log:
        "logs/development/<experiment>/{kind}.{language}.log",
    benchmark:
        "benchmarks/development/<experiment>/{kind}.{language}.tsv"
    localrule: True
    conda:
        "../../environment.yml"
    threads: 1
    resources:
        mem_mb=100,
        runtime=5,
    shell:
        "cat {input} > {output} 2> {log}"


rule lmplz:
    output:
        "data/tools/lmplz",
    log:
        "logs/lmplz/lmplz.log",
    benchmark:
        "benchmarks/lmplz/lmplz.tsv"
    conda:
        "../../environment.yml"
    threads: 2
    resources:
        mem_mb=4000,
        runtime=30,
        network=1,
    params:
        code=code("lmplz"),
    shell:
        "python -m nmt lmplz --output {output} 2> {log}"


rule select:
    input:
        lmplz=ancient("data/tools/lmplz"),
        sources=side(0, TRAIN),
        targets=side(1, TRAIN),
        in_domain_sources=side(0, IN_DOMAIN),
        in_domain_targets=side(1, IN_DOMAIN),
        held_out_sources=side(0, HELD_OUT),
        held_out_targets=side(1, HELD_OUT),
    output:
        texts=both("<data>/selected/train.{language}"),
        audit="<data>/selected/audit.csv",
    log:
        "logs/select/<experiment>/select.log",
    benchmark:
        "benchmarks/select/<experiment>/select.tsv"
    conda:
        "../../environment.yml"
    threads: CONFIG.threads.select
    resources:
        mem_mb=32000,
        runtime=1440,
    params:
        names=TRAIN,
        words=CONFIG.select.words,
        order=CONFIG.select.order,
        seed=CONFIG.seed,
        code=code("select"),
    shell:
        "python -m nmt select --lmplz {input.lmplz} --names {params.names}"
        " --sources {input.sources} --targets {input.targets}"
        " --in-domain-sources {input.in_domain_sources} --in-domain-targets {input.in_domain_targets}"
        " --held-out-sources {input.held_out_sources} --held-out-targets {input.held_out_targets}"
        " --words {params.words} --order {params.order} --seed {params.seed} --threads {threads}"
        " --outputs {output.texts} --audit {output.audit} 2> {log}"


rule shortlist:
    input:
        "<data>/selected/train.{language}",
    output:
        shortlist="<data>/shortlist/{language}.tsv",
        coverage="<data>/shortlist/{language}.csv",
    log:
        "logs/shortlist/<experiment>/{language}.log",
    benchmark:
        "benchmarks/shortlist/<experiment>/{language}.tsv"
    conda:
        "../../environment.yml"
    threads: 1
    resources:
        mem_mb=8000,
        runtime=60,
    params:
        size=CONFIG.shortlist.size,
        code=code("shortlist"),
    shell:
        "python -m nmt shortlist --input {input} --size {params.size} --output {output.shortlist}"
        " --coverage {output.coverage} 2> {log}"


rule binarize:
    input:
        texts=both("<data>/selected/train.{language}"),
        shortlists=both("<data>/shortlist/{language}.tsv"),
    output:
        directory("<data>/binarized"),
    log:
        "logs/binarize/<experiment>/binarize.log",
    benchmark:
        "benchmarks/binarize/<experiment>/binarize.tsv"
    conda:
        "../../environment.yml"
    threads: 1
    resources:
        mem_mb=8000,
        runtime=120,
    params:
        seed=CONFIG.seed,
        code=code("binarize"),
    shell:
        "python -m nmt binarize --texts {input.texts} --shortlists {input.shortlists} --seed {params.seed}"
        " --output {output} 2> {log}"
