"""Checkpoints: whatever happens to a file, the last whole state is found and resumed."""

from __future__ import annotations

import hashlib
import io
import os
import threading
from collections.abc import Callable
from dataclasses import asdict, dataclass, fields, replace
from functools import partial
from pathlib import Path
from typing import Annotated, Any

import numpy as np
import pytest
import torch

from nmt.settings.checks import Neutral, choice
from nmt.settings.variant import Optimization, Variant
from nmt.system.errors import UserError
from nmt.training import checkpoint as module
from nmt.training.checkpoint import (
    Checkpoint,
    Interval,
    State,
    check_folder,
    locked,
    look_at_checkpoint,
    read_checkpoint,
    remove_checkpoints,
    write_checkpoint,
)
from nmt.training.metrics import read_metrics
from tests.training.toy import tiny_variant

SETTINGS = {"hidden": 6, "continues": None}


@dataclass(frozen=True)
class LaterOptimization(Optimization):
    """The optimization of a later version, which has one more setting."""

    schedule: Annotated[str, choice("constant", "decaying"), Neutral("constant")] = "constant"


def later(variant: Variant, **settings: Any) -> Variant:
    """The same variant in the later version."""
    return replace(variant, optimization=LaterOptimization(**asdict(variant.optimization), **settings))


def made(updates: int) -> Checkpoint:
    state = State(updates, best_nll=3.5, interval=Interval([1.5, 2.5], [0.1, float("inf")], 17, 0.5))
    weights = {"E": torch.full((40, 30), float(updates))}
    return Checkpoint(SETTINGS, state, weights, {"state": {}, "param_groups": [{"lr": 1.0}]}, {}, '{"updates": 50}\n')


def updates(folder: Path, settings: dict[str, Any] = SETTINGS, code: str = "") -> int | None:
    found = read_checkpoint(folder, settings, code)
    return None if found is None else found.state.updates


def of_text(updates: int, text: str) -> Checkpoint:
    return replace(made(updates), settings={**SETTINGS, "data": text})


def resumed(folder: Path, text: str) -> int | None:
    found = read_checkpoint(folder, {**SETTINGS, "data": text})
    return None if found is None else found.state.updates


