"""Fetching: mirrors, broken transfers, wrong hashes; nothing but a whole file ever gets the final name."""

from __future__ import annotations

import hashlib
import threading
from collections.abc import Callable, Iterator
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path

import pytest

from nmt.__main__ import main
from nmt.corpora import fetch as fetching
from nmt.corpora.fetch import fetch, location
from nmt.files import UserError

CONTENT = bytes(range(256)) * 20_000  # 5 MB, several blocks
SHA256 = "sha256:" + hashlib.sha256(CONTENT).hexdigest()
MD5 = "md5:" + hashlib.md5(CONTENT).hexdigest()


class Server(ThreadingHTTPServer):
    """Answers as its `script` says, one entry a request, the last one for ever; keeps the requests' ranges."""

    daemon_threads = True

    def __init__(self) -> None:
        super().__init__(("127.0.0.1", 0), Handler)
        self.script: list[Callable[[Handler], None]] = [whole]
        self.ranges: list[str | None] = []
        self.paths: list[str] = []

    @property
    def address(self) -> str:
        return f"http://127.0.0.1:{self.server_address[1]}"


class Handler(BaseHTTPRequestHandler):
    server: Server

    def do_GET(self) -> None:
        self.server.ranges.append(self.headers.get("Range"))
        self.server.paths.append(self.path)
        script = self.server.script
        (script.pop(0) if len(script) > 1 else script[0])(self)

    def log_message(self, *_: object) -> None:
        pass


def answer(handler: Handler, status: int, content: bytes, **headers: str) -> None:
    handler.send_response(status)
    given = {name.replace("_", "-"): value for name, value in headers.items()}
    for name, value in ({"Content-Length": str(len(content)), "ETag": '"one"'} | given).items():
        handler.send_header(name, value)
    handler.end_headers()
    handler.wfile.write(content)


def whole(handler: Handler) -> None:
    answer(handler, 200, CONTENT)


def truncated(handler: Handler) -> None:
    answer(handler, 200, CONTENT[:3_000_000], Content_Length=str(len(CONTENT)))


def rest(handler: Handler) -> None:
    start = int(str(handler.headers["Range"]).removeprefix("bytes=").removesuffix("-"))
    part = CONTENT[start:]
    answer(handler, 206, part, Content_Range=f"bytes {start}-{len(CONTENT) - 1}/{len(CONTENT)}")


def wrong_part(handler: Handler) -> None:
    answer(handler, 206, CONTENT[5:], Content_Range=f"bytes 5-{len(CONTENT) - 1}/{len(CONTENT)}")


def failing(status: int) -> Callable[[Handler], None]:
    return lambda handler: answer(handler, status, b"no")


def silent(handler: Handler) -> None:
    threading.Event().wait(1.0)


@pytest.fixture
def server(monkeypatch: pytest.MonkeyPatch) -> Iterator[Server]:
    monkeypatch.setattr(fetching, "PAUSES", (0.01, 0.02))
    monkeypatch.setattr(fetching, "TIMEOUT", 0.3)
    monkeypatch.setenv("no_proxy", "*")
    with Server() as running:
        thread = threading.Thread(target=running.serve_forever, args=(0.02,))
        thread.start()
        yield running
        running.shutdown()
        thread.join()


def nothing_left(folder: Path) -> bool:
    return not folder.exists() or not any(folder.iterdir())


