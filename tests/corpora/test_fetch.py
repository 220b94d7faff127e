"""Fetching: mirrors, broken transfers and wrong hashes; only a complete file ever gets the final name."""

from __future__ import annotations

import errno
import fcntl
import gzip
import hashlib
import json
import lzma
import os
import subprocess
import sys
import threading
import time
from collections.abc import Callable, Iterator
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path

import pytest

from nmt.__main__ import main
from nmt.corpora import fetch as fetching
from nmt.corpora import transfer
from nmt.corpora.fetch import fetch, locations
from nmt.corpora.kept import keep
from nmt.corpora.lock import Fingerprint, read_lock
from nmt.corpora.registry import COLUMNS, Archive
from nmt.system.errors import UserError
from tests.conftest import SmallDisk

ROOT = Path(__file__).parents[2]
CONTENT = bytes(range(256)) * 20_000  # 5 MB, several blocks
OTHER = CONTENT[::-1]
SHA256 = hashlib.sha256(CONTENT).hexdigest()
MD5 = hashlib.md5(CONTENT).hexdigest()
PAUSES = (0.01, 0.02)


class Server(ThreadingHTTPServer):
    """Answers each request with the next entry of `script`, the last one forever; records the requests."""

    daemon_threads = True

    def __init__(self) -> None:
        super().__init__(("127.0.0.1", 0), Handler)
        self.script: list[Callable[[Handler], None]] = [whole]
        self.content = CONTENT
        self.versions = {"ETag": '"one"'}
        self.ranges: list[str | None] = []
        self.versions_asked: list[str | None] = []
        self.paths: list[str] = []
        self.sent = 0  # MB of an endless body
        self.stop = threading.Event()

    @property
    def address(self) -> str:
        return f"http://127.0.0.1:{self.server_address[1]}"


class Handler(BaseHTTPRequestHandler):
    server: Server

    def do_GET(self) -> None:
        self.server.ranges.append(self.headers.get("Range"))
        self.server.versions_asked.append(self.headers.get("If-Range"))
        self.server.paths.append(self.path)
        script = self.server.script
        (script.pop(0) if len(script) > 1 else script[0])(self)

    def log_message(self, *_: object) -> None:
        pass


def answer(handler: Handler, status: int, content: bytes, **headers: str) -> None:
    handler.send_response(status)
    given = {name.replace("_", "-"): value for name, value in headers.items()}
    for name, value in ({"Content-Length": str(len(content))} | handler.server.versions | given).items():
        handler.send_header(name, value)
    handler.end_headers()
    handler.wfile.write(content)


def whole(handler: Handler) -> None:
    answer(handler, 200, handler.server.content)


def truncated(handler: Handler) -> None:
    content = handler.server.content
    answer(handler, 200, content[:3_000_000], Content_Length=str(len(content)))


def stalled(handler: Handler) -> None:
    truncated(handler)
    handler.server.stop.wait(20.0)


def silent(handler: Handler) -> None:
    handler.server.stop.wait(20.0)


def rest(handler: Handler) -> None:
    content = handler.server.content
    start = int(str(handler.headers["Range"]).removeprefix("bytes=").removesuffix("-"))
    answer(handler, 206, content[start:], Content_Range=f"bytes {start}-{len(content) - 1}/{len(content)}")


def careful(handler: Handler) -> None:
    """Answer like a server that supports ranges and If-Range."""
    current = handler.headers.get("If-Range") in handler.server.versions.values()
    (rest if handler.headers.get("Range") and current else whole)(handler)


def wrong_part(handler: Handler) -> None:
    answer(handler, 206, CONTENT[5:], Content_Range=f"bytes 5-{len(CONTENT) - 1}/{len(CONTENT)}")


def failing(status: int) -> Callable[[Handler], None]:
    return lambda handler: answer(handler, status, b"no")


@pytest.fixture
def server(monkeypatch: pytest.MonkeyPatch) -> Iterator[Server]:
    monkeypatch.setattr(transfer, "TIMEOUT", 0.3)
    monkeypatch.setenv("no_proxy", "*")
    with Server() as running:
        thread = threading.Thread(target=running.serve_forever, args=(0.02,))
        thread.start()
        yield running
        running.stop.set()
        running.shutdown()
        thread.join()


def get(address: str, output: Path, *mirrors: str, lock: Path | None = None, mirror: str = "", **facts: object) -> None:
    archive = Archive(address, mirrors, **facts)  # type: ignore[arg-type]
    fetch(archive, output, mirror=mirror, lock=lock, pauses=PAUSES)


def names(folder: Path) -> list[str]:
    return sorted(path.name for path in folder.iterdir()) if folder.exists() else []