def test_a_change_of_the_text_that_is_taken_back_costs_nothing(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    write_checkpoint(tmp_path, of_text(400, "a"))
    assert resumed(tmp_path, "b") is None
    assert "made from other text (data), and renamed to former.pt; the training starts" in capsys.readouterr().err
    assert resumed(tmp_path, "a") == 400  # the other text was trained on for less than a checkpoint
    assert resumed(tmp_path, "b") is None
    write_checkpoint(tmp_path, of_text(30, "b"))
    write_checkpoint(tmp_path, of_text(31, "b"))
    assert resumed(tmp_path, "a") == 400
    said = "latest.pt: exchanged with former.pt, which fits the settings; the training resumes from it"
    assert said in capsys.readouterr().err
    assert resumed(tmp_path, "b") == 31


def test_of_two_other_texts_the_longer_training_is_kept(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    write_checkpoint(tmp_path, of_text(400, "a"))
    assert resumed(tmp_path, "b") is None
    write_checkpoint(tmp_path, of_text(30, "b"))
    assert resumed(tmp_path, "c") is None
    assert "made from other text (data), and removed; former.pt, with more updates, is kept" in capsys.readouterr().err
    write_checkpoint(tmp_path, of_text(500, "c"))
    assert resumed(tmp_path, "d") is None
    assert resumed(tmp_path, "c") == 500


def test_a_finished_training_with_other_settings_stands_in_nobodys_way(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    write_checkpoint(tmp_path, replace(made(400), finished=True))
    larger = {**SETTINGS, "hidden": 7}
    assert read_checkpoint(tmp_path, larger) is None
    assert (
        "made with other settings (hidden), and renamed to finished.pt; the training starts" in capsys.readouterr().err
    )
    write_checkpoint(tmp_path, replace(made(30), settings=larger))
    with pytest.raises(UserError, match="hidden was 7, is 8; set it back to resume"):
        read_checkpoint(tmp_path, {**SETTINGS, "hidden": 8})
    assert updates(tmp_path) == 400  # the setting is taken back
    assert updates(tmp_path, larger) == 30
    (tmp_path / "latest.pt").unlink()
    assert updates(tmp_path) == 400


def test_a_finished_training_outlives_two_changes(tmp_path: Path) -> None:
    """It may have fewer updates than a training that was begun meanwhile."""
    longer, other = {**SETTINGS, "updates": 9}, {**SETTINGS, "hidden": 7}
    write_checkpoint(tmp_path, replace(made(400), finished=True))
    assert updates(tmp_path, longer) is None
    write_checkpoint(tmp_path, replace(made(500), settings=longer))
    assert updates(tmp_path) == 400
    assert updates(tmp_path, other) is None
    write_checkpoint(tmp_path, replace(made(3), settings=other))
    assert updates(tmp_path, longer) == 500
    assert updates(tmp_path) == 400


def test_of_two_texts_beside_a_finished_training_the_longer_is_kept(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    write_checkpoint(tmp_path, replace(of_text(600, "a"), finished=True))
    assert resumed(tmp_path, "b") is None
    write_checkpoint(tmp_path, of_text(500, "b"))
    assert resumed(tmp_path, "c") is None
    write_checkpoint(tmp_path, of_text(3, "c"))
    assert resumed(tmp_path, "a") == 600
    said = "latest.pt: replaced by finished.pt, which fits the settings; former.pt, with more updates, is kept"
    assert said in capsys.readouterr().err
    assert resumed(tmp_path, "b") == 500


def test_code_counts_for_finished_trainings_alone(tmp_path: Path) -> None:
    """An unfinished one resumes with new code; a finished one is the model of the code that made it."""
    write_checkpoint(tmp_path, made(30))
    assert updates(tmp_path, SETTINGS, "new") == 30
    write_checkpoint(tmp_path, replace(made(400), finished=True, code="old"))
    assert updates(tmp_path, SETTINGS, "new") is None
    write_checkpoint(tmp_path, made(70))  # by the new code
    assert updates(tmp_path, SETTINGS, "new") == 70
    assert updates(tmp_path, SETTINGS, "old") == 400


def test_a_former_checkpoint_that_cannot_be_read_counts_for_nothing(tmp_path: Path) -> None:
    for content in (b"", b"no checkpoint", hashlib.sha256(b"x").digest() + b"x"):
        write_checkpoint(tmp_path, of_text(3, "a"))
        (tmp_path / "former.pt").write_bytes(content)
        assert resumed(tmp_path, "b") is None
        assert resumed(tmp_path, "a") == 3


@pytest.mark.parametrize("done", [1, 2])
def test_an_exchange_may_be_killed(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, done: int) -> None:
    write_checkpoint(tmp_path, of_text(400, "a"))
    assert resumed(tmp_path, "b") is None
    write_checkpoint(tmp_path, of_text(30, "b"))
    replaced: list[object] = []

    def replace_some(*paths: Path) -> None:
        replaced.append(paths)
        if len(replaced) > done:
            raise KeyboardInterrupt
        os.rename(*paths)

    with monkeypatch.context() as patch:
        patch.setattr(os, "replace", replace_some)
        with pytest.raises(KeyboardInterrupt):
            resumed(tmp_path, "a")
    assert resumed(tmp_path, "a") == 400
    write_checkpoint(tmp_path, of_text(500, "a"))
    assert resumed(tmp_path, "b") == 30


def test_what_is_written_is_read(tmp_path: Path) -> None:
    assert read_checkpoint(tmp_path, SETTINGS) is None
    write_checkpoint(tmp_path, made(7))
    found = read_checkpoint(tmp_path, SETTINGS)
    assert found is not None
    assert torch.equal(found.model.pop("E"), torch.full((40, 30), 7.0))
    expected = made(7)
    expected.model.clear()
    assert found == expected


def test_a_second_process_waits(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    folder, entered = tmp_path / "checkpoints", threading.Event()

    def second() -> None:
        with locked(folder):
            entered.set()

    waiting = threading.Thread(target=second)
    with locked(folder):
        waiting.start()
        assert not entered.wait(0.2)
    waiting.join()
    assert entered.is_set()
    assert f"{folder}: another process trains there; waiting for it to end" in capsys.readouterr().err


def test_any_damaged_byte_gives_way_to_the_checkpoint_before(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """In the digest, in headers and in tensors; the middle of the file is within a tensor."""
    for number in (1, 2):
        write_checkpoint(tmp_path, made(number))
    latest, previous = ((tmp_path / name).read_bytes() for name in ("latest.pt", "previous.pt"))
    middle = latest.index(np.full(20, 2.0, np.float32).tobytes()) + 2
    random = np.random.default_rng().integers(len(latest), size=50).tolist()
    for place in (0, 31, 32, middle, len(latest) // 2, len(latest) - 1, *random):
        damaged = bytearray(latest)
        damaged[place] ^= 1 << 4
        (tmp_path / "latest.pt").write_bytes(damaged)
        (tmp_path / "previous.pt").write_bytes(previous)
        assert updates(tmp_path) == 1, place
        assert "latest.pt is damaged and was renamed" in capsys.readouterr().err
        assert (tmp_path / "damaged.pt").read_bytes() == damaged


@pytest.mark.parametrize("length", [0, 10, 32, 1000])
def test_a_truncated_file_gives_way_too(tmp_path: Path, length: int) -> None:
    for number in (1, 2):
        write_checkpoint(tmp_path, made(number))
    os.truncate(tmp_path / "latest.pt", length)
    assert updates(tmp_path) == 1


def test_a_damaged_one_never_takes_the_place_of_the_good_one_before(tmp_path: Path) -> None:
    for number in (1, 2):
        write_checkpoint(tmp_path, made(number))
    (tmp_path / "latest.pt").write_bytes(b"no checkpoint")
    assert updates(tmp_path) == 1
    write_checkpoint(tmp_path, made(3))
    (tmp_path / "latest.pt").write_bytes(b"no checkpoint")
    assert updates(tmp_path) == 1


def test_without_a_whole_checkpoint_training_starts_afresh(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    for name in ("latest.pt", "previous.pt"):
        (tmp_path / name).write_bytes(b"no checkpoint")
    assert updates(tmp_path) is None
    assert capsys.readouterr().err.count("damaged and was renamed") == 2


class KilledError(Exception):
    pass


@pytest.mark.parametrize("call", range(3))
def test_killed_while_writing(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, call: int) -> None:
    """Before the new file is whole, before the old one is renamed, and between the two renamings."""
    for number in (1, 2):
        write_checkpoint(tmp_path, made(number))
    (tmp_path / ".latest.pt.1.partial").write_bytes(b"half of it")
    calls = [(torch, "save"), (os, "replace"), (os, "replace")]
    done = [0]

    def dying(place: Any, name: str) -> None:
        plain = getattr(place, name)

        def step(*words: Any) -> None:
            if done[0] == call:
                raise KilledError
            done[0] += 1
            plain(*words)

        monkeypatch.setattr(place, name, step)

    for place, name in set(calls):
        dying(place, name)
    with pytest.raises(KilledError):
        write_checkpoint(tmp_path, made(3))
    monkeypatch.undo()
    assert updates(tmp_path) == 2
    assert not list(tmp_path.glob(".*"))


def test_files_and_folder_are_synced_before_the_old_one_may_go(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    done: list[str] = []
    fsync, replace = os.fsync, os.replace

    def noted_fsync(number: int) -> None:
        done.append("sync " + Path(os.readlink(f"/proc/self/fd/{number}")).name)
        fsync(number)

    def noted_replace(old: Path, new: Path) -> None:
        done.append(f"rename to {Path(new).name}")
        replace(old, new)

    write_checkpoint(tmp_path, made(1))
    monkeypatch.setattr(module.os, "fsync", noted_fsync)
    monkeypatch.setattr(module.os, "replace", noted_replace)
    write_checkpoint(tmp_path, made(2))
    partial = f"sync .latest.pt.{os.getpid()}.partial"
    assert done[:2] == [partial, "rename to previous.pt"]
    assert done[-2:] == ["rename to latest.pt", f"sync {tmp_path.name}"]


def test_other_settings_are_named(tmp_path: Path) -> None:
    write_checkpoint(tmp_path, made(1))
    with pytest.raises(UserError, match=r"hidden was 6, is 7; .* delete"):
        read_checkpoint(tmp_path, {**SETTINGS, "hidden": 7})
    with pytest.raises(UserError, match="new was unset, is 1"):
        read_checkpoint(tmp_path, {**SETTINGS, "new": 1})


def test_a_checkpoint_from_before_a_setting_is_resumed_at_its_neutral_value(tmp_path: Path) -> None:
    before = tiny_variant()
    assert later(before).learned() == before.learned()
    write_checkpoint(tmp_path, replace(made(1), settings=before.learned()))
    found = read_checkpoint(tmp_path, later(before).learned())
    assert found is not None
    assert found.state.updates == 1


def test_a_checkpoint_with_a_setting_that_is_not_used_is_resumed(tmp_path: Path) -> None:
    """Earlier versions kept the seed of a model that continues another, and the alignment of one without attention."""
    tiny = tiny_variant()
    architecture = replace(tiny.architecture, attention="fixed", score_previous=True)
    one = replace(tiny, continues="other", architecture=architecture)
    kept = {"seed": 77, "alignment": 9, "score_previous": True, "data": "digest"}
    write_checkpoint(tmp_path, replace(made(1), settings=one.learned() | kept))
    assert updates(tmp_path, one.learned() | {"data": "digest"}) == 1
    with pytest.raises(UserError, match=r"latest\.pt: hidden was \d+, is 7; set it back"):
        read_checkpoint(tmp_path, one.learned() | {"data": "digest", "hidden": 7})
    with pytest.raises(UserError, match=r"latest\.pt: dropout was unset, is 0\.5; set it back"):
        read_checkpoint(tmp_path, one.learned() | {"data": "digest", "dropout": 0.5, "seed": 5})


def test_a_checkpoint_from_before_a_score_existed_is_resumed(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    new = ("development_bleu", "best_bleu")
    with monkeypatch.context() as patch:
        patch.setattr(module, "asdict", lambda state: {k: v for k, v in asdict(state).items() if k not in new})
        write_checkpoint(tmp_path, made(1))
    found = read_checkpoint(tmp_path, SETTINGS)
    assert found is not None
    assert found.state == made(1).state


def test_a_new_setting_at_another_value_refuses_to_resume(tmp_path: Path) -> None:
    before = tiny_variant()
    write_checkpoint(tmp_path, replace(made(1), settings=before.learned()))
    with pytest.raises(
        UserError, match=r"latest\.pt: schedule was unset, is decaying; set it back to resume, or delete"
    ):
        read_checkpoint(tmp_path, later(before, schedule="decaying").learned())
    write_checkpoint(tmp_path, replace(made(2), settings=later(before, schedule="decaying").learned()))
    with pytest.raises(UserError, match=r"latest\.pt: schedule was decaying, is unset; "):
        read_checkpoint(tmp_path, before.learned())


def test_a_checkpoint_of_another_version_is_kept(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(module, "asdict", lambda state: {"steps": 5, "interval": {}})
    write_checkpoint(tmp_path, made(1))
    with pytest.raises(UserError, match="another version"):
        read_checkpoint(tmp_path, SETTINGS)
    assert (tmp_path / "latest.pt").exists()


@pytest.mark.parametrize(
    "content", [b"", b"no checkpoint", b"\x80\x02c__main__\nmissing\n.", b"PK\x03\x04", b"]q\x00."]
)
def test_what_torch_cannot_read_is_one_line_and_kept(tmp_path: Path, content: bytes) -> None:
    """Whole by its digest, yet not as this version writes it."""
    (tmp_path / "latest.pt").write_bytes(hashlib.sha256(content).digest() + content)
    with pytest.raises(UserError, match=r"latest\.pt: written by another version; .* delete"):
        read_checkpoint(tmp_path, SETTINGS)
    assert (tmp_path / "latest.pt").exists()


@pytest.mark.parametrize(
    "change",
    [
        {"settings": []},
        {"metrics": None},
        {"model": 7},
        {"best": "x"},
        {"state": None},
        {"state": {"updates": "many", "interval": {}}},
        {"state": {"interval": {"costs": 3}}},
        {"state": {"interval": None}},
        {"shortlists": ["a"]},
    ],
)
def test_odd_content_with_the_right_digest_is_one_line(tmp_path: Path, change: dict[str, Any]) -> None:
    write_checkpoint(tmp_path, made(1))
    file = io.BytesIO((tmp_path / "latest.pt").read_bytes()[module.DIGEST_BYTES :])
    changed = io.BytesIO()
    torch.save(torch.load(file) | change, changed)
    content = changed.getvalue()
    (tmp_path / "latest.pt").write_bytes(hashlib.sha256(content).digest() + content)
    with pytest.raises(UserError, match=r"latest\.pt: written by another version; .* delete"):
        read_checkpoint(tmp_path, SETTINGS)


def test_a_checkpoint_without_the_digests_of_shortlists_is_read(tmp_path: Path) -> None:
    """As versions before this one wrote it."""
    old = io.BytesIO()
    content = {one.name: getattr(made(3), one.name) for one in fields(Checkpoint) if one.name != "shortlists"}
    torch.save(content | {"state": asdict(made(3).state)}, old)
    (tmp_path / "latest.pt").write_bytes(hashlib.sha256(old.getvalue()).digest() + old.getvalue())
    assert updates(tmp_path) == 3


@pytest.mark.parametrize("name", ["latest.pt", "previous.pt", ".latest.pt.1.partial", "metrics.jsonl"])
@pytest.mark.parametrize("make", [os.mkdir, os.mkfifo, partial(os.symlink, "../diary"), partial(os.symlink, "nowhere")])
def test_what_is_no_file_in_its_place_is_one_line(tmp_path: Path, make: Callable[[Path], None], name: str) -> None:
    """A pipe would be waited for, and a link written through."""
    (tmp_path / "diary").write_text("mine")
    folder = tmp_path / "checkpoints"
    folder.mkdir()
    make(folder / name)
    with pytest.raises(UserError, match=f"{name}: a link, a folder, a pipe or a device in place of a file"):
        check_folder(folder)


@pytest.mark.parametrize("name", ["latest.pt", "previous.pt", ".checkpoints.lock", "metrics.jsonl"])
def test_a_pipe_in_the_place_of_a_file_is_one_line_and_no_wait(tmp_path: Path, name: str) -> None:
    folder = tmp_path / "checkpoints"
    folder.mkdir()
    path = tmp_path / name if name.endswith("lock") else folder / name
    os.mkfifo(path)
    readers: dict[str, Callable[[], object]] = {
        ".checkpoints.lock": lambda: locked(folder).__enter__(),
        "metrics.jsonl": lambda: read_metrics(path),
    }
    with pytest.raises(UserError, match=f"{name}: a pipe or a device in place of a file; remove it"):
        readers.get(name, lambda: read_checkpoint(folder, SETTINGS))()
    if name.endswith(".pt"):
        with pytest.raises(UserError, match=f"{name}: a pipe or a device"):
            look_at_checkpoint(folder)


def test_a_file_that_another_training_renames_meanwhile_is_no_fault(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(Path, "iterdir", lambda folder: iter([folder / ".latest.pt.1.partial"]))
    check_folder(tmp_path)


@pytest.mark.parametrize("to", ["link", "nowhere"])
def test_a_link_that_leads_nowhere_is_called_so(tmp_path: Path, to: str) -> None:
    (tmp_path / "link").symlink_to(tmp_path / to)
    with pytest.raises(UserError, match="link: a link that leads nowhere; remove it, or name another folder"):
        check_folder(tmp_path / "link")


def test_the_last_checkpoint_goes_last(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    for number in (1, 2):
        write_checkpoint(tmp_path / "checkpoints", made(number))
    plain = Path.unlink

    def dying(path: Path, missing_ok: bool = False) -> None:
        if path.name == "latest.pt":
            raise KilledError
        plain(path, missing_ok)

    monkeypatch.setattr(Path, "unlink", dying)
    with pytest.raises(KilledError):
        remove_checkpoints(tmp_path / "checkpoints")
    monkeypatch.undo()
    assert updates(tmp_path / "checkpoints") == 2
    remove_checkpoints(tmp_path / "checkpoints")
    assert not (tmp_path / "checkpoints").exists()


def test_only_what_a_training_writes_is_removed(tmp_path: Path) -> None:
    folder = tmp_path / "checkpoints"
    for number in (1, 2):
        write_checkpoint(folder, made(number))
    check_folder(folder)
    for name in ("damaged.pt", "metrics.jsonl", ".latest.pt.1.partial", "thesis.tex"):
        (folder / name).touch()
    (tmp_path / "link").symlink_to(folder)
    with pytest.raises(UserError, match=r"is not a folder of checkpoints, because it holds thesis\.tex"):
        check_folder(tmp_path / "link")
    remove_checkpoints(tmp_path / "link")
    assert [path.name for path in folder.iterdir()] == ["thesis.tex"]
    (folder / "thesis.tex").unlink()
    remove_checkpoints(tmp_path / "link")
    assert list(folder.iterdir()) == []
