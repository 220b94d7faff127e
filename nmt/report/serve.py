"""Serve a page on which a trained model translates what you type and shows what it attends to.

There is one page and one kind of request, so the standard library's server is enough, and nothing needs to be
installed. Requests take turns at the model.
"""

from __future__ import annotations

import argparse
import json
import os
import re
import select
import sys
import threading
import time
from collections.abc import Callable, Sequence
from contextlib import suppress
from http import HTTPStatus
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from ipaddress import IPv4Address, IPv6Address, ip_address
from typing import TYPE_CHECKING, Any

from nmt.corpora.pieces import Pieces
from nmt.report.page import document, escape, reader, script, shades
from nmt.search.text import add_model_argument, to_symbols
from nmt.settings.sections import WIDEST_BEAM, Translate
from nmt.system.errors import UserError
from nmt.system.options import add_device_arguments

if TYPE_CHECKING:
    from nmt.search.beam import Hypothesis
    from nmt.search.translator import Translator
    from nmt.trained import TrainedModel

LOOPBACK = "127.0.0.1"
LARGEST = 2**16  # bytes of a request
SILENT_SECONDS = 60  # after which a connection is closed
PAUSE_SECONDS = 0.1  # between two states of a translation, at least
LONGEST_SEARCH = 20  # seconds; then the best translations so far are returned, because other requests wait
HOST = re.compile(r"\w[\w.-]*", re.ASCII)  # a name as browsers send it
PORT = re.compile(r":\d*$", re.ASCII)
SHARE = 4  # a pause is at least this many times as long as showing a state took
EXAMPLES = """\
example:
  %(prog)s --model models/en-fr
and open http://127.0.0.1:8000/ in a browser.
"""

SENTENCES = {  # an example in some languages
    "en": "I do not know where he lives.",
    "fr": "Je ne sais pas où il habite.",
    "de": "Ich weiß nicht, wo er wohnt.",
    "fi": "En tiedä, missä hän asuu.",
    "es": "No sé dónde vive.",
}

Message = dict[str, Any]


def add_arguments(parser: argparse.ArgumentParser) -> None:
    parser.epilog = EXAMPLES
    add_model_argument(parser)
    parser.add_argument(
        "--host",
        default=LOOPBACK,
        help="address to listen on; any but a loopback address lets other machines in (default: %(default)s)",
    )
    parser.add_argument(
        "--allow-host",
        nargs="+",
        default=[],
        metavar="NAME",
        help="names by which browsers may call this server, such as that of a proxy in front of it (default: its own)",
    )
    parser.add_argument(
        "--example",
        metavar="SENTENCE",
        help="a sentence that the page offers to translate (default: one in the language, if the program has any)",
    )
    parser.add_argument("--port", type=int, default=8000, help="0 takes one that is free (default: %(default)s)")
    parser.add_argument(
        "--tokenized",
        action="store_true",
        help="for a model of text that came tokenized: what is typed has spaces between words (default: plain text)",
    )
    parser.add_argument(
        "--beam", type=int, default=Translate.beam, metavar="K", help="beam width (default: %(default)s)"
    )
    parser.add_argument(
        "--n-best", type=int, default=5, metavar="N", help="translations to show, at most K (default: %(default)s)"
    )
    add_device_arguments(parser)


def run(arguments: argparse.Namespace) -> None:
    # These import PyTorch, which takes seconds: too long for --help.
    from nmt.search.translator import Translator
    from nmt.system.device import prepare
    from nmt.trained import load_trained

    for option, number in (("--beam", arguments.beam), ("--n-best", arguments.n_best)):
        if not 1 <= number <= WIDEST_BEAM:
            raise UserError(f"{option} {number}: must be from 1 to {WIDEST_BEAM}")
    if not arguments.host:
        raise UserError(f"--host: empty, which would let every machine in; name an address, such as {LOOPBACK}")
    trained = load_trained(arguments.model, prepare(arguments))
    trained.freeze()
    service = Service(Translator(trained, arguments.tokenized), arguments.beam, arguments.n_best)
    shown = page(trained, arguments.example)
    with server(service, shown, arguments.host, arguments.port, arguments.allow_host) as found:
        print(f"nmt serve: http://{arguments.host}:{found.server_port}/ (Ctrl-C ends it)", file=sys.stderr, flush=True)
        try:
            found.serve_forever()
        except KeyboardInterrupt:
            os._exit(130)  # any other end aborts a process of which another thread is in PyTorch


