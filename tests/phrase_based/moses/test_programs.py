"""The steps with Moses's own programs, where they lie beside the project: from text to translations."""

from __future__ import annotations

import json
import random
from pathlib import Path

import pytest

from nmt.__main__ import main
from nmt.corpora.pairs import read_pairs
from nmt.phrase_based.links import read_links
from nmt.phrase_based.moses.installation import Moses
from nmt.settings.experiment import BUILT_COMMIT, MOSES_ALIGNERS, MOSES_PROGRAMS, MOSES_SCRIPTS

MOSES = Path(__file__).parents[4] / "shared/moses"
WORDS = {"the": "la", "house": "maison", "cat": "souris", "sees": "voit", "old": "vieille"}
SETTINGS = {"order": 3, "phrase_length": 4, "tune_sentences": 40, "tune_rounds": 2, "n_best": 20, "stack": 20}

pytestmark = pytest.mark.skipif(not MOSES.is_dir(), reason="no Moses beside the project")


@pytest.fixture(scope="module", params=[*MOSES_ALIGNERS, pytest.param("built", marks=pytest.mark.slow)])
def bin(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The folder `bin` of an installation with one aligner, or of one that is built here."""
    folder = tmp_path_factory.mktemp("moses")
    if request.param == "built":
        words = ["--sources", str(MOSES / "sources"), "--threads", "2", "--output", str(folder / "built.json")]
        assert main(["moses_build", *words]) == 0
        assert BUILT_COMMIT in Moses(folder / "bin", BUILT_COMMIT).version
        return folder / "bin"
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
                (f"{source} | {source}", f"{target} | {target}") if generator.random() < 0.5 else (source, target)
            )
        for side, language in enumerate(("en", "fr")):
            (tmp_path / f"{name}.{language}").write_text("".join(f"{pair[side]}\n" for pair in pairs))
    return [str(tmp_path / f"train.{language}") for language in ("en", "fr")]


def test_all_that_the_steps_call_is_looked_for(bin: Path) -> None:
    assert all((bin / name).exists() for name in MOSES_PROGRAMS)
    assert all((bin / ".." / "scripts" / name).exists() for name in MOSES_SCRIPTS)


class System:
    """The steps with one installation and one text, in a folder of their own, each with two threads."""

    def __init__(self, bin: Path, texts: list[str], folder: Path, capfd: pytest.CaptureFixture[str]) -> None:
        self.texts, self.folder, self.capfd = texts, folder, capfd
        self.options = ["--bin", str(bin), "--settings", json.dumps(SETTINGS)]
        folder.mkdir()

    def step(self, name: str, *words: str) -> None:
        """Run a step; words that begin with @ are files in the folder."""
        paths = [str(self.folder / word[1:]) if word.startswith("@") else word for word in words]
        if name != "moses_language_model":
            paths += ["--threads", "2"]
        assert main([name, *self.options, *paths]) == 0, self.capfd.readouterr().err[-3000:]

    def tune(self) -> dict[str, str]:
        """Train and tune the system; its alignment and its tuned weights."""
        self.step("moses_align", "--texts", *self.texts, "--output", "@links.txt")
        self.step("moses_language_model", "--texts", self.texts[1], "--memory", "64000", "--output", "@lm")
        trained = ["--texts", *self.texts, "--links", "@links.txt"]
        self.step("moses_phrases", *trained, "--output", "@phrases")
        dev = [text.replace("train.", "dev.") for text in self.texts]
        tuned = ["--configuration", "@moses.ini", "--output", "@tuning.json"]
        self.step(
            "moses_tune",
            "--model",
            "@phrases",
            "--language-model",
            "@lm",
            "--texts",
            *dev,
            "--seed",
            "1",
            "--work",
            "@work",
            *tuned,
        )
        weights = (self.folder / "moses.ini").read_text().split("[weight]")[1].rpartition("\n# SHA-256 ")[0]
        return {"links": (self.folder / "links.txt").read_text(), "weights": weights}

    def translate(self, text: str) -> list[str]:
        """The translation of each line."""
        (self.folder / "source").write_text(text)
        self.step("moses_translate", "--configuration", "@moses.ini", "--source", "@source", "--output", "@output")
        return (self.folder / "output").read_text().split("\n")[:-1]


def test_from_text_to_translations(
    bin: Path, texts: list[str], tmp_path: Path, capfd: pytest.CaptureFixture[str]
) -> None:
    system = System(bin, texts, tmp_path / "one", capfd)
    made = system.tune()
    links = list(read_links(system.folder / "links.txt"))
    assert len(links) == len(list(read_pairs(*texts)))
    assert all(len(one) >= 6 for one in links)
    assert max(json.loads((system.folder / "tuning.json").read_text())["bleu"]) > 90
    capfd.readouterr()
    source = "the old cat sees the house | the old cat sees the house\n\nthe old zyxomma sees the cat\n"
    first, empty, unknown = lines = system.translate(source)
    assert (first, empty) == ("la souris vieille voit la maison | la souris vieille voit la maison", "")
    assert "zyxomma" in unknown
    assert "BEST TRANSLATION" not in capfd.readouterr().err  # the log does not grow with the text
    second = System(bin, texts, tmp_path / "two", capfd)
    assert second.tune() == made
    assert second.translate(source.removesuffix("\n")) == lines
