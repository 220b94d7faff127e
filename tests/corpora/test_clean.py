"""nmt.corpora.clean: which pairs may be kept, and which are duplicates among all corpora."""

from __future__ import annotations

import gzip
import random
import re
from pathlib import Path

import numpy as np
import pytest

from nmt.__main__ import main
from nmt.corpora import arrays
from nmt.corpora.arrays import read_array
from nmt.corpora.clean import RECORD, CleanedText, State, mark_duplicates, read_cleaned
from nmt.system.errors import UserError
from tests.conftest import SmallDisk
from tests.corpora.selection import Pairs, last_line, write_pairs

FIRST = [("a b", "x y"), ("", "x"), ("c", " "), ("held", "h"), ("h2", "retenu"), ("\u2028", "z")]
SECOND = [("a b", "x y"), ("a b", "x z"), ("held", "h"), ("retenu", "held"), ("", ""), ("a", "b x y")]
HELD_OUT = [("held", "retenu"), ("", "")]
CLEAN, EMPTY, HELD, DUPLICATE = State


def cleaned(folder: Path, *corpora: Pairs, drop_duplicates: bool = True) -> CleanedText:
    held_out = write_pairs(folder, "held-out", HELD_OUT)
    names, files = [str(number) for number in range(len(corpora))], []
    for name, pairs in zip(names, corpora, strict=True):
        texts = write_pairs(folder, name, pairs)
        files.append((Path(texts[0]), Path(texts[1])))
        command = ["clean", "--texts", *texts, "--held-out-sources", held_out[0], "--held-out-targets", held_out[1]]
        assert main([*command, "--output", str(folder / f"{name}.npy")]) == 0
    return read_cleaned(names, files, [folder / f"{name}.npy" for name in names], drop_duplicates)


def test_empty_held_out_and_repeated_pairs_are_not_clean(tmp_path: Path) -> None:
    text = cleaned(tmp_path, FIRST, SECOND)
    first = [CLEAN, EMPTY, EMPTY, HELD, HELD, CLEAN]
    # the target side of a held-out pair may occur on the source side
    assert text.states.tolist() == [*first, DUPLICATE, CLEAN, HELD, CLEAN, EMPTY, CLEAN]
    assert text.source_words.tolist() == [2, 0, 1, 1, 1, 1, 2, 2, 1, 1, 0, 1]
    assert text.target_words.tolist() == [2, 1, 0, 1, 1, 1, 2, 2, 1, 1, 0, 3]
    assert text.corpora() == {"0": slice(0, 6), "1": slice(6, 12)}
    assert list(text.pairs()) == [(source.encode(), target.encode()) for source, target in [*FIRST, *SECOND]]


