# From the registry to ids in memory-mapped arrays. On a cluster, too, `localrule` means where Snakemake itself runs: for what
# takes seconds, and for what needs the network, which a cluster's nodes often lack.


rule mirror:
    output:
        mirror_archives(),
    log:
        "logs/mirror/<experiment>/mirror.log",
    benchmark:
        "benchmarks/mirror/<experiment>/mirror.tsv"
    localrule: True
    conda:
        "../../environment.yml"
    threads: 1
    resources:
        mem_mb=growing(1000),
        runtime=growing(10),
    params:
        folder=f"{DATA}/mirror",
        pairs=CONFIG.generated.pairs,
        seed=CONFIG.seed,
        code=code("mirror"),
    shell:
        "python -m nmt mirror --output {params.folder} --seed {params.seed} --pairs {params.pairs} 2> {log}"


# Address and hash are there to be compared: a change of them fetches again. What has arrived of a file lies beside the
# output and is none, since Snakemake deletes the outputs of a job that fails.
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
    localrule: True
    conda:
        "../../environment.yml"
    threads: 1
    resources:
        mem_mb=growing(500),
        runtime=growing(600),
        network=1,
    params:
        address=fetch_address,
        hash=fetch_hash,
        registry=untracked(CONFIG.registry),
        lock=untracked(LOCK),
        mirror=untracked(fetch_mirror),
    shell:
        "python -m nmt fetch --registry {params.registry:q} --archive {wildcards.archive:q}"
        " --lock={params.lock:q} --mirror={params.mirror:q} --output {output} 2> >(tee {log} >&2)"


# Without a benchmark file, which would count as done what is to be done whenever it is asked for.
rule verify:
    log:
        "logs/verify/<experiment>/verify.log",
    localrule: True
    conda:
        "../../environment.yml"
    threads: 1
    resources:
        mem_mb=growing(500),
        runtime=growing(60),
    params:
        registry=CONFIG.registry,
        lock=LOCK,
        archives=f"{DATA}/archives",
    shell:
        "python -m nmt verify --registry {params.registry:q} --lock={params.lock:q} --archives {params.archives}"
        " 2> {log}"


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
        mem_mb=growing(1000),
        runtime=growing(120),
    params:
        members=extract_members,
        expectation=extract_expectation,
        code=code("extract"),
    shell:
        "python -m nmt extract --name {wildcards.corpus} --archives {input} --members {params.members}"
        " {params.expectation} --outputs {output} 2> {log}"


# A large training corpus has parts that are tokenized, surveyed and rated one by one: shards of as many pairs on both sides.
rule tokenize:
    input:
        tokenize_input,
    output:
        "<data>/tokenized/{part}.{language}",
    log:
        "logs/tokenize/<experiment>/{part}.{language}.log",
    benchmark:
        "benchmarks/tokenize/<experiment>/{part}.{language}.tsv"
    conda:
        "../../environment.yml"
    threads: 1
    resources:
        mem_mb=growing(1000),
        runtime=growing(60),
    params:
        shard=tokenize_shard,
        code=code("tokenize"),
    shell:
        "python -m nmt tokenize --language {wildcards.language} {params.shard} --input {input}"
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
        mem_mb=growing(100),
        runtime=growing(5),
    shell:
        "cat {input} > {output} 2> {log}"


rule lmplz:
    output:
        "data/tools/lmplz",
    log:
        "logs/lmplz/lmplz.log",
    benchmark:
        "benchmarks/lmplz/lmplz.tsv"
    localrule: True
    conda:
        "../../environment.yml"
    threads: 2
    resources:
        mem_mb=growing(4000),
        runtime=growing(30),
        network=1,
    params:
        code=code("lmplz"),
    shell:
        "python -m nmt lmplz --output {output} 2> {log}"


rule clean:
    input:
        texts=both("<data>/tokenized/{{part}}.{language}"),
        held_out_sources=side(0, HELD_OUT),
        held_out_targets=side(1, HELD_OUT),
    output:
        "<data>/surveyed/{part}.npy",
    log:
        "logs/clean/<experiment>/{part}.log",
    benchmark:
        "benchmarks/clean/<experiment>/{part}.tsv"
    conda:
        "../../environment.yml"
    threads: 1
    resources:
        mem_mb=growing(1000),
        runtime=growing(30),
    params:
        code=code("clean"),
    shell:
        "python -m nmt clean --texts {input.texts} --held-out-sources {input.held_out_sources}"
        " --held-out-targets {input.held_out_targets} --output {output} 2> {log}"


