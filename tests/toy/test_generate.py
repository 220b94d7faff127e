"""The mirror: its archives have the formats of the WMT site and are reproducible, and its sets are as documented."""

from __future__ import annotations

import gzip
import hashlib
import html
import io
import re
import tarfile
from pathlib import Path

import pytest

from nmt.__main__ import main
from nmt.corpora.registry import Archive, read_registry
from nmt.settings.sections import Generated
from nmt.toy import generate
from nmt.toy.inflection import count_words

REGISTRY = Path(__file__).parents[2] / "data" / "demo.tsv"
SIZES = Generated(pairs=1500)


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    output = tmp_path_factory.mktemp("mirror")
    generate.write_archives(output, seed=7, sizes=SIZES)
    return output


def member(folder: Path, archive: Archive, name: str) -> list[str]:
    """The lines of a member, or the text of its segments if it is SGML."""
    with tarfile.open(folder / archive.path) as tar:
        file = tar.extractfile(name)
        assert file is not None
        data = file.read()
    text = (gzip.decompress(data) if name.endswith(".gz") else data).decode()
    if name.endswith(".sgm"):
        return [html.unescape(segment) for segment in re.findall(r'<seg id="\d+">(.*?)</seg>', text)]
    assert text.endswith("\n")
    return text[:-1].split("\n")


def sides(folder: Path, name: str) -> tuple[list[str], list[str]]:
    corpus = read_registry(REGISTRY)[name]
    english, french = (member(folder, *place) for place in zip(corpus.archives, corpus.members, strict=True))
    return english, french


def test_no_made_up_set_has_the_name_or_the_address_of_a_real_one() -> None:
    made_up = read_registry(REGISTRY)
    for registry in REGISTRY.parent.glob("*.tsv"):
        if registry != REGISTRY:
            assert not made_up.keys() & read_registry(registry).keys()
    assert all(
        archive.address.startswith("https://toy.invalid/") for one in made_up.values() for archive in one.archives
    )


def test_registry_and_archives_agree(folder: Path) -> None:
    counts = {name: [len(side) for side in sides(folder, name)] for name in read_registry(REGISTRY)}
    assert all(english == french for english, french in counts.values())
    assert sum(counts[corpus.name][0] for corpus in generate.TRAINING) == SIZES.pairs
    assert [counts[name][0] for name in ("toy-dev-1", "toy-dev-2", "toy-test")] == [300, 300, 600]


def test_the_sizes_are_those_asked_for(tmp_path: Path) -> None:
    generate.write_archives(tmp_path, seed=7, sizes=Generated(pairs=100, development=5, test_bin=2))
    corpora = read_registry(REGISTRY)
    counts = {name: len(sides(tmp_path, name)[0]) for name in corpora}
    assert sum(counts[corpus.name] for corpus in generate.TRAINING) == 100
    assert [counts[name] for name in ("toy-dev-1", "toy-dev-2", "toy-test")] == [5, 5, 12]


def test_the_test_set_fills_every_bin_of_lengths(folder: Path) -> None:
    english, _ = sides(folder, "toy-test")
    lengths = [count_words(sentence) for sentence in english]
    for start in range(0, 60, 10):
        assert sum(start < length <= start + 10 for length in lengths) >= 60
        assert sum(start <= length < start + 10 for length in lengths) >= 60


def test_training_lengths_vary_widely(folder: Path) -> None:
    lengths = [count_words(line) for corpus in generate.TRAINING for line in sides(folder, corpus.name)[0]]
    assert sum(length > 30 for length in lengths) / len(lengths) >= 0.25
    assert max(lengths) > 50
    assert min(lengths) <= 5


def test_no_held_out_sentence_is_trained_on(folder: Path) -> None:
    held_out = [line for name, *_ in (*generate.HELD_OUT, generate.TEST) for line in sides(folder, name)[0]]
    assert len(set(held_out)) == len(held_out)
    trained = {line for corpus in generate.TRAINING for line in sides(folder, corpus.name)[0]}
    assert not trained & set(held_out)


def test_training_draws_a_held_out_sentence_again() -> None:
    corpus = next(corpus for corpus in generate.TRAINING if corpus.name == "toy-news")
    first = generate.Corpora(3).training(corpus, 50)
    corpora = generate.Corpora(3)
    corpora._held_out.add(first[0][0])
    again = corpora.training(corpus, 50)
    assert len(again) == 50
    assert first[0][0] not in [source for source, _ in again]


def test_a_few_percent_of_the_crawled_pairs_are_wrong() -> None:
    for corpus in generate.TRAINING:
        pairs = generate.Corpora(1).training(corpus, 2000)
        copied = sum(source == target for source, target in pairs)
        cut = sum(not re.search(r'[."]$', target) for _, target in pairs)
        elsewhere = len(pairs) - len({target for _, target in pairs})
        if corpus.noise:
            assert 0.5 * corpus.noise < (copied + cut + elsewhere) / len(pairs) < 1.5 * corpus.noise + 0.01
            assert min(copied, cut, elsewhere) > 0
        else:
            assert copied == cut == 0


def test_same_seed_same_bytes(folder: Path, tmp_path: Path) -> None:
    generate.write_archives(tmp_path / "again", seed=7, sizes=SIZES)
    generate.write_archives(tmp_path / "other", seed=8, sizes=SIZES)

    def digests(root: Path) -> dict[str, str]:
        return {
            str(path.relative_to(root)): hashlib.sha256(path.read_bytes()).hexdigest()
            for path in sorted(root.rglob("*"))
            if path.is_file()
        }

    assert digests(folder) == digests(tmp_path / "again")
    other = digests(tmp_path / "other")
    assert all(other[name] != digest for name, digest in digests(folder).items())


def test_sgml_escapes_and_restores() -> None:
    text = generate._sgml("set", "en", False, ['A "word" & <another>.']).decode()
    assert "A &quot;word&quot; &amp; &lt;another&gt;." in text
    assert generate._sgml("set", "fr", True, ["x"]).decode().startswith("<refset")


def test_manuals_are_a_tar_of_gzip_members(folder: Path) -> None:
    with tarfile.open(folder / "manuals.tar", "r:") as archive:
        assert archive.getnames() == ["manuals.en.gz", "manuals.fr.gz"]
        file = archive.extractfile(archive.getnames()[0])
        assert file is not None
        assert gzip.GzipFile(fileobj=io.BytesIO(file.read())).readline().endswith(b"\n")


def test_too_few_pairs_is_one_line(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["generate", "--settings", '{"pairs": 3}', "--seed", "1", "--output", str(tmp_path)]) == 1
    assert capsys.readouterr().err.endswith("pairs: expected a whole number, from 100 to 1000000000, not 3\n")
    assert not list(tmp_path.iterdir())
