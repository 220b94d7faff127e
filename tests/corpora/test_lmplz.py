"""nmt.corpora.lmplz: it provides a working program, or one line says what is missing."""

from __future__ import annotations

import subprocess
from pathlib import Path, PurePath

import pytest

from nmt.corpora import lmplz as module
from nmt.system.errors import UserError


def make_program(path: Path, text: str) -> Path:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(text)
    path.chmod(0o755)
    return path


def test_the_built_program_estimates_a_model(lmplz: Path, tmp_path: Path) -> None:
    text = "".join(f"the cat{n % 7} sees a dog{n % 5}\n" for n in range(50))
    arguments = [lmplz, "-o", "2", "-S", "64M", "-T", f"{tmp_path}/", "--discount_fallback"]
    done = subprocess.run(arguments, input=text, capture_output=True, text=True, check=True)
    assert done.stdout.startswith("\\data\\\nngram 1=18\n")


def test_the_program_needs_nothing_but_the_libraries_beside_it(lmplz: Path, tmp_path: Path) -> None:
    if lmplz.is_symlink():
        pytest.skip("an installed lmplz is used")
    (tmp_path / "lib").symlink_to(lmplz.resolve().parent / "lib")
    moved = tmp_path / "lmplz"
    moved.write_bytes(lmplz.read_bytes())
    moved.chmod(0o755)
    assert module.works(moved)


@pytest.mark.parametrize(
    ("platform", "path", "installed"),
    [
        ("linux", "$ORIGIN/lib", ["libboost_thread.so", "libboost_thread.so.1.88.0"]),
        ("darwin", "@loader_path/lib", ["libboost_thread.dylib"]),
    ],
)
def test_libraries_are_named_as_the_platform_does(platform: str, path: str, installed: list[str]) -> None:
    runtime_path, names = module.linking(platform)
    assert runtime_path == path
    found = [name for name in installed if PurePath(name).match(names.format("thread"))]
    assert found == installed[-1:]  # without the link that only a linker needs


def test_an_installed_program_is_linked(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    installed = make_program(tmp_path / "bin" / "lmplz", "#!/bin/sh\necho --discount_fallback\nexit 1\n")
    monkeypatch.setenv("PATH", f"{installed.parent}:/usr/bin:/bin")
    output = tmp_path / "tools" / "lmplz"
    module.provide(output)
    assert output.is_symlink()
    assert module.works(output)


def test_a_link_is_replaced_and_not_what_it_leads_to(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    text = "#!/bin/sh\necho --discount_fallback\n"
    first, second = (make_program(tmp_path / name / "lmplz", text) for name in ("first", "second"))
    output = tmp_path / "tools" / "lmplz"
    monkeypatch.delenv("CXX", raising=False)
    for installed in (first, first, second):
        monkeypatch.setenv("PATH", str(installed.parent))
        module.provide(output)
        assert output.resolve() == first
    first.write_text("#!/bin/sh\nexit 1\n")
    module.provide(output)
    assert output.resolve() == second
    assert first.read_text() == "#!/bin/sh\nexit 1\n"
    assert not first.is_symlink()


def test_an_installed_program_that_does_not_run_is_ignored(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    broken = make_program(tmp_path / "bin" / "lmplz", "#!/bin/sh\necho cannot load libboost >&2\nexit 127\n")
    monkeypatch.setenv("PATH", str(broken.parent))
    monkeypatch.delenv("CXX", raising=False)
    with pytest.raises(UserError, match=r"no C\+\+ compiler"):
        module.provide(tmp_path / "tools" / "lmplz")
    assert not (tmp_path / "tools").exists()


def test_pip_failing_is_one_line_and_leaves_nothing(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr(module.shutil, "which", lambda name: None if name == "lmplz" else f"/usr/bin/{name}")
    monkeypatch.setattr(module, "BUILD_TOOLS", (str(tmp_path / "absent.whl"),))
    monkeypatch.setenv("PIP_NO_INDEX", "1")
    with pytest.raises(UserError, match=r"pip install failed .*absent\.whl") as caught:
        module.provide(tmp_path / "tools" / "lmplz")
    assert "\n" not in str(caught.value)
    assert "absent.whl" in capsys.readouterr().err
    assert not (tmp_path / "tools" / "lmplz").exists()


def test_what_is_no_program_does_not_work(tmp_path: Path) -> None:
    assert not module.works(tmp_path / "absent")
    (tmp_path / "text").write_text("text")
    assert not module.works(tmp_path / "text")
