"""The steps with Moses's own programs, where they lie beside the project: from text to translations."""

from __future__ import annotations

import json
import random
from pathlib import Path

import pytest

from nmt.__main__ import main
from nmt.corpora.pairs import read_pairs
from nmt.phrase_based.links import read_links
from nmt.settings.experiment import MOSES_ALIGNERS, MOSES_PROGRAMS, MOSES_SCRIPTS

MOSES = Path(__file__).parents[4] / "shared/moses"
WORDS = {"the": "la", "house": "maison", "cat": "souris", "sees": "voit", "old": "vieille", "and": "et"}
SETTINGS = {"order": 3, "phrase_length": 4, "tune_sentences": 40, "tune_rounds": 2, "n_best": 20, "stack": 20}

pytestmark = pytest.mark.skipif(not MOSES.is_dir(), reason="no Moses beside the project")


@pytest.fixture(scope="module", params=MOSES_ALIGNERS)
def bin(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The folder `bin` of an installation with one aligner."""
    folder = tmp_path_factory.mktemp("moses")
    (folder / "bin").mkdir()
    (folder / "scripts").symlink_to(MOSES / "scripts")
    for path in [*(MOSES / "bin").iterdir(), *((MOSES / "mgiza").iterdir() if request.param == "mgiza" else [])]:
        (folder / "bin" / path.name).symlink_to(path)
    return folder / "bin"


@pytest.fixture
def texts(tmp_path: Path) -> list[str]:
    """A language in which adjectives follow their nouns, and a sentence with words that are not in the other."""
    generator = random.Random(1)
    for name, count in (("train", 400), ("dev", 40)):
        pairs = []
        for _ in range(count):
            nouns = generator.choices(["house", "cat"], k=2)
            source = f"the old {nouns[0]} sees the {nouns[1]}"
            target = f"la {WORDS[nouns[0]]} vieille voit la {WORDS[nouns[1]]}"
            pairs.append(
                (f"{source} and {source}", f"{target} et {target}") if generator.random() < 0.5 else (source, target)
            )
        for side, language in enumerate(("en", "fr")):
            (tmp_path / f"{name}.{language}").write_text("".join(f"{pair[side]}\n" for pair in pairs))
    return [str(tmp_path / f"train.{language}") for language in ("en", "fr")]


def test_all_that_the_steps_call_is_looked_for(bin: Path) -> None:
    assert all((bin / name).exists() for name in MOSES_PROGRAMS)
    assert all((bin / ".." / "scripts" / name).exists() for name in MOSES_SCRIPTS)


def test_from_text_to_translations(
    bin: Path, texts: list[str], tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capfd: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.chdir(tmp_path)
    moses = ["--bin", str(bin), "--settings", json.dumps(SETTINGS)]
    threads = ["--threads", "2"]

    def step(name: str, *words: str) -> None:
        assert main([name, *moses, *words]) == 0, capfd.readouterr().err[-3000:]

    step("moses_align", "--texts", *texts, *threads, "--output", "links.txt")
    links = list(read_links("links.txt"))
    assert len(links) == len(list(read_pairs(*texts)))
    assert all(len(one) >= 6 for one in links)
    step("moses_language_model", "--texts", texts[1], "--memory", "64000", "--output", "lm")
    step(
        "moses_phrases",
        "--texts",
        *texts,
        "--links",
        "links.txt",
        "--language-model",
        "lm",
        *threads,
        "--output",
        "phrases",
    )
    dev = ["--texts", "dev.en", "dev.fr", "--seed", "1", "--work", "work"]
    step("moses_tune", "--model", "phrases", *dev, *threads, "--configuration", "moses.ini", "--output", "tuning.json")
    assert max(json.loads(Path("tuning.json").read_text())["bleu"]) > 90
    Path("source").write_text("the old cat sees the house\n\nthe old zyxomma sees the cat\n")
    capfd.readouterr()
    step("moses_translate", "--configuration", "moses.ini", "--source", "source", *threads, "--output", "output")
    first, empty, unknown = Path("output").read_text().split("\n")[:3]
    assert (first, empty) == ("la souris vieille voit la maison", "")
    assert "zyxomma" in unknown
    assert "BEST TRANSLATION" not in capfd.readouterr().err  # the log does not grow with the text
