"""The paper's data stages on archives that are laid out and named as on the WMT site, tiny inside; and `verify`."""

from __future__ import annotations

import gzip
import hashlib
import html
import io
import re
import tarfile
from pathlib import Path
from subprocess import CompletedProcess

import pytest

from nmt.corpora.binarize import Bitext
from nmt.corpora.lock import read_lock
from nmt.corpora.registry import read_archives, read_registry
from nmt.settings.extends import PAPER
from nmt.toy.grammar import Grammar
from tests.conftest import SmallDisk
from tests.corpora.test_fetch import Server, careful, failing, server, truncated
from tests.workflow.tree import Tree, jobs

__all__ = ["server"]  # a fixture

NEWS_CRAWL = "data/wmt14/tokenized/news-crawl-2007.fr"
PAIRS = 150
SEGMENTS = 60


def paper(tree: Tree, *targets: str, options: tuple[str, ...] = (), **settings: object) -> CompletedProcess[str]:
    """Run the paper's experiment, nothing changed but `settings`."""
    changes = ["--config", *(f"{key}={value}" for key, value in settings.items())] if settings else []
    words = ["--configfile", PAPER, *changes, "--cores", "2", *options]
    return tree.snakemake(*words, "--", *targets, configs=[])


def text(seed: str, style: str, pairs: int) -> dict[str, bytes]:
    """Both sides of a corpus, with what the originals hold here and there: an empty line, CRLF, U+2028, no last \\n."""
    grammar = Grammar(seed)
    drawn = [grammar.sentence(style, 5 + number % 30) for number in range(pairs - 3)]
    lines = [
        *drawn,
        ("", ""),
        ("Paris\u2028France.\r", "Paris\u2028France.\r"),
        ("It's 5 < 6 & 7.", "C'est 5 < 6 & 7."),
    ]
    return {language: "\n".join(pair[side] for pair in lines).encode() for side, language in enumerate(("en", "fr"))}


def sgml(kind: str, lines: bytes) -> bytes:
    segments = (html.escape(line, quote=False) for line in lines.decode().replace("\u2028", " ").split("\n"))
    body = "".join(f'<seg id="{number}"> {segment} </seg>\n' for number, segment in enumerate(segments, 1))
    return f'<{kind} setid="n" srclang="any">\n<doc docid="d">\n<p>\n{body}</p>\n</doc>\n</{kind}>\n'.encode()


def pack(path: Path, members: dict[str, bytes]) -> None:
    """A tar file, compressed where its name says so, with folders, another language and a link among its members."""
    path.parent.mkdir(parents=True, exist_ok=True)
    folder = next(iter(members)).rpartition("/")[0]
    with tarfile.open(path, "w:gz" if path.suffix == ".tgz" else "w") as tar:
        if folder:
            entry = tarfile.TarInfo(folder)
            entry.type = tarfile.DIRTYPE
            tar.addfile(entry)
        link = tarfile.TarInfo("README")
        link.type, link.linkname = tarfile.SYMTYPE, "/etc/passwd"
        tar.addfile(link)
        for name, content in {f"{folder}/other.cs-en.cs".lstrip("/"): b"jin\xc3\xbd\n", **members}.items():
            entry = tarfile.TarInfo(name)
            entry.size = len(content)
            tar.addfile(entry, io.BytesIO(content))


