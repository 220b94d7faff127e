# The whole paper as one DAG. Every line of logic is in the package `nmt`; rules only say what is made from what.
#
#   snakemake --cores 8 --use-conda all                                          the paper (config/wmt14.yaml)
#   snakemake --cores 2 results/demo/table1.csv --configfile config/demo.yaml    one table of the demonstration


configfile: "config/wmt14.yaml"


include: "workflow/rules/common.smk"


pathvars:
    data=DATA,
    results=CONFIG.results,
    experiment=CONFIG.experiment,


wildcard_constraints:
    corpus=one_of(CORPORA),
    kind="extracted|tokenized",
    language=one_of(LANGUAGES),
    part=one_of(CORPUS),
    place=one_of(PLACES),
    set=one_of(SETS),
    text="train|development",
    variant=one_of(CONFIG.variants),


report: "workflow/report/workflow.rst"


include: "workflow/rules/corpora.smk"
include: "workflow/rules/training.smk"
include: "workflow/rules/search.smk"
include: f"workflow/rules/{CONFIG.phrase_based.system}.smk"
include: "workflow/rules/evaluation.smk"
include: "workflow/rules/pages.smk"


rule all:
    default_target: True
    input:
        targets(),
