"""The page of a model: what it answers, what it refuses, and what a browser shows."""

from __future__ import annotations

import html
import json
import os
import re
import resource
import signal
import socket
import subprocess
import sys
import threading
import time
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import ExitStack
from dataclasses import replace
from http.client import HTTPConnection
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any

import pytest
import torch

from nmt.__main__ import main
from nmt.corpora.pairs import LONGEST
from nmt.report import serve
from nmt.search import beam, text
from nmt.search.translator import Translator
from nmt.trained import load_trained
from tests.chromium import browser, visit
from tests.model.models import save_trained, tiny_model
from tests.search.reference import Found, reference_search

BEAM = 4
LINE = "s4 s2 s9 strange"
JSON = {"Content-Type": "application/json"}
LENGTH = "give the number of bytes of the JSON as Content-Length"


def save(folder: Path, end: float = 4, **settings: Any) -> Path:
    """Save a random model in which the end of a sentence is more probable than its weights make it."""
    model = tiny_model(dtype=torch.float32, **settings)
    with torch.no_grad():
        model.decoder.readout.b_o[0] += end
    save_trained(folder / "model", model)
    return folder / "model"


@pytest.fixture
def start(tmp_path: Path) -> Iterator[Callable[..., int]]:
    """A function that saves a model, serves it and returns the port."""
    servers = []

    def run(tokenized: bool = False, host: str = "127.0.0.1", allowed: Sequence[str] = (), **settings: Any) -> int:
        trained = load_trained(save(tmp_path, **settings), "cpu")
        service = serve.Service(Translator(trained, tokenized), BEAM, 3)
        found = serve.server(service, serve.page(trained), host, 0, allowed)
        servers.append(found)
        threading.Thread(target=found.serve_forever, kwargs={"poll_interval": 0.01}).start()
        return found.server_port

    yield run
    for found in servers:
        found.shutdown()
        found.server_close()


class SmallBuffers(serve._Server):
    """The system holds as little as it can of what a client has not read."""

    def server_bind(self) -> None:
        self.socket.setsockopt(socket.SOL_SOCKET, socket.SO_SNDBUF, 1)
        super().server_bind()


def ask(port: int, line: str) -> list[dict[str, Any]]:
    """The messages that answer `line`."""
    status, body = send(port, json.dumps({"text": line}))
    assert status == 200
    return [json.loads(line) for line in body.split("\n")[:-1]]


def send(
    port: int, body: str, path: str = "/translate", headers: dict[str, str] = JSON, to: str = "127.0.0.1"
) -> tuple[int, str]:
    connection = HTTPConnection(to, port, timeout=60)
    connection.request("POST", path, body.encode(), headers)
    answer = connection.getresponse()
    found = answer.status, answer.read().decode()
    connection.close()
    return found


def by_hand(folder: Path, words: str, watch: Callable[[Found], None] | None = None) -> list[Found]:
    """The hypotheses of the one-sentence search."""
    trained = load_trained(folder, "cpu")
    return reference_search(trained.model, trained.source.ids(words.split()), BEAM, watch=watch)


def texts(found: list[Found]) -> list[str]:
    return [" ".join("UNK" if word == 1 else f"t{word}" for word in one.words) for one in found]