rule train_lm:
    input:
        lmplz=ancient("data/tools/lmplz"),
        sources=side(0, TRAIN),
        targets=side(1, TRAIN),
        surveys=of_parts("<data>/surveyed/{part}.npy"),
        in_domain_sources=side(0, IN_DOMAIN),
        in_domain_targets=side(1, IN_DOMAIN),
    output:
        ESTIMATED,
    log:
        "logs/train_lm/<experiment>/estimate.log",
    benchmark:
        "benchmarks/train_lm/<experiment>/estimate.tsv"
    conda:
        "../../environment.yml"
    threads: 1
    resources:
        mem_mb=growing(4000),
        runtime=growing(60),
    params:
        names=of_parts("{corpus}"),
        order=CONFIG.select.order,
        seed=CONFIG.seed,
        code=code("train_lm"),
        folder=untracked(f"{DATA}/estimated"),
    shell:
        "python -m nmt train_lm --lmplz {input.lmplz} --names {params.names}"
        " --sources {input.sources} --targets {input.targets} --surveys {input.surveys}"
        " --in-domain-sources {input.in_domain_sources} --in-domain-targets {input.in_domain_targets}"
        " --order {params.order} --seed {params.seed} --output {params.folder} 2> {log}"


rule score_pairs:
    input:
        texts=both("<data>/tokenized/{{part}}.{language}"),
        models=ESTIMATED,
    output:
        "<data>/rated/{part}.npy",
    log:
        "logs/score_pairs/<experiment>/{part}.log",
    benchmark:
        "benchmarks/score_pairs/<experiment>/{part}.tsv"
    conda:
        "../../environment.yml"
    threads: 1
    resources:
        mem_mb=growing(1000),
        runtime=growing(60),
    params:
        code=code("score_pairs"),
        models=untracked(f"{DATA}/estimated"),
    shell:
        "python -m nmt score_pairs --texts {input.texts} --models {params.models} --output {output} 2> {log}"


rule select:
    input:
        sources=side(0, TRAIN),
        targets=side(1, TRAIN),
        surveys=of_parts("<data>/surveyed/{part}.npy"),
        ratings=of_parts("<data>/rated/{part}.npy"),
    output:
        texts=both("<data>/selected/train.{language}"),
        audit="<data>/selected/audit.csv",
        examples="<data>/selected/examples.tsv",
        distribution="<results>/ratings.csv",
    log:
        "logs/select/<experiment>/select.log",
    benchmark:
        "benchmarks/select/<experiment>/select.tsv"
    conda:
        "../../environment.yml"
    threads: 1
    resources:
        mem_mb=growing(4000),
        runtime=growing(60),
    params:
        names=of_parts("{corpus}"),
        rule=CONFIG.select.rule,
        words=CONFIG.select.words,
        shares=select_shares(),
        seed=CONFIG.seed,
        code=code("select"),
    shell:
        "python -m nmt select --names {params.names} --sources {input.sources} --targets {input.targets}"
        " --surveys {input.surveys} --ratings {input.ratings} --rule {params.rule} --words {params.words}"
        " {params.shares} --seed {params.seed} --outputs {output.texts} --audit {output.audit}"
        " --examples {output.examples} --distribution {output.distribution} 2> {log}"


rule shortlist:
    input:
        "<data>/selected/train.{language}",
    output:
        "<data>/shortlist/{language}.tsv",
    log:
        "logs/shortlist/<experiment>/{language}.log",
    benchmark:
        "benchmarks/shortlist/<experiment>/{language}.tsv"
    conda:
        "../../environment.yml"
    threads: 1
    resources:
        mem_mb=growing(8000),
        runtime=growing(60),
    params:
        size=CONFIG.shortlist.size,
        code=code("shortlist"),
    shell:
        "python -m nmt shortlist --input {input} --size {params.size} --output {output} 2> {log}"


rule binarize:
    input:
        texts=both("<data>/selected/train.{language}"),
        shortlists=both("<data>/shortlist/{language}.tsv"),
    output:
        BINARIZED,
    log:
        "logs/binarize/<experiment>/binarize.log",
    benchmark:
        "benchmarks/binarize/<experiment>/binarize.tsv"
    conda:
        "../../environment.yml"
    threads: 1
    resources:
        mem_mb=growing(8000),
        runtime=growing(120),
    params:
        seed=CONFIG.seed,
        code=code("binarize"),
        folder=untracked(f"{DATA}/binarized"),
    shell:
        "python -m nmt binarize --texts {input.texts} --shortlists {input.shortlists} --seed {params.seed}"
        " --output {params.folder} 2> {log}"