class Service:
    """Translates a sentence at a time, whatever the number of threads that call it."""

    def __init__(self, translator: Translator, beam: int, n_best: int) -> None:
        self._translator, self._beam, self._n_best = translator, beam, n_best
        trained = translator.trained
        languages = (None, None) if translator.tokenized else trained.tokenizers
        self._read_source, self._read = (
            reader(language, pieces=not trained.has_words(side)) for side, language in enumerate(languages)
        )
        self._turn = threading.Lock()

    def translate(self, text: str, show: Callable[[Message], None]) -> Message:
        """Show the best translation while it is found, and return the n best; an error of `show` ends the search.

        A message has the source and each translation as `reader` gives them, with its rows of weights, if any. For each
        translation it also has log p(y | x) in nats and the number of symbols that this covers.

        There is one search, which is not repeated with a wider beam and takes at most LONGEST_SEARCH seconds.
        """
        from nmt.search.beam import BeamSettings, search

        translator, trained = self._translator, self._translator.trained
        [words] = translator.words([text])
        [symbols] = to_symbols([words], trained.source, "the text")
        if not symbols:
            return {"error": "there are no words in it"}
        settings = BeamSettings(self._beam, n_best=min(self._n_best, self._beam), alignments=True, fallback=False)
        silent_until = 0.0

        def message(found: Sequence[Hypothesis], done: bool) -> Message:
            translations = []
            for one in (translator.translation(words, symbols, hypothesis) for hypothesis in found):
                rows, used = None if one.weights is None else shades(one.weights), one.source[:-1]
                shown = {"text": self._read(one.target[:-1] if one.ended else one.target), "rows": rows}
                translations.append({**shown, "log_probability": one.log_probability, "symbols": one.length})
            given = len(words) if trained.has_words(0) else len(trained.source.split(words))
            notes = [] if len(used) == given else [f"Only the first {len(used)} of {given} words were used."]
            if not found[0].ended:
                notes.append("The translation did not end and is cut off.")
            answer = {"source": self._read_source(used), "translations": translations, "done": done}
            return {**answer, "note": " ".join(notes)}

        def watch(leader: Callable[[], Hypothesis]) -> bool:
            nonlocal silent_until
            start = time.monotonic()
            if silent_until <= start < end_of_turn:
                show(message([leader()], False))
                end = time.monotonic()
                silent_until = end + max(PAUSE_SECONDS, SHARE * (end - start))
            return start >= end_of_turn

        with self._turn:
            end_of_turn = time.monotonic() + LONGEST_SEARCH
            [best] = search(trained.model, [trained.source.ids(symbols)], settings, watch)
        return message(best, True)


class _Server(ThreadingHTTPServer):
    daemon_threads = True
    request_queue_size = 128

    def handle_error(self, request: Any, client_address: Any) -> None:
        """Ignore a browser that has closed its connection."""
        if not isinstance(sys.exception(), ConnectionError | TimeoutError):
            super().handle_error(request, client_address)


