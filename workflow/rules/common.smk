# What the rules share: the checked experiment, names derived from it, and functions of wildcards.
import re
import shlex
import sys
from pathlib import Path

sys.path.insert(0, str(Path(workflow.basedir)))

from nmt import papers
from nmt.commands import MODULES as STEPS
from nmt.corpora.lock import lock_path
from nmt.corpora.registry import read_registry
from nmt.model.attention import MODULES as ATTENTIONS
from nmt.report import artefacts
from nmt.settings.experiment import PHRASE_BASED, check_corpora, check_moses, load
from nmt.settings.extends import resolve
from nmt.system.digest import digest
from nmt.system.files import UserError
from nmt.system.orphans import announce, clear_locks


def read_experiment():
    """The checked experiment, its registry and its artefacts; a mistake ends the run with one line."""
    try:
        config.update(resolve(config))
        experiment = load(config)
        registry = read_registry(experiment.registry)
        check_corpora(experiment, registry)
        check_moses(experiment)
        return experiment, registry, papers.artefacts(experiment)
    except UserError as error:
        sys.exit(f"snakemake: {error}")