def test_whole_file(server: Server, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    fetch(f"{server.address}/a/x.tgz", tmp_path / "new" / "x.tgz", digest=SHA256)
    assert (tmp_path / "new" / "x.tgz").read_bytes() == CONTENT
    assert [path.name for path in (tmp_path / "new").iterdir()] == ["x.tgz"]
    assert "fetch x.tgz: 5.1 MB" in capsys.readouterr().err


def test_resumes_where_it_stopped(server: Server, tmp_path: Path) -> None:
    server.script = [truncated, rest]
    fetch(f"{server.address}/x", tmp_path / "x", digest=MD5)
    assert (tmp_path / "x").read_bytes() == CONTENT
    assert server.ranges == [None, "bytes=3000000-"]


def test_server_that_ignores_ranges(server: Server, tmp_path: Path) -> None:
    server.script = [truncated, whole]
    fetch(f"{server.address}/x", tmp_path / "x", digest=SHA256)
    assert (tmp_path / "x").read_bytes() == CONTENT


def test_server_that_sends_another_part(server: Server, tmp_path: Path) -> None:
    server.script = [truncated, wrong_part, whole]
    fetch(f"{server.address}/x", tmp_path / "x", digest=SHA256)
    assert (tmp_path / "x").read_bytes() == CONTENT


def test_range_refused(server: Server, tmp_path: Path) -> None:
    server.script = [truncated, failing(416), whole]
    fetch(f"{server.address}/x", tmp_path / "x", digest=SHA256)
    assert server.ranges == [None, "bytes=3000000-", None]


def test_truncated_for_ever(server: Server, tmp_path: Path) -> None:
    server.script = [truncated]
    out = tmp_path / "out"
    with pytest.raises(UserError, match=f"expected {len(CONTENT)} bytes, got 3000000"):
        fetch(f"{server.address}/x", out / "x")
    assert nothing_left(out)


def test_passing_failures_are_tried_again(server: Server, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    server.script = [failing(500), failing(503), whole]
    fetch(f"{server.address}/x", tmp_path / "x")
    assert (tmp_path / "x").read_bytes() == CONTENT
    assert capsys.readouterr().err.count("trying again") == 2


def test_timeout_is_tried_again(server: Server, tmp_path: Path) -> None:
    server.script = [silent, whole]
    fetch(f"{server.address}/x", tmp_path / "x")
    assert (tmp_path / "x").read_bytes() == CONTENT


def test_lasting_failures(server: Server, tmp_path: Path) -> None:
    server.script = [failing(500)]
    with pytest.raises(UserError, match=r"answers 500 .* after 3 tries"):
        fetch(f"{server.address}/x", tmp_path / "out" / "x")
    server.paths.clear()
    server.script = [failing(404)]
    with pytest.raises(UserError, match=r"/x: the server answers 404 .*`mirror`"):
        fetch(f"{server.address}/x", tmp_path / "out" / "x")
    assert server.paths == ["/x"]
    assert nothing_left(tmp_path / "out")


@pytest.mark.parametrize("digest", ["md5:" + "0" * 32, "sha256:" + "0" * 64])
def test_wrong_hash_keeps_what_was_there(server: Server, tmp_path: Path, digest: str) -> None:
    (tmp_path / "x").write_bytes(b"before")
    got = MD5 if digest.startswith("md5") else SHA256
    with pytest.raises(UserError, match=f"expected {digest}, got {got}"):
        fetch(f"{server.address}/x", tmp_path / "x", digest=digest)
    assert (tmp_path / "x").read_bytes() == b"before"
    assert len(list(tmp_path.iterdir())) == 1


def test_no_network_is_one_line(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    address = "https://host.invalid/wmt13/test.tgz"
    assert main(["fetch", "--address", address, "--output", str(tmp_path / "out" / "x")]) == 1
    said = capsys.readouterr().err.splitlines()
    assert len(said) == 1
    assert address in said[0]
    assert "`mirror`" in said[0]
    assert nothing_left(tmp_path / "out")


def test_refused_connection(server: Server, tmp_path: Path) -> None:
    server.server_close()
    with pytest.raises(UserError, match=r"cannot be reached .*`mirror`"):
        fetch(f"{server.address}/x", tmp_path / "x")


def test_mirrors(server: Server, tmp_path: Path) -> None:
    address = "https://host.invalid/wmt 13/test%201.tgz"
    folder = tmp_path / "my mirror"
    (folder / "wmt 13").mkdir(parents=True)
    (folder / "wmt 13" / "test 1.tgz").write_bytes(CONTENT)
    for mirror in (str(folder), folder.as_uri(), folder.as_uri() + "/"):
        fetch(address, tmp_path / "x", mirror=mirror, digest=SHA256)
        assert (tmp_path / "x").read_bytes() == CONTENT
        (tmp_path / "x").unlink()
    fetch(address, tmp_path / "x", mirror=server.address + "/copy/", digest=SHA256)
    assert server.paths == ["/copy/wmt%2013/test%201.tgz"]
    assert location("en-fr/a.xz", "https://host/m") == "https://host/m/en-fr/a.xz"
    assert location((folder / "x").as_uri()) == folder / "x"


def test_mirror_without_the_file(tmp_path: Path) -> None:
    with pytest.raises(UserError, match=r"a/b\.tgz: No such file.*`mirror`"):
        fetch("https://host/a/b.tgz", tmp_path / "out" / "x", mirror=str(tmp_path))
    (tmp_path / "a" / "b.tgz").mkdir(parents=True)
    with pytest.raises(UserError, match="directory"):
        fetch("https://host/a/b.tgz", tmp_path / "out" / "x", mirror=str(tmp_path))
    assert nothing_left(tmp_path / "out")


def test_wrong_hash_in_a_folder(tmp_path: Path) -> None:
    (tmp_path / "x.tgz").write_bytes(CONTENT[:-1])
    with pytest.raises(UserError, match=f"expected {SHA256}, got sha256:"):
        fetch("https://host/x.tgz", tmp_path / "out" / "x", mirror=str(tmp_path), digest=SHA256)
    assert nothing_left(tmp_path / "out")


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
        fetch(address, tmp_path / "x", mirror=mirror)


def test_unreadable_hash(tmp_path: Path) -> None:
    with pytest.raises(UserError, match="--hash"):
        fetch("https://host/a", tmp_path / "x", digest="md5:12")
