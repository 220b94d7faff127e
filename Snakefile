# Where Snakemake looks for it in this folder; other workflows look for workflow/Snakefile.


include: "workflow/Snakefile"


workflow.default_target = "all"  # which Snakemake forgets after an include