def test_the_translation_as_it_is_found_and_the_n_best(
    start: Callable[..., int], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(serve, "PAUSE_SECONDS", 0)
    monkeypatch.setattr(serve, "SHARE", 0)
    *states, last = ask(start(), f"  {LINE}\n")
    leaders: list[Found] = []
    expected = by_hand(tmp_path / "model", LINE, leaders.append)[:3]
    assert [one["translations"][0]["text"] for one in states] == texts(leaders)
    assert not any(one["done"] for one in states)
    assert last["done"]
    assert last["source"] == LINE
    assert last["note"] == ""
    found = last["translations"]
    assert [one["text"] for one in found] == texts(expected)
    assert [one["log_probability"] for one in found] == pytest.approx(
        [one.log_probability for one in expected], rel=1e-4
    )
    assert [one["symbols"] for one in found] == [len(one.words) + 1 for one in expected]
    for one, other in zip(found, expected, strict=True):
        rows = [[int(digits, 16) / 255 for digits in re.findall("..", row)] for row in one["rows"]]
        torch.testing.assert_close(torch.tensor(rows), torch.stack(other.alignment), rtol=0, atol=3e-3)


def test_a_fixed_context_has_no_weights(start: Callable[..., int]) -> None:
    assert ask(start(attention="fixed"), LINE)[-1]["translations"][0]["rows"] is None


@pytest.mark.parametrize(
    ("body", "change", "said"),
    [
        ("", {}, 'send {"text": "..."}'),
        ("{", {}, 'send {"text": "..."}'),
        ("[" * 20000, {}, 'send {"text": "..."}'),
        ('{"text": 1}', {}, 'send {"text": "..."}'),
        ('{"text": " \\n "}', {}, "there is no text to translate"),
        ('{"text": "a"}', {"headers": {"Content-Type": "text/plain"}}, "send JSON to /translate"),
        ('{"text": "a"}', {"path": "/"}, "send JSON to /translate"),
        ('{"text": "a"}', {"headers": {**JSON, "Content-Length": "99999999999"}}, "too long; send at most 65536 bytes"),
        ('{"text": "a"}', {"headers": {**JSON, "Content-Length": "9" * 5000}}, "too long; send at most 65536 bytes"),
        ('{"text": "a"}', {"headers": {**JSON, "Content-Length": "-1"}}, LENGTH),
        ('{"text": "a"}', {"headers": {**JSON, "Content-Length": ""}}, LENGTH),
    ],
)
def test_bad_input_is_refused(start: Callable[..., int], body: str, change: dict[str, Any], said: str) -> None:
    port = start()
    status, answer = send(port, body, **change)
    assert (status, json.loads(answer)) == (400, {"error": said})


def test_odd_characters_are_words_or_nothing(start: Callable[..., int]) -> None:
    port = start()
    assert ask(port, "\x01\x02") == [{"error": "there are no words in it"}]
    assert ask(port, "s2 \ud800 </script>")[-1]["source"] == "s2\b? < / script >"


def test_words_of_tokenized_text_are_those_between_spaces(start: Callable[..., int]) -> None:
    assert ask(start(tokenized=True), "s2 s3's s4.")[-1]["source"] == "s2 s3's s4."


def test_a_long_line_is_cut_and_says_so(start: Callable[..., int], monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(text, "LONGEST", 100)
    last = ask(start(end=50), "s2 " * 110)[-1]
    assert last["note"] == "Only the first 100 of 110 words were used."
    assert last["source"] == " ".join(["s2"] * 100)
    assert len(last["translations"][0]["rows"][0]) == 2 * (100 + 1)


def test_a_translation_without_an_end_is_cut_off_and_says_so(start: Callable[..., int], tmp_path: Path) -> None:
    """There is no second search, in which others would wait for minutes."""
    last = ask(start(end=-50), LINE)[-1]
    found = [one["text"] for one in last["translations"]]
    assert len(found) == 3
    assert found[:1] == texts(by_hand(tmp_path / "model", LINE)[:1])
    assert last["note"] == "The translation did not end and is cut off."


def test_a_search_ends_in_time(start: Callable[..., int], monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(serve, "LONGEST_SEARCH", 0)
    [last] = ask(start(end=-50), LINE)
    assert [one["symbols"] for one in last["translations"]] == [1]
    assert last["done"]
    assert "is cut off" in last["note"]


def test_twenty_requests_at_once(start: Callable[..., int]) -> None:
    port = start()
    lines = [f"s{2 + number % 8} {LINE}" for number in range(20)]
    alone = {line: ask(port, line)[-1] for line in set(lines)}
    with ThreadPoolExecutor(len(lines)) as pool:
        answers = list(pool.map(lambda line: ask(port, line)[-1], lines))
    assert answers == [alone[line] for line in lines]


def test_a_browser_that_closes_ends_its_search(
    start: Callable[..., int], monkeypatch: pytest.MonkeyPatch, capfd: pytest.CaptureFixture[str]
) -> None:
    ended: list[BaseException | None] = []

    def search(*arguments: Any) -> Any:
        try:
            found = beam_search(*arguments)
            ended.append(None)
            return found
        except BaseException as error:
            ended.append(error)
            raise

    beam_search = beam.search
    monkeypatch.setattr(beam, "search", search)
    monkeypatch.setattr(serve, "PAUSE_SECONDS", 0)
    port = start(end=-50)  # nothing ends, so that the search is as long as can be
    body = json.dumps({"text": "s2 " * LONGEST}).encode()
    head = f"POST /translate HTTP/1.0\r\nHost: 127.0.0.1:{port}\r\nContent-Type: application/json\r\n"
    with socket.create_connection(("127.0.0.1", port)) as browser:
        browser.sendall(f"{head}Content-Length: {len(body)}\r\n\r\n".encode() + body)
        while b'"translations"' not in browser.recv(4096):
            pass
    status, _ = send(port, "{}")
    assert status == 400
    for _ in range(600):
        if ended:
            break
        threading.Event().wait(0.1)
    assert isinstance(ended[0], ConnectionError)
    assert capfd.readouterr().err == ""


def test_an_example_that_is_not_utf8_is_shown_as_far_as_it_is(tmp_path: Path) -> None:
    trained = load_trained(save(tmp_path), "cpu")
    service = serve.Service(Translator(trained, False), BEAM, 3)
    with serve.server(service, serve.page(trained, os.fsdecode(b"a \xff b")), "127.0.0.1", 0, ()) as found:
        threading.Thread(target=found.handle_request).start()
        connection = HTTPConnection("127.0.0.1", found.server_port, timeout=60)
        connection.request("GET", "/")
        assert b'<button id="example">a ? b</button>' in connection.getresponse().read()


def test_the_page_is_for_this_machine(start: Callable[..., int], tmp_path: Path) -> None:
    port = start()
    connection = HTTPConnection("127.0.0.1", port, timeout=60)
    connection.request("GET", "/")
    page = connection.getresponse()
    assert "default-src 'none'" in (page.getheader("Content-Security-Policy") or "")
    assert "<h1>model: en to fr</h1>" in page.read().decode()
    body = json.dumps({"text": LINE})
    for name in (f"localhost:{port}", "127.0.0.1"):
        assert send(port, body, headers={**JSON, "Host": name})[0] == 200
    assert send(port, body, headers={**JSON, "Host": f"evil.example:{port}"})[0] == 403
    connection = HTTPConnection("127.0.0.1", port, timeout=60)
    connection.request("GET", "/etc/passwd")
    assert connection.getresponse().status == 404


@pytest.mark.parametrize("host", ["LOCALHOST", "127.0.0.1", "127.0.0.2", "0.0.0.0"])
def test_the_address_decides_and_not_its_spelling(host: str, start: Callable[..., int]) -> None:
    port, body, to = start(host=host), json.dumps({"text": LINE}), host.replace("0.0.0.0", "127.0.0.1")
    for name, status in (
        ("localhost", 200),
        ("LocalHost:1", 200),
        ("127.0.0.9", 200),
        ("[::1]:18781", 200),
        ("[::1]", 200),
        ("evil.example", 403),
        ("[fd00::9]:80", 403),
        ("", 403),
    ):
        assert send(port, body, headers={**JSON, "Host": name}, to=to)[0] == status
    for name, advice in (
        ("evil.example", "if it is behind a proxy, start it with --allow-host evil.example"),
        ("fd00::9", "if it is behind a proxy, start it with --allow-host fd00::9"),
        ("", "send its name as Host"),
    ):
        host = f"[{name}]:1" if ":" in name else name
        said = send(port, body, headers={**JSON, "Host": host}, to=to)[1]
        assert said == f"{name!r} is not a name of this server; {advice}\n"


def test_a_proxys_name_is_allowed_where_it_is_named(start: Callable[..., int]) -> None:
    port, body = start(allowed=["Proxy.example", "fd00::9"]), json.dumps({"text": LINE})
    for name, status in (("proxy.example:443", 200), ("[fd00::9]", 200), ("localhost", 200), ("evil.example", 403)):
        assert send(port, body, headers={**JSON, "Host": name})[0] == status


def test_more_connections_than_select_takes(start: Callable[..., int]) -> None:
    soft, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
    resource.setrlimit(resource.RLIMIT_NOFILE, (min(4096, hard), hard))
    with ExitStack() as stack:
        stack.callback(resource.setrlimit, resource.RLIMIT_NOFILE, (soft, hard))
        port = start()
        while stack.enter_context(open(os.devnull)).fileno() < 1024:
            pass
        assert ask(port, "s2")[-1]["done"]


def test_a_client_that_does_not_read_blocks_no_other(
    start: Callable[..., int], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(serve, "PAUSE_SECONDS", 0)
    monkeypatch.setattr(serve, "SHARE", 0)
    monkeypatch.setattr(serve, "LONGEST_SEARCH", 2)
    monkeypatch.setattr(serve, "_Server", SmallBuffers)
    port = start(end=-50)
    body = json.dumps({"text": "s2 " * 150}).encode()
    head = "POST /translate HTTP/1.0\r\nHost: localhost\r\nContent-Type: application/json\r\n"
    with socket.socket() as silent:
        silent.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, 1024)
        silent.connect(("127.0.0.1", port))
        silent.sendall(f"{head}Content-Length: {len(body)}\r\n\r\n".encode() + body)
        assert silent.recv(1)
        started = time.monotonic()
        assert ask(port, "s2")[-1]["done"]
        assert time.monotonic() - started < serve.SILENT_SECONDS


def test_it_says_where_it_is(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr(ThreadingHTTPServer, "serve_forever", lambda server: None)
    assert main(["serve", "--model", str(save(tmp_path)), "--device", "cpu", "--port", "0"]) == 0
    said = capsys.readouterr()
    assert re.fullmatch(r"nmt serve: http://127\.0\.0\.1:[0-9]+/ \(Ctrl-C ends it\)\n", said.err)
    assert said.out == ""


@pytest.mark.usefixtures("sigint")
def test_ctrl_c_during_a_translation_ends_it_quietly(tmp_path: Path) -> None:
    """A process that ends while one of its threads is in PyTorch is aborted."""
    folder = save(tmp_path, end=-50)  # a search that takes seconds
    command = [sys.executable, "-m", "nmt", "serve", "--model", str(folder), "--device", "cpu", "--port", "0"]
    with subprocess.Popen(command, stderr=subprocess.PIPE, text=True) as process:
        assert process.stderr is not None
        port = int(re.findall(r":(\d+)/", process.stderr.readline())[0])
        connection = HTTPConnection("127.0.0.1", port, timeout=60)
        connection.request("POST", "/translate", json.dumps({"text": "s2 " * LONGEST}).encode(), JSON)
        assert connection.getresponse().read(1)  # the search has begun
        process.send_signal(signal.SIGINT)
        try:
            assert process.wait(timeout=60) == 130
        finally:
            process.kill()
        assert process.stderr.read() == ""


def test_a_users_mistake_is_one_line(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    command = ["serve", "--model", str(save(tmp_path)), "--device", "cpu"]
    with socket.socket() as taken:
        taken.bind(("127.0.0.1", 0))
        taken.listen()
        port = taken.getsockname()[1]
        assert main([*command, "--port", str(port)]) == 1
    said = f"nmt serve: --host 127.0.0.1 --port {port}: Address already in use; name others\n"
    assert capsys.readouterr().err == said
    assert main([*command, "--port", "65536"]) == 1
    assert capsys.readouterr().err == "nmt serve: --port 65536: must be from 0 to 65535\n"
    assert main([*command, "--beam", "1001"]) == 1
    assert capsys.readouterr().err == "nmt serve: --beam 1001: must be from 1 to 1000\n"
    assert main([*command, "--host", 70 * "ü"]) == 1
    assert capsys.readouterr().err.endswith("--port 8000: no name of a machine; name others\n")
    assert main([*command, "--host", ""]) == 1
    assert "--host: empty, which would let every machine in; name an address" in capsys.readouterr().err
    for name in ("a.example:8000", "https://a.example", "*", "", "ü.example"):
        assert main([*command, "--port", "0", "--allow-host", name]) == 1
        assert f"--allow-host {name}: no name of a host; give it alone, without http" in capsys.readouterr().err
    assert main([*command, "--n-best", "0"]) == 1
    assert capsys.readouterr().err == "nmt serve: --n-best 0: must be from 1 to 1000\n"


# A browser's clock runs ahead of the server's unless the page waits for it.
DRIVER = """<script>
addEventListener('load', async () => {
  const found = {};
  const answered = async () => { do await (await fetch('/')).text(); while (at('said').textContent === '…'); };
  await answered();
  found.source = at('source').textContent;
  found.best = [...document.querySelectorAll('#translations p')].map((one) => one.textContent);
  found.scores = [...document.querySelectorAll('#translations .faint')].map((one) => one.textContent);
  found.rows = document.querySelectorAll('.grid tbody tr').length;
  document.querySelectorAll('#translations button')[1].click();
  found.other = [...document.querySelectorAll('.grid tbody th')].map((one) => one.textContent);
  document.querySelector('#translations span').dispatchEvent(new MouseEvent('mouseover'));
  found.shaded = [...document.querySelectorAll('#source span')].map((one) => one.style.getPropertyValue('--weight'));
  at('text').value = 's2 \\ud800';
  at('form').requestSubmit();
  await answered();
  found.half = at('source').textContent;
  at('text').value = '\\x01';
  at('form').requestSubmit();
  await answered();
  found.refused = at('said').textContent;
  found.hash = location.hash;
  document.title = JSON.stringify(found);
});
</script>"""


def test_a_browser_shows_it(start: Callable[..., int], tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    page = serve.page
    monkeypatch.setattr(serve, "page", lambda trained: page(trained).replace("</body>", f"{DRIVER}</body>"))
    shown = visit(f"http://127.0.0.1:{start()}/#{LINE.replace(' ', '%20')}", width=500)
    title = re.search(r"<title>(.*?)</title>", shown)
    assert title is not None
    found = json.loads(html.unescape(title[1]))
    expected = by_hand(tmp_path / "model", LINE)[:3]
    assert found["source"] == LINE
    assert found["best"] == texts(expected)
    scores = [(one.log_probability, one.log_probability / (len(one.words) + 1)) for one in expected]
    assert found["scores"] == [f"log probability {all:.2f}, {mean:.2f} a word" for all, mean in scores]
    assert found["rows"] == len(expected[0].words) + 1
    assert found["other"] == [*texts(expected)[1].split(), "<eos>"]
    weights = expected[0].alignment[0].tolist()[:-1]
    assert [float(weight) for weight in found["shaded"]] == pytest.approx(weights, abs=3e-3)
    assert found["half"] == "s2?"
    assert found["refused"] == "Not translated: there are no words in it"
    assert found["hash"] == "#%01"


WINDOWS = [(400, False), (900, True), (1400, False)]


@pytest.mark.parametrize(("width", "dark"), WINDOWS)
def test_it_translates_as_one_types_and_at_a_key(
    start: Callable[..., int], tmp_path: Path, width: int, dark: bool
) -> None:
    with browser(f"http://127.0.0.1:{start()}/", width=width, dark=dark) as page:
        assert page.ask("document.activeElement.id") == "text"
        page.press(*"s4 s2")
        page.until("at('source').textContent === 's4 s2' && document.querySelector('.grid') !== null")
        best = texts(by_hand(tmp_path / "model", "s4 s2"))[0]
        assert page.ask("document.querySelector('#translations p').textContent") == best
        page.press("Tab", "Tab", "Tab")
        assert page.ask("at('told').textContent").startswith(f"{best.split()[0]} ← ")
        assert page.ask("document.documentElement.scrollWidth") <= width
        page.press("Shift+Tab", "Enter")
        page.until("at('source').textContent.startsWith('I do not know') && at('said').textContent === ''")
        assert page.ask("at('text').value") == "I do not know where he lives."
        page.ask("document.querySelectorAll('#translations button')[1].focus()")
        page.press("Enter")
        assert page.ask("document.activeElement === document.querySelector('#translations li[aria-current] button')")
        page.ask("location.hash = '#s2%20s4'")  # as a bookmark of this page does
        page.until("at('source').textContent === 's2 s4' && at('text').value === 's2 s4'")
        page.ask("location.hash = ''")
        page.until("at('said').textContent === 'Type a sentence.'")
        assert page.ask("[isolated('a'), isolated('مرحبا')]") == ["a", "\u2068مرحبا\u2069"]


def test_the_unit_is_that_of_the_model_and_the_example_that_of_the_language(tmp_path: Path) -> None:
    trained = load_trained(save(tmp_path), "cpu")
    assert 'data-unit="word"' in serve.page(trained)
    assert '<button id="example">a &lt;b&gt;</button>' in serve.page(trained, "a <b>")
    assert 'id="example"' not in serve.page(replace(trained, languages=("xx", "fr")))


@pytest.mark.parametrize(
    ("status", "kind", "body", "said"),
    [
        (502, "text/html", "<h1>Bad</h1>", "Not translated: the server answers 502 Bad Gateway"),
        (200, "text/html", "<h1>Sign in</h1>", "Not translated: the server answers 200 OK"),
        (403, "text/plain", "not a name\n", "Not translated: the server answers 403 Forbidden: not a name"),
    ],
)
def test_an_error_page_is_shown_as_an_error(
    start: Callable[..., int], status: int, kind: str, body: str, said: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    class Proxy(BaseHTTPRequestHandler):
        def do_GET(self) -> None:
            self.answer(200, "text/html; charset=utf-8", shown)

        def do_POST(self) -> None:
            self.answer(status, kind, body)

        def answer(self, code: int, kind: str, text: str) -> None:
            self.send_response(code)
            self.send_header("Content-Type", kind)
            self.end_headers()
            self.wfile.write(text.encode())

        def log_message(self, format: str, *arguments: Any) -> None:
            """Nothing is logged."""

    connection = HTTPConnection("127.0.0.1", start(), timeout=60)
    connection.request("GET", "/")
    shown = connection.getresponse().read().decode()
    with ThreadingHTTPServer(("127.0.0.1", 0), Proxy) as proxy:
        threading.Thread(target=proxy.serve_forever, kwargs={"poll_interval": 0.01}).start()
        with browser(f"http://127.0.0.1:{proxy.server_port}/#a") as page:
            page.until("at('said').textContent.startsWith('Not')")
            assert page.ask("at('said').textContent") == said
        proxy.shutdown()