@pytest.fixture(scope="module")
def mirror(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder laid out as the WMT site."""
    folder = tmp_path_factory.mktemp("site")
    for archive, prefix, style in (
        ("wmt13/training-parallel-europarl-v7.tgz", "training/europarl-v7.fr-en", "speech"),
        ("wmt13/training-parallel-commoncrawl.tgz", "commoncrawl.fr-en", "manual"),
        ("wmt13/training-parallel-un.tgz", "un/undoc.2000.fr-en", "speech"),
        ("wmt14/training-parallel-nc-v9.tgz", "training/news-commentary-v9.fr-en", "news"),
    ):
        pack(folder / archive, {f"{prefix}.{side}": lines for side, lines in text(prefix, style, PAIRS).items()})
    giga = text("giga", "manual", PAIRS)
    packed = {f"giga-fren.release2.fixed.{side}.gz": gzip.compress(lines) for side, lines in giga.items()}
    pack(folder / "wmt10/training-giga-fren.tar", packed)
    for archive, prefix in (("wmt12/test.tgz", "test/newstest2012"), ("wmt13/test.tgz", "test/newstest2013")):
        news = text(prefix, "news", SEGMENTS)
        pack(folder / archive, {f"{prefix}-src.{side}.sgm": sgml("srcset", lines) for side, lines in news.items()})
    news = text("2014", "news", SEGMENTS)
    members = {"src.en": sgml("srcset", news["en"]), "ref.fr": sgml("refset", news["fr"])}
    members = {f"test-full/newstest2014-fren-{name}.sgm": content for name, content in members.items()}
    pack(folder / "wmt14/test-full.tgz", members)
    crawl = folder / "wmt14/training-monolingual-news-crawl/news.2007.fr.shuffled.gz"
    crawl.parent.mkdir()
    crawl.write_bytes(gzip.compress(text("2007", "news", PAIRS)["fr"]))
    return folder


@pytest.fixture(scope="module")
def tree(tmp_path_factory: pytest.TempPathFactory) -> Tree:
    tree = Tree(tmp_path_factory.mktemp("tree"))
    (tree.folder / "data/corpora.lock.tsv").unlink(missing_ok=True)
    return tree


@pytest.fixture(scope="module")
def encoded(tree: Tree, mirror: Path) -> Tree:
    """The tree in which the paper's data stages have been run, with nothing set but `mirror`."""
    targets = [
        "data/wmt14/binarized/meta.json",
        "results/selection.csv",
        "results/coverage.csv",
        NEWS_CRAWL,
    ]
    run = paper(tree, *targets, mirror=mirror)
    assert run.returncode == 0, run.stdout[-8000:]
    return tree


def test_a_folder_of_archives_is_all_that_a_dry_run_needs(tree: Tree, mirror: Path) -> None:
    rules = [rule for rule, _ in jobs(paper(tree, options=("--dry-run",), mirror=mirror))]
    assert (rules.count("fetch"), rules.count("extract"), rules.count("binarize")) == (8, 8, 1)
    assert rules.count("train") == 5


def test_every_data_stage_runs_to_the_encoded_corpora(encoded: Tree) -> None:
    bitext = Bitext(encoded.folder / "data/wmt14/binarized")
    # The budget of 348 million words keeps everything but empty lines and what occurs twice.
    assert 4 * PAIRS < len(bitext) < 5 * PAIRS
    assert all(len(bitext.source(pair)) and len(bitext.target(pair)) for pair in range(len(bitext)))
    for language in ("en", "fr"):
        symbols = (encoded.folder / f"data/wmt14/shortlist/{language}.tsv").read_text().count("\n")
        assert 300 < symbols < 30_000
    extracted = (encoded.folder / "data/wmt14/extracted/newstest2014.en").read_text()
    assert extracted.split("\n")[-2] == "It's 5 < 6 & 7."
    registry = read_registry(encoded.folder / "data/corpora.tsv")
    counted = {line.split(",")[0] for line in (encoded.folder / "results/selection.csv").read_text().split("\n")}
    assert counted >= {name for name, corpus in registry.items() if corpus.role == "train"}


def test_a_monolingual_corpus_has_one_side(encoded: Tree) -> None:
    assert (encoded.folder / NEWS_CRAWL).read_text().count("\n") == PAIRS
    assert [path.name for path in (encoded.folder / "data/wmt14").glob("*/news-crawl-2007.*")] == [
        "news-crawl-2007.fr"
    ] * 2


def test_what_differs_from_the_expected_is_said(encoded: Tree) -> None:
    said = (encoded.folder / "logs/extract/wmt14/un.log").read_text()
    assert f"un: {PAIRS} pairs where the registry expects 12886831" in said
    said = (encoded.folder / "logs/fetch/wmt14/wmt13/training-parallel-un.tgz.log").read_text()
    assert "wmt13/training-parallel-un.tgz: expected 2365634246 bytes as published, got" in said


def test_what_was_fetched_is_recorded_and_verified(encoded: Tree) -> None:
    lock = encoded.folder / "data/corpora.lock.tsv"
    known = read_archives(encoded.folder / "data/corpora.tsv")
    fetched = [path for path in known if (encoded.folder / "data/wmt14/archives" / path).exists()]
    assert list(read_lock(lock)) == sorted(fetched)
    run = paper(encoded, "verify")
    assert run.returncode == 0, run.stdout
    assert len(re.findall(r"^wmt1\d/.*: whole, \d+ bytes", run.stdout, re.MULTILINE)) == len(fetched) == 9
    archive = encoded.folder / "data/wmt14/archives/wmt14/test-full.tgz"
    before = archive.read_bytes()
    archive.write_bytes(before[:-1] + b"?")
    run = paper(encoded, "verify")
    archive.write_bytes(before)
    assert run.returncode == 1
    assert "1 of 9 archives are not what was fetched: wmt14/test-full.tgz; remove them" in run.stdout


def test_a_failed_job_leaves_what_has_arrived_to_the_next_run(server: Server, tree: Tree) -> None:
    target, settings = "data/wmt14/archives/wmt12/later.txt", {"mirror": server.address, "registry": "later.tsv"}
    registry = (tree.folder / "data/corpora.tsv").read_text()
    (tree.folder / "later.tsv").write_text(registry.replace("wmt12/test.tgz", "wmt12/later.txt"))
    server.script = [truncated, failing(404)]
    run = paper(tree, target, **settings)
    assert run.returncode == 1
    assert "the server answers 404" in run.stdout
    archives = tree.folder / "data/wmt14/archives/wmt12"
    assert not (archives / "later.txt").exists()
    assert (archives / ".later.txt.partial").stat().st_size == 3_000_000
    server.script = [careful]
    run = paper(tree, target, **settings)
    assert run.returncode == 0, run.stdout
    assert server.ranges == [None, "bytes=3000000-", "bytes=3000000-"]
    assert (archives / "later.txt").read_bytes() == server.content


def test_a_changed_registry_costs_no_archive(server: Server, tree: Tree) -> None:
    target, settings = "data/wmt14/archives/wmt12/changed.txt", {"mirror": server.address, "registry": "changed.tsv"}
    registry, content = (tree.folder / "data/corpora.tsv").read_text(), tree.folder / target
    address = "wmt12/test.tgz\thttp://statmt.org/wmt12/test.tgz\t"

    def with_hash(sha256: str) -> CompletedProcess[str]:
        changed = registry.replace(f"{address}\t\t", f"{address}\t{sha256}\t")
        assert not sha256 or changed != registry
        (tree.folder / "changed.tsv").write_text(changed.replace("wmt12/test.tgz", "wmt12/changed.txt"))
        return paper(tree, target, **settings)

    server.script = [careful]
    assert with_hash("").returncode == 0
    server.script = [failing(404)]
    assert with_hash(hashlib.sha256(server.content).hexdigest()).returncode == 0
    assert len(server.paths) == 1
    for _ in range(2):
        run = with_hash("0" * 64)
        assert run.returncode == 1
        assert "the server answers 404" in run.stdout
    assert with_hash("").returncode == 0
    assert len(server.paths) == 3
    assert content.read_bytes() == server.content


def test_a_full_disk_fails_jobs_with_a_line_and_room_mends_it(tree: Tree, mirror: Path, small_disk: SmallDisk) -> None:
    if not small_disk.mounted:
        pytest.skip("a file system cannot be mounted here")
    (tree.folder / "data/small").symlink_to(small_disk.folder)
    targets = [f"data/small/tokenized/un.1-of-6.{language}" for language in ("en", "fr")]
    settings = {"mirror": mirror, "experiment": "small", "results": "results/small"}
    small_disk.limit(40_960)  # for the archive, one side of its text and a part of the other
    run = paper(tree, *targets, **settings)
    assert run.returncode == 1
    assert re.search("nmt (fetch|extract): .*no space left.* free some and repeat", run.stdout), run.stdout[-4000:]
    assert not any((tree.folder / target).exists() for target in targets)
    small_disk.free()
    run = paper(tree, *targets, **settings)
    assert run.returncode == 0, run.stdout[-4000:]
    assert all((tree.folder / target).read_text().count("\n") == PAIRS for target in targets)
