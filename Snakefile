# The whole reproduction as one DAG. Every line of logic is in the package `nmt`; rules only say what is made from what.
#
#   snakemake --cores 8 --use-conda all                                          the paper (config/bahdanau2015/wmt14.yaml)
#   snakemake --cores 2 results/demo/table1.csv --configfile config/demo.yaml    one table of the demonstration


if not workflow.overwrite_configfiles:

    configfile: "config/bahdanau2015/wmt14.yaml"


include: "workflow/rules/common.smk"


pathvars:
    data=DATA,
    results=EXPERIMENT.results,
    experiment=EXPERIMENT.name,


wildcard_constraints:
    beam=r"(?:\.beam[1-9][0-9]*)?",
    corpus=one_of(CORPORA),
    kind="extracted|tokenized",
    language=one_of(LANGUAGES),
    part=one_of(PART),
    place=one_of(PLACES),
    set=one_of(SETS),
    text="train|development",
    variant=one_of(EXPERIMENT.variants),


report: "workflow/report/workflow.rst"


include: "workflow/rules/corpora.smk"
include: "workflow/rules/training.smk"
include: "workflow/rules/search.smk"
include: "workflow/rules/evaluation.smk"
include: "workflow/rules/pages.smk"


if EXPERIMENT.phrase_based:

    include: f"workflow/rules/{EXPERIMENT.phrase_based.system}.smk"


if EXPERIMENT.paper:

    include: f"workflow/rules/{EXPERIMENT.paper.name}.smk"


onstart:
    announce_work()


rule all:
    default_target: True
    input:
        targets(ARTEFACTS.values(), PLACES),