def test_held_out_sides_of_different_lengths_are_one_line(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """What the shorter file lacks would be trained on."""
    source, target = write_pairs(tmp_path, "held-out", [("a", "b"), ("c", "d")])
    Path(source).write_text("a\n")
    texts = write_pairs(tmp_path, "train", [("c", "other")])
    command = ["clean", "--texts", *texts, "--held-out-sources", source, "--held-out-targets", target]
    assert main([*command, "--output", str(tmp_path / "out.npy")]) == 1
    assert last_line(capsys).endswith("must be aligned line by line")


def test_held_out_text_that_is_not_plain_is_refused(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """Else no pair would be held out."""
    held_out = write_pairs(tmp_path, "held-out", [("c", "d")])
    texts = write_pairs(tmp_path, "train", [("c", "other")])
    command = ["clean", "--texts", *texts, "--held-out-sources", held_out[0], "--held-out-targets", held_out[1]]
    command += ["--output", str(tmp_path / "out.npy")]
    for content, said in (
        (gzip.compress(b"c\n"), "compressed; decompress it"),
        ("c\n".encode("utf-16"), "line 1 is not UTF-8 (invalid start byte); convert the file"),
        ("\xe9\n".encode("latin-1"), "line 1 is not UTF-8 (invalid continuation byte); convert the file"),
        (
            "c\n".encode("utf-16-le"),
            "2 lines begin or end in NULs; convert the file if it is in UTF-16, else remove them",
        ),
    ):
        Path(held_out[0]).write_bytes(content)
        assert main(command) == 1
        assert last_line(capsys) == f"nmt clean: {held_out[0]}: {said}"
    Path(held_out[0]).write_bytes("c\n".encode("utf-8-sig"))
    assert main(command) == 0
    assert read_array(tmp_path / "out.npy", RECORD)["state"].tolist() == [State.HELD_OUT]


def test_duplicates_may_be_kept(tmp_path: Path) -> None:
    text = cleaned(tmp_path, FIRST, SECOND, drop_duplicates=False)
    assert text.states.tolist() == [
        *[CLEAN, EMPTY, EMPTY, HELD, HELD, CLEAN],
        *[CLEAN, CLEAN, HELD, CLEAN, EMPTY, CLEAN],
    ]


def test_pieces_change_nothing(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    before = cleaned(tmp_path, FIRST * 3)
    monkeypatch.setattr(arrays, "PIECE", 4)
    assert np.array_equal(cleaned(tmp_path, FIRST * 3).states, before.states)


def test_the_shards_of_a_corpus_are_one_corpus(tmp_path: Path) -> None:
    text = cleaned(tmp_path, FIRST, SECOND, FIRST)
    paths = [tmp_path / f"{number}.npy" for number in range(3)]
    assert read_cleaned(["a", "a", "b"], text.files, paths).corpora() == {"a": slice(0, 12), "b": slice(12, 18)}
    with pytest.raises(UserError, match="one after the other"):
        read_cleaned(["a", "b", "a"], text.files, paths)
    with pytest.raises(UserError, match="2 names, 3 pairs of files, 3 files of records"):
        read_cleaned(["a", "b"], text.files, paths)


def test_duplicates_are_what_a_set_finds() -> None:
    draw = random.Random(1)
    digests = np.array([draw.choice([draw.randrange(50), draw.getrandbits(64)]) for _ in range(2000)], np.uint64)
    states = np.array([draw.choice([CLEAN, CLEAN, HELD]) for _ in range(2000)], np.uint8)
    seen: set[int] = set()
    expected = []
    for digest, state in zip(digests.tolist(), states.tolist(), strict=True):
        expected.append(DUPLICATE if state == CLEAN and digest in seen else state)
        if state == CLEAN:
            seen.add(digest)
    mark_duplicates(states, digests)
    assert states.tolist() == expected
    assert expected.count(DUPLICATE) > 500


def test_unequal_sides(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    texts = write_pairs(tmp_path, "web.2-of-3", [("one\ntwo", "un"), ("three", "trois")])
    assert main(["clean", "--texts", *texts, "--output", str(tmp_path / "web.npy")]) == 1
    assert re.search(r"web\.2-of-3\.en has 3 lines, .*web\.2-of-3\.fr has 2;", last_line(capsys))
    assert not (tmp_path / "web.npy").exists()


def test_held_out_sides_come_in_pairs(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    texts = write_pairs(tmp_path, "web", FIRST)
    command = ["clean", "--texts", *texts, "--held-out-sources", texts[0], "--output", str(tmp_path / "web.npy")]
    assert main(command) == 1
    assert "--held-out-sources names 1 files, --held-out-targets 0" in last_line(capsys)


def test_a_full_disk_is_one_line_and_freeing_space_fixes_it(
    tmp_path: Path, small_disk: SmallDisk, capsys: pytest.CaptureFixture[str]
) -> None:
    texts, output = write_pairs(tmp_path, "web", FIRST * 1000), small_disk.folder / "web.npy"
    words = ["clean", "--texts", *texts, "--output", str(output)]
    small_disk.refuse_then_take(words, output, 50_000, capsys)
    assert len(read_array(output, RECORD)) == 6000


def test_a_text_that_has_changed_since(tmp_path: Path) -> None:
    text = cleaned(tmp_path, FIRST)
    write_pairs(tmp_path, "0", FIRST[:-1])
    with pytest.raises(UserError, match=r"0\.en: 5 lines, but 6 when it was cleaned"):
        list(text.pairs())


def test_a_record_is_small(tmp_path: Path) -> None:
    cleaned(tmp_path, FIRST)
    assert read_array(tmp_path / "0.npy", RECORD).nbytes == 17 * len(FIRST)