def test_whole_file(server: Server, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    get(f"{server.address}/a/x.tgz", tmp_path / "new" / "x.tgz", sha256=SHA256)
    assert (tmp_path / "new" / "x.tgz").read_bytes() == CONTENT
    assert names(tmp_path / "new") == ["x.tgz"]
    assert "fetch a/x.tgz: 5.1 MB" in capsys.readouterr().err


def test_an_archive_that_is_kept_is_not_fetched_again(server: Server, tmp_path: Path) -> None:
    """Snakemake deletes it when its hash or its address in the registry changes."""
    output, lock = tmp_path / "x", tmp_path / "registry.lock.tsv"
    get(f"{server.address}/x", output, lock=lock)
    server.script = [failing(404)]

    def again(**options: object) -> None:
        keep(output)
        assert not output.exists()
        get(f"{server.address}/x", output, **options)  # type: ignore[arg-type]

    again(lock=lock)
    again(sha256=SHA256)
    assert output.read_bytes() == CONTENT
    assert names(tmp_path) == [lock.name, "x"]
    assert len(server.paths) == 1
    for other in ({"sha256": "0" * 64}, {"sha256": SHA256, "bytes": 5}, {}):
        with pytest.raises(UserError, match="the server answers 404"):
            again(**other)
        assert not output.exists()
    again(sha256=SHA256)
    assert output.read_bytes() == CONTENT
    server.script, server.content = [whole], OTHER
    again(sha256=hashlib.sha256(OTHER).hexdigest())
    assert output.read_bytes() == OTHER
    assert names(tmp_path) == [lock.name, "x"]


def test_resumes_where_it_stopped(server: Server, tmp_path: Path) -> None:
    server.script = [truncated, rest]
    get(f"{server.address}/x", tmp_path / "x", sha256=SHA256)
    assert (tmp_path / "x").read_bytes() == CONTENT
    assert server.ranges == [None, "bytes=3000000-"]
    assert server.versions_asked == [None, '"one"']


def test_server_that_ignores_ranges(server: Server, tmp_path: Path) -> None:
    server.script = [truncated, whole]
    get(f"{server.address}/x", tmp_path / "x", sha256=SHA256)
    assert (tmp_path / "x").read_bytes() == CONTENT


def test_server_that_sends_another_part(server: Server, tmp_path: Path) -> None:
    server.script = [truncated, wrong_part, whole]
    get(f"{server.address}/x", tmp_path / "x", sha256=SHA256)
    assert (tmp_path / "x").read_bytes() == CONTENT


def test_range_refused(server: Server, tmp_path: Path) -> None:
    server.script = [truncated, failing(416), whole]
    get(f"{server.address}/x", tmp_path / "x", sha256=SHA256)
    assert server.ranges == [None, "bytes=3000000-", None]


def test_server_that_names_no_version(server: Server, tmp_path: Path) -> None:
    server.versions = {}
    server.script = [truncated, whole]
    get(f"{server.address}/x", tmp_path / "x", sha256=SHA256)
    assert server.ranges == [None, None]


def test_always_truncated(server: Server, tmp_path: Path) -> None:
    server.script = [truncated]
    with pytest.raises(UserError, match=f"expected {len(CONTENT)} bytes, got 3000000 after 3 attempts"):
        get(f"{server.address}/x", tmp_path / "x")
    assert names(tmp_path) == [".x.partial", ".x.partial.json"]


def test_redirected(server: Server, tmp_path: Path) -> None:
    def elsewhere(handler: Handler) -> None:
        answer(handler, 302, b"", Location="/y")

    server.script = [elsewhere, truncated, elsewhere, rest]
    get(f"{server.address}/x", tmp_path / "x", sha256=SHA256)
    assert server.paths == ["/x", "/y", "/x", "/y"]
    assert server.ranges[-1] == "bytes=3000000-"


DATE = "Fri, 24 May 2013 10:00:00 GMT"


def broken_off(server: Server, output: Path) -> None:
    """A run that leaves 3 MB of the file."""
    server.script = [truncated]
    with pytest.raises(UserError, match="got 3000000"):
        get(f"{server.address}/x", output)
    server.script = [careful]
    server.ranges.clear()


@pytest.mark.parametrize(
    "version",
    [
        {"ETag": '"one"', "Last-Modified": DATE},
        {"ETag": "one"},
        {"Last-Modified": DATE},
        {"Last-Modified": DATE, "ETag": "one"},
        {"Last-Modified": DATE, "ETag": 'W/"one"'},
    ],
)
def test_a_later_run_resumes(server: Server, tmp_path: Path, version: dict[str, str]) -> None:
    server.versions = version
    broken_off(server, tmp_path / "x")
    get(f"{server.address}/x", tmp_path / "x", sha256=SHA256)
    assert (tmp_path / "x").read_bytes() == CONTENT
    assert names(tmp_path) == ["x"]
    assert server.ranges == ["bytes=3000000-"]
    assert server.versions_asked[-1] == next(iter(version.values()))


def test_a_later_run_resumes_after_a_kill(server: Server, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    row = dict.fromkeys(COLUMNS, "") | {"name": "toy", "role": "train", "pairs": "1"}
    row |= {"source_address": f"{server.address}/a/x", "target_address": f"{server.address}/a/x"}
    row |= {"source_member": "s", "target_member": "t"}
    (tmp_path / "r.tsv").write_text("\n".join("\t".join(line) for line in (COLUMNS, row.values())) + "\n")
    words = [
        "fetch",
        "--registry",
        str(tmp_path / "r.tsv"),
        "--archive",
        "a/x",
        "--output",
        str(tmp_path / "out" / "x"),
    ]
    words += ["--lock", str(tmp_path / "r.lock.tsv")]
    partial = tmp_path / "out" / ".x.partial"
    for option, changed in (("--address", "http://host.invalid/a/x"), ("--sha256", SHA256)):
        assert main([*words, option, changed]) == 1
        assert "r.tsv: a/x has changed since the run began; start the run again" in capsys.readouterr().err
    words += ["--address", row["source_address"], "--sha256", ""]
    server.script = [stalled]
    with subprocess.Popen([sys.executable, "-m", "nmt", *words], cwd=ROOT, stderr=subprocess.DEVNULL) as process:
        deadline = time.monotonic() + 20
        while (not partial.exists() or partial.stat().st_size < 2_000_000) and time.monotonic() < deadline:
            time.sleep(0.02)
        process.kill()
    received = partial.stat().st_size
    assert 2_000_000 <= received < len(CONTENT)
    server.script = [careful]
    assert main(words) == 0
    assert server.ranges[-1] == f"bytes={received}-"
    assert (tmp_path / "out" / "x").read_bytes() == CONTENT
    assert names(tmp_path / "out") == ["x"]
    assert read_lock(tmp_path / "r.lock.tsv") == {"a/x": Fingerprint(len(CONTENT), SHA256)}


def test_a_file_that_changed_between_runs_is_not_joined(server: Server, tmp_path: Path) -> None:
    broken_off(server, tmp_path / "x")
    server.content, server.versions = OTHER, {"ETag": '"two"'}
    get(f"{server.address}/x", tmp_path / "x")
    assert (tmp_path / "x").read_bytes() == OTHER


def test_a_changed_file_of_a_server_that_does_not_compare_versions_is_not_joined(
    server: Server, tmp_path: Path
) -> None:
    broken_off(server, tmp_path / "x")
    server.content, server.versions = OTHER, {"ETag": '"two"'}
    server.script = [rest, whole]
    get(f"{server.address}/x", tmp_path / "x")
    assert (tmp_path / "x").read_bytes() == OTHER


def test_a_complete_partial_file_only_needs_its_name(server: Server, tmp_path: Path) -> None:
    (tmp_path / ".x.partial").write_bytes(CONTENT)
    note = {"address": f"{server.address}/x", "version": '"one"', "bytes": len(CONTENT)}
    (tmp_path / ".x.partial.json").write_text(json.dumps(note))
    get(f"{server.address}/x", tmp_path / "x", sha256=SHA256)
    assert names(tmp_path) == ["x"]
    assert server.paths == []


@pytest.mark.parametrize(
    "note",
    [
        *("", "{", "[]", '{"address": 1}', '{"address": "URL", "version": "a\\nb: c", "bytes": 5120000}'),
        *('{"address": "URL", "version": 7, "bytes": 5120000}', '{"address": "URL", "version": "a", "bytes": "x"}'),
        *('{"address": "URL", "version": "é", "bytes": 5120000}', '{"address": "URL", "version": "a", "bytes": -1}'),
    ],
)
def test_a_part_of_unknown_origin_is_dropped(server: Server, tmp_path: Path, note: str) -> None:
    (tmp_path / ".x.partial").write_bytes(b"x" * 1000)
    (tmp_path / ".x.partial.json").write_text(note.replace("URL", f"{server.address}/x"))
    get(f"{server.address}/x", tmp_path / "x", sha256=SHA256)
    assert names(tmp_path) == ["x"]


def test_a_file_system_without_locks_is_no_obstacle(
    server: Server, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """As Lustre, by default."""

    def flock(file: object, operation: int) -> None:
        raise OSError(errno.ENOSYS, "Function not implemented")

    monkeypatch.setattr(fcntl, "flock", flock)
    get(f"{server.address}/x", tmp_path / "x", lock=tmp_path / "lock.tsv")
    assert (tmp_path / "x").read_bytes()
    assert read_lock(tmp_path / "lock.tsv")


def test_two_at_once(server: Server, tmp_path: Path) -> None:
    with open(tmp_path / ".x.partial", "ab") as file:
        fcntl.flock(file, fcntl.LOCK_EX)
        with pytest.raises(UserError, match=r"x\.partial: another process is fetching it"):
            get(f"{server.address}/x", tmp_path / "x")


def test_temporary_failures_are_tried_again(server: Server, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    server.script = [failing(500), failing(503), whole]
    get(f"{server.address}/x", tmp_path / "x")
    assert (tmp_path / "x").read_bytes() == CONTENT
    said = capsys.readouterr().err
    assert ["trying again in 0.01 s" in said, "trying again in 0.02 s" in said] == [True, True]


@pytest.mark.parametrize("stall", [silent, stalled])
def test_stalls_are_tried_again(server: Server, tmp_path: Path, stall: Callable[[Handler], None]) -> None:
    server.script = [stall, careful]
    get(f"{server.address}/x", tmp_path / "x", sha256=SHA256)
    assert (tmp_path / "x").read_bytes() == CONTENT


def test_lasting_failures(server: Server, tmp_path: Path) -> None:
    server.script = [failing(500)]
    with pytest.raises(UserError, match=r"answers 500 .* after 3 attempts"):
        get(f"{server.address}/x", tmp_path / "x")
    server.paths.clear()
    server.script = [failing(404)]
    with pytest.raises(UserError, match=r"/x: the server answers 404 .*`mirror`"):
        get(f"{server.address}/x", tmp_path / "x")
    assert server.paths == ["/x"]
    assert names(tmp_path) == []


@pytest.mark.parametrize("fault", [failing(404), failing(500), truncated, silent])
def test_the_next_mirror_is_tried(
    server: Server, tmp_path: Path, fault: Callable[[Handler], None], capsys: pytest.CaptureFixture[str]
) -> None:
    server.script = [lambda handler: (fault if handler.path == "/first" else careful)(handler)]
    get(f"{server.address}/first", tmp_path / "x", f"{server.address}/other/name", sha256=SHA256)
    assert (tmp_path / "x").read_bytes() == CONTENT
    assert server.paths[-1] == "/other/name"
    assert server.ranges[-1] is None
    assert f"trying {server.address}/other/name" in capsys.readouterr().err


@pytest.mark.parametrize("facts", [{"sha256": SHA256}, {"published": f"md5:{MD5}"}, {"bytes": len(CONTENT)}])
def test_after_wrong_bytes_the_next_mirror_is_tried(server: Server, tmp_path: Path, facts: dict[str, object]) -> None:
    page = b"<html>log in first</html>"
    server.script = [lambda handler: answer(handler, 200, page) if handler.path == "/first" else whole(handler)]
    get(f"{server.address}/first", tmp_path / "x", f"{server.address}/second", **facts)
    assert (tmp_path / "x").read_bytes() == CONTENT
    with pytest.raises(UserError, match=r"/first: expected .*; nothing was kept|/first: expected \d+ bytes"):
        get(f"{server.address}/first", tmp_path / "y", **facts)
    assert names(tmp_path) == ["x"]


def test_every_address_that_failed_is_named_in_one_line(server: Server, tmp_path: Path) -> None:
    server.script = [failing(404), failing(403)]
    with pytest.raises(UserError) as caught:
        get(f"{server.address}/a", tmp_path / "x", f"{server.address}/b")
    said = str(caught.value)
    assert "/a: the server answers 404" in said
    assert "/b: the server answers 403" in said
    assert "\n" not in said


def test_the_address_that_has_sent_a_part_comes_first(server: Server, tmp_path: Path) -> None:
    broken_off(server, tmp_path / "x")
    get(f"{server.address}/main", tmp_path / "x", f"{server.address}/x", sha256=SHA256)
    assert server.ranges == ["bytes=3000000-"]
    assert server.paths[-1] == "/x"


@pytest.mark.parametrize("facts", [{"published": "md5:" + "0" * 32}, {"sha256": "0" * 64}])
def test_wrong_hash_keeps_what_was_there(server: Server, tmp_path: Path, facts: dict[str, object]) -> None:
    (tmp_path / "x").write_bytes(b"before")
    with pytest.raises(UserError, match=r"expected (md5|sha256):0+.*, got (md5|sha256):.*nothing was kept"):
        get(f"{server.address}/x", tmp_path / "x", **facts)
    assert (tmp_path / "x").read_bytes() == b"before"
    assert names(tmp_path) == ["x"]


def test_a_wrong_published_hash_is_emptied_to_accept_the_archive(server: Server, tmp_path: Path) -> None:
    wrong, lock = "sha256:" + "0" * 64, tmp_path / "lock"
    said = r"as published, got .* \(to accept it, empty `published` of a/x in the registry\); nothing was kept"
    with pytest.raises(UserError, match=said):
        get(f"{server.address}/a/x", tmp_path / "x", published=wrong, bytes=len(CONTENT), lock=lock)
    assert not lock.exists()
    (tmp_path / "short").write_bytes(b"0123")
    with pytest.raises(UserError, match=r"to accept it, empty `bytes` of .*/short in the registry"):
        get((tmp_path / "short").as_uri(), tmp_path / "x", published=wrong, bytes=3)
    with pytest.raises(UserError) as caught:  # what the registry pins cannot be emptied
        get(f"{server.address}/a/x", tmp_path / "x", sha256="0" * 64)
    assert "to accept it" not in str(caught.value)
    get(f"{server.address}/a/x", tmp_path / "x", bytes=len(CONTENT), lock=lock)
    assert (tmp_path / "x").read_bytes() == CONTENT
    assert "/x\t" in lock.read_text()


def test_the_first_fetch_is_recorded_and_binds_the_next(server: Server, tmp_path: Path) -> None:
    lock = tmp_path / "corpora.lock.tsv"
    get(f"{server.address}/b/x", tmp_path / "x", lock=lock)
    get(f"{server.address}/a/x", tmp_path / "y", lock=lock)
    get(f"{server.address}/c/x", tmp_path / "z", lock=lock, sha256=SHA256)  # the registry pins the hash
    row = f"{len(CONTENT)}\t{SHA256}"
    assert lock.read_text() == f"archive\tbytes\tsha256\na/x\t{row}\nb/x\t{row}\n"
    server.content = OTHER
    with pytest.raises(UserError, match=rf"as first fetched, got .*remove its line from .*{lock.name}"):
        get(f"{server.address}/b/x", tmp_path / "x", lock=lock)
    with pytest.raises(UserError, match="as first fetched"):
        get("https://host.invalid/b/x", tmp_path / "x", mirror=server.address, lock=lock)
    assert (tmp_path / "x").read_bytes() == CONTENT


def test_a_mirror_that_differs_from_what_is_published(
    server: Server, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """`mirror` is the user's responsibility: its copy is accepted with a warning, and its hash recorded."""
    (tmp_path / "mirror" / "b").mkdir(parents=True)
    (tmp_path / "mirror" / "b" / "x").write_bytes(CONTENT)
    for mirror in (server.address, str(tmp_path / "mirror")):
        get("https://host/b/x", tmp_path / "x", mirror=mirror, lock=tmp_path / "lock", bytes=3)
        assert "b/x: expected 3 bytes as published, got 5120000; accepted" in capsys.readouterr().err
        get("https://host/b/x", tmp_path / "x", mirror=mirror, published="sha256:" + "0" * 64)
        assert "b/x: expected sha256:0000" in capsys.readouterr().err
    assert list(read_lock(tmp_path / "lock")) == ["b/x"]


def test_no_network_is_one_line(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    registry = tmp_path / "corpora.tsv"
    row = dict.fromkeys(COLUMNS, "") | {"name": "a", "role": "test", "source_member": "a", "target_member": "b"}
    row |= dict.fromkeys(("source_address", "target_address"), "https://host.invalid/wmt13/test.tgz")
    registry.write_text("\n".join("\t".join(line) for line in (COLUMNS, row.values())) + "\n")
    words = ["fetch", "--registry", str(registry), "--output", str(tmp_path / "out" / "x"), "--archive"]
    assert main([*words, "wmt13/test.tgz"]) == 1
    said = capsys.readouterr().err.splitlines()
    assert len(said) == 1
    assert "https://host.invalid/wmt13/test.tgz" in said[0]
    assert "`mirror`" in said[0]
    assert names(tmp_path / "out") == []
    assert main([*words, "wmt13/tets.tgz"]) == 1
    assert "unknown archive wmt13/tets.tgz; the nearest is wmt13/test.tgz" in capsys.readouterr().err


def test_refused_connection(server: Server, tmp_path: Path) -> None:
    """The step waits if the transfer had begun, but not if the server was never there."""

    def breaks_down(handler: Handler) -> None:
        handler.server.server_close()
        truncated(handler)

    server.script = [breaks_down]
    with pytest.raises(UserError, match=r"no answer \(Connection refused\) after 3 attempts"):
        get(f"{server.address}/x", tmp_path / "x")
    assert names(tmp_path) == [".x.partial", ".x.partial.json"]
    with pytest.raises(UserError, match=r"cannot be reached .*`mirror`"):
        get(f"{server.address}/x", tmp_path / "x")


def test_mirrors(server: Server, tmp_path: Path) -> None:
    address = "https://host.invalid/wmt 13/test%201.tgz"
    folder = tmp_path / "my mirror"
    (folder / "wmt 13").mkdir(parents=True)
    (folder / "wmt 13" / "test 1.tgz").write_bytes(CONTENT)
    for mirror in (str(folder), folder.as_uri(), folder.as_uri() + "/"):
        get(address, tmp_path / "x", mirror=mirror, sha256=SHA256)
        assert (tmp_path / "x").read_bytes() == CONTENT
        (tmp_path / "x").unlink()
    get(address, tmp_path / "x", "https://host.invalid/never", mirror=server.address + "/copy/", sha256=SHA256)
    assert server.paths == ["/copy/wmt%2013/test%201.tgz"]
    assert locations(Archive("en-fr/a.xz"), "https://host/m") == ["https://host/m/en-fr/a.xz"]
    assert locations(Archive((folder / "x").as_uri())) == [folder / "x"]
    assert locations(Archive("en-fr/a.xz", ("https://host/m.xz",))) == ["https://host/m.xz"]


def test_mirror_without_the_file(tmp_path: Path) -> None:
    with pytest.raises(UserError, match=r"a/b\.tgz: No such file.*`mirror`"):
        get("https://host/a/b.tgz", tmp_path / "out" / "x", mirror=str(tmp_path))
    with pytest.raises(UserError, match=r"^(?!.*repeat).*b\.tgz: No such file or directory; correct the registry"):
        get((tmp_path / "b.tgz").as_uri(), tmp_path / "out" / "x")
    (tmp_path / "a" / "b.tgz").mkdir(parents=True)
    with pytest.raises(UserError, match="directory"):
        get("https://host/a/b.tgz", tmp_path / "out" / "x", mirror=str(tmp_path))
    with pytest.raises(UserError, match="mirror: ~nobody-here/x: no such folder"):
        get("https://host/a/b.tgz", tmp_path / "out" / "x", mirror="~nobody-here/x")
    assert names(tmp_path / "out") == []


def test_a_copy_in_a_mirror_is_a_file(tmp_path: Path) -> None:
    """A device has no end, and a pipe waits for one who writes to it."""
    (tmp_path / "a").symlink_to("/dev/zero")
    os.mkfifo(tmp_path / "b")
    for name in ("a", "b"):
        with pytest.raises(UserError, match=f"{name}: a pipe or a device, not a file"):
            get(f"https://host/{name}", tmp_path / "out" / "x", mirror=str(tmp_path))
    assert names(tmp_path / "out") == []


def test_wrong_hash_in_a_folder(tmp_path: Path) -> None:
    (tmp_path / "x.tgz").write_bytes(CONTENT[:-1])
    with pytest.raises(UserError, match=f"expected sha256:{SHA256}, got sha256:"):
        get("https://host/x.tgz", tmp_path / "out" / "x", mirror=str(tmp_path), sha256=SHA256)
    assert names(tmp_path / "out") == []


@pytest.mark.parametrize(
    ("address", "mirror", "said"),
    [
        ("en-fr/a.xz", "", "set `mirror`"),
        ("ftp://host/a", "", "not an http, https or file URL"),
        ("https://host/a", "s3://bucket", "`mirror`"),
        ("https://host/a", "no/such/folder", "no such folder"),
    ],
)
def test_places_that_cannot_be_read(tmp_path: Path, address: str, mirror: str, said: str) -> None:
    with pytest.raises(UserError, match=said):
        get(address, tmp_path / "x", mirror=mirror)


def test_full_disk_in_the_middle_of_a_transfer(server: Server, tmp_path: Path, small_disk: SmallDisk) -> None:
    output = small_disk.folder / "x"
    server.script = [careful]
    small_disk.limit(2_000_000)
    with pytest.raises(UserError, match=r"/x: no space left; what was received is kept, free some and repeat"):
        get(f"{server.address}/x", output, sha256=SHA256)
    assert not output.exists()
    received = (small_disk.folder / ".x.partial").stat().st_size
    assert received > 1_000_000
    small_disk.free()
    get(f"{server.address}/x", output, sha256=SHA256)
    assert output.read_bytes() == CONTENT
    assert server.ranges == [None, f"bytes={received}-"]


def test_full_disk_in_the_middle_of_a_copy(tmp_path: Path, small_disk: SmallDisk) -> None:
    (tmp_path / "x").write_bytes(CONTENT)
    output = small_disk.folder / "x"
    small_disk.limit(2_000_000)
    with pytest.raises(UserError, match=r"/x: no space left, free some and repeat"):
        get("x", output, mirror=str(tmp_path))
    assert names(small_disk.folder) == []
    small_disk.free()
    get("x", output, mirror=str(tmp_path), sha256=SHA256)
    assert output.read_bytes() == CONTENT


PAGE = b"<!-- a proxy -->\n<!DOCTYPE html><html>log in first</html>"
KINDS = {
    "a/x.tgz": gzip.compress(b"text"),
    "a/x.gz": gzip.compress(b"text"),
    "a/x.xz": lzma.compress(b"text"),
    "a/x.tar": bytes(257) + b"ustar  " + bytes(248),
    "a/x.sgm": b'\xef\xbb\xbf\n<!DOCTYPE srcset SYSTEM "x.dtd"><srcset>',
    "a/x.en": b"The tag <html> begins a page.",
}


@pytest.mark.parametrize("path", KINDS)
@pytest.mark.parametrize("wrong", [b"", b" \n", PAGE, b'<?xml version="1.0"?>\n<html lang="en">', b"busy"])
def test_nothing_but_a_file_of_its_kind_is_recorded(server: Server, tmp_path: Path, path: str, wrong: bytes) -> None:
    """The page of a proxy that answers with status 200 must not bind the next fetch."""
    lock, server.content = tmp_path / "lock", wrong if path != "a/x.en" or wrong != b"busy" else PAGE
    with pytest.raises(UserError, match=r"an empty file; nothing|a page in HTML; nothing|by its first bytes; nothing"):
        get(f"{server.address}/{path}", tmp_path / "out" / "x", lock=lock)
    assert not lock.exists()
    assert names(tmp_path / "out") == []
    server.content = right = KINDS[path]
    get(f"{server.address}/{path}", tmp_path / "out" / "x", lock=lock)
    assert read_lock(lock) == {path: Fingerprint(len(right), hashlib.sha256(right).hexdigest())}


def raw(*lines: bytes, body: bytes = b"") -> Callable[[Handler], None]:
    """Answer with these lines of a header, whatever they are."""

    def answered(handler: Handler) -> None:
        handler.wfile.write(b"\r\n".join([*lines, b"", body]))

    return answered


def endless(handler: Handler) -> None:
    """A body of chunks without end, at most 100 MB."""
    handler.wfile.write(b"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n")
    try:
        for _ in range(100):
            handler.wfile.write(b"f4240\r\n" + bytes(1_000_000) + b"\r\n")
            handler.server.sent += 1
    except OSError:
        pass


def drip(handler: Handler) -> None:
    """A byte every 20 ms, for at most 10 s."""
    handler.wfile.write(b"HTTP/1.1 200 OK\r\nContent-Length: 100000\r\n\r\n")
    drip_header(handler)


def drip_header(handler: Handler) -> None:
    try:
        while not handler.server.stop.wait(0.02):
            handler.wfile.write(b"H")
    except OSError:
        pass


@pytest.mark.parametrize("known", ["bytes", "lock", "nothing"])
def test_an_endless_body_ends_at_the_known_length(
    server: Server, tmp_path: Path, known: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    lock = tmp_path / "lock"
    if known == "lock":
        get(f"{server.address}/a/x", tmp_path / "out" / "x", lock=lock)
        (tmp_path / "out" / "x").unlink()
    elif known == "nothing":
        monkeypatch.setattr(fetching, "LONGEST", len(CONTENT))
    server.script, server.sent = [endless], 0
    facts = {"bytes": len(CONTENT)} if known == "bytes" else {}
    hint = {"bytes": "empty `bytes` of a/x", "lock": f"remove its line from {lock}", "nothing": "set `bytes` of a/x"}
    with pytest.raises(UserError, match=rf"at most {len(CONTENT)} bytes, the server sends more .*{hint[known]}"):
        get(f"{server.address}/a/x", tmp_path / "out" / "x", lock=lock, **facts)
    assert server.sent < 50  # MB, most of them in the buffers of the connection
    assert names(tmp_path / "out") == []


def test_a_longer_file_than_any_archive_is_not_begun(server: Server, tmp_path: Path) -> None:
    server.script = [raw(b"HTTP/1.1 200 OK", b"Content-Length: 999000000000000")]
    with pytest.raises(UserError, match=r"at most 10000000000 bytes, the server has 9990+ \(to accept it, set `bytes`"):
        get(f"{server.address}/x", tmp_path / "x")
    assert names(tmp_path) == []


@pytest.mark.parametrize(
    ("slow", "said"), [(drip, "fewer than 1000 bytes a second"), (drip_header, r"no answer \(none in 0.2 s")]
)
def test_a_byte_a_second_ends(
    server: Server, tmp_path: Path, slow: Callable[[Handler], None], said: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(transfer, "PERIOD", 0.2)
    server.script = [slow]
    begun = time.monotonic()
    with pytest.raises(UserError, match=f"{said}.* after 3 attempts"):
        get(f"{server.address}/x", tmp_path / "x")
    assert time.monotonic() - begun < 5
    server.script = [whole]
    get(f"{server.address}/x", tmp_path / "x")
    assert (tmp_path / "x").read_bytes() == CONTENT


@pytest.mark.parametrize("length", ["+5", "-5", "1_0", "5, 5", "²", "\u0663", "9" * 5000, "0x5", ""])
def test_a_length_that_is_no_number_is_refused(server: Server, tmp_path: Path, length: str) -> None:
    server.script = [raw(b"HTTP/1.1 200 OK", b"Content-Length: " + length.encode(), body=b"0123456789")]
    with pytest.raises(UserError, match="names a length that is no number"):
        get(f"{server.address}/x", tmp_path / "x")
    assert names(tmp_path) == []


def test_a_file_whose_end_is_not_known_needs_its_length(server: Server, tmp_path: Path) -> None:
    """Without length and chunks a broken connection looks like the end of the file."""
    server.script = [raw(b"HTTP/1.0 200 OK", body=b"0123456789")]
    with pytest.raises(UserError, match="does not say how long the file is; set its `bytes`"):
        get(f"{server.address}/x", tmp_path / "x")
    with pytest.raises(UserError, match="expected 11 bytes, got 10 after 3 attempts"):
        get(f"{server.address}/x", tmp_path / "x", bytes=11)
    server.script = [raw(b"HTTP/1.0 200 OK", body=b"01234"), raw(b"HTTP/1.0 200 OK", body=b"0123456789")]
    get(f"{server.address}/x", tmp_path / "x", bytes=10)
    assert (tmp_path / "x").read_bytes() == b"0123456789"


@pytest.mark.parametrize(
    ("answered", "said"),
    [
        (raw(b"HTTP/1.1 302 Found", b"Location: /x"), "answers 302 .*infinite loop"),
        (raw(b"HTTP/1.1 302 Found", b"Location: ftp://127.0.0.1:1/x"), "cannot be reached"),
        (raw(b"HTTP/1.1 302 Found", b"Location: file:///etc/passwd"), "answers 302 .* not allowed"),
        (raw(b"HTTP/1.1 302 Found", b"Location: http://[::1"), "not a URL"),
        (raw(b"HTTP/1.1 302 Found", b"Location: http://127.0.0.1:port/"), "not a URL"),
        (raw(b"HTTP/1.1 302 Found", b"Location: http://127.0.0.1:99999/"), "not a URL|no answer|cannot be reached"),
        (raw(b"HTTP/1.1 404 \x1b[2J\x1b]0;owned\x07\x9b"), r"answers 404 \\x1b\[2J"),
        (raw(b"\x1b[2J HTTP"), "no answer"),
        (raw(b"HTTP/1.1 200 OK", b"Content-Length: \x1b[2J"), "no number"),
        (raw(b"HTTP/1.1 206 Partial Content", b"Content-Range: bytes 0-4/*", body=b"01234"), "another range"),
        (raw(b"HTTP/1.1 206 Partial Content", b"Content-Range: bytes 0-4/9", body=b"01234"), "another range"),
    ],
)
def test_a_hostile_answer_is_one_line_of_printable_text(
    server: Server,
    tmp_path: Path,
    answered: Callable[[Handler], None],
    said: str,
    capsys: pytest.CaptureFixture[str],
) -> None:
    server.script = [answered]
    with pytest.raises(UserError, match=said) as caught:
        get(f"{server.address}/x", tmp_path / "x")
    assert str(caught.value).isprintable()
    assert all(line.isprintable() for line in capsys.readouterr().err.split("\n"))
    assert names(tmp_path) == []


def test_the_length_of_chunks_is_that_of_the_chunks(server: Server, tmp_path: Path) -> None:
    """A server that also names another length is not believed."""
    chunks = [b"HTTP/1.1 200 OK", b"Content-Length: 3", b"Transfer-Encoding: chunked"]
    server.script = [raw(*chunks, body=b"5\r\n01234\r\n0\r\n\r\n")]
    get(f"{server.address}/x", tmp_path / "x")
    assert (tmp_path / "x").read_bytes() == b"01234"


def test_a_version_that_no_request_can_hold_is_not_kept(server: Server, tmp_path: Path) -> None:
    folded = raw(b"HTTP/1.1 200 OK", b'ETag: "a"\r\n b', f"Content-Length: {len(CONTENT)}".encode(), body=b"012")
    server.script = [folded, whole]
    get(f"{server.address}/x", tmp_path / "x", sha256=SHA256)
    assert server.ranges == [None, None]