def server(service: Service, page: str, host: str, port: int, allowed: Sequence[str]) -> ThreadingHTTPServer:
    """A server of `page`; `serve_forever` answers requests. UserError where it cannot listen there.

    Browsers may call it by the names `allowed`, besides its own.
    """
    for name in allowed:
        if not _is_host(name):
            raise UserError(f"--allow-host {name}: no name of a host; give it alone, without http:// and without port")
    content = page.encode(errors="replace")  # what was given in other bytes than UTF-8
    names = {"localhost", *(name.lower() for name in (host, *allowed))}

    class Handler(BaseHTTPRequestHandler):
        timeout = SILENT_SECONDS
        server_version = "nmt"

        def do_GET(self) -> None:
            if self._is_foreign():
                return
            if self.path != "/":
                self._answer(HTTPStatus.NOT_FOUND, b"no such page\n", "text/plain")
                return
            self._answer(HTTPStatus.OK, content, "text/html; charset=utf-8")

        def do_POST(self) -> None:
            if self._is_foreign():
                return
            try:
                text = self._text()
            except ValueError as error:
                self._answer(HTTPStatus.BAD_REQUEST, json.dumps({"error": str(error)}).encode(), "application/json")
                return
            self._head(HTTPStatus.OK, "application/x-ndjson")
            self._unsent = b""
            answer = service.translate(text, self._show)
            self.wfile.write(self._unsent + _line(answer))

        def _text(self) -> str:
            """The text of the request; ValueError where there is none."""
            length = self.headers.get("Content-Length", "")
            if self.path != "/translate" or self.headers.get_content_type() != "application/json":
                raise ValueError("send JSON to /translate")
            if not (length.isascii() and length.isdecimal()):
                raise ValueError("give the number of bytes of the JSON as Content-Length")
            if len(length) > 10 or int(length) > LARGEST:
                raise ValueError(f"too long; send at most {LARGEST} bytes")
            try:
                text = json.loads(self.rfile.read(int(length)))["text"]
                # A half of a surrogate pair has no bytes, and a line is a sentence.
                text = " ".join(text.encode(errors="replace").decode().split())
            except (ValueError, LookupError, TypeError, AttributeError, RecursionError):
                raise ValueError('send {"text": "..."}') from None
            if not text:
                raise ValueError("there is no text to translate")
            return text

        def _is_foreign(self) -> bool:
            """Refuse requests under a foreign host name: another site may have its name lead here."""
            name = PORT.sub("", self.headers.get("Host", "").rpartition("@")[2]).strip("[]").lower()
            here = self.connection.getsockname()[0]
            if not _is_loopback(here) or name in names or _is_loopback(name):
                return False
            if _is_host(name):
                advice = f"if it is behind a proxy, start it with --allow-host {name}"
            else:
                advice = "send its name as Host"
            said = f"{name!a} is not a name of this server; {advice}\n"
            self._answer(HTTPStatus.FORBIDDEN, said.encode(), "text/plain")
            return True

        def _head(self, status: HTTPStatus, kind: str) -> None:
            self.send_response(status)
            self.send_header("Content-Type", kind)
            self.send_header("Cache-Control", "no-store")
            self.send_header(
                "Content-Security-Policy",
                "default-src 'none'; script-src 'unsafe-inline'; style-src 'unsafe-inline'; connect-src 'self'",
            )
            self.end_headers()

        def _answer(self, status: HTTPStatus, body: bytes, kind: str) -> None:
            self._head(status, kind)
            self.wfile.write(body)

        def _show(self, message: Message) -> None:
            """Send what the client takes at once, because others wait for the model; drop what comes meanwhile."""
            self._unsent = self._unsent or _line(message)
            writable = select.poll()  # which takes any number of connections, unlike select.select
            writable.register(self.connection, select.POLLOUT)
            if writable.poll(0):
                self._unsent = self._unsent[self.connection.send(self._unsent) :]

        def log_message(self, format: str, *arguments: Any) -> None:
            """Nothing is logged."""

    if not 0 <= port < 2**16:
        raise UserError(f"--port {port}: must be from 0 to {2**16 - 1}")
    try:
        return _Server((host, port), Handler)
    except (OSError, UnicodeError, TypeError) as error:  # of a name that is too long
        reason = error.strerror if isinstance(error, OSError) else "no name of a machine"
        raise UserError(f"--host {host} --port {port}: {reason}; name others") from None


def _line(message: Message) -> bytes:
    return f"{json.dumps(message)}\n".encode()


def _is_host(name: str) -> bool:
    """Whether `name` is a name or an address, in digits, that a machine may have."""
    return HOST.fullmatch(name) is not None or _address(name) is not None


def _is_loopback(name: str) -> bool:
    """Whether `name` is an address, in digits, of this machine to itself."""
    address = _address(name)
    return address is not None and address.is_loopback


def _address(name: str) -> IPv4Address | IPv6Address | None:
    with suppress(ValueError):
        return ip_address(name)
    return None


def page(trained: TrainedModel, example: str | None = None) -> str:
    """The page of a model, which offers to translate an example if there is one."""
    source, target = trained.languages
    example = example or SENTENCES.get(source)
    offer = f'<p class="faint">For example: <button id="example">{escape(example)}</button></p>\n' if example else ""
    codes = trained.target.codes
    unit = "word" if codes is None else "piece" if isinstance(codes, Pieces) else "subword"
    title = f"{trained.folder.resolve().name}: {source} to {target}"
    body = f"""<h1>{escape(title)}</h1>
<form id="form" class="controls"><textarea id="text" rows="3" dir="auto" aria-label="Text to translate"
 placeholder="A sentence to translate, as you type" autofocus></textarea> <button>Translate</button></form>
{offer}<p id="said" class="faint" role="status">This needs JavaScript.</p>
<div class="source"><p id="source"></p>
<p id="told" class="faint" role="status"></p></div>
<ol id="translations" data-unit="{unit}"></ol>
<div id="grid"></div>
{script("serve.js")}"""
    return document(title, body)
