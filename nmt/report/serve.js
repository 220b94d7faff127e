// Sends what is typed to the server as one types, and shows the translation as it is found, then the n best.
"use strict";

{
  const PAUSE = 400; // milliseconds without a key, after which what is typed is translated
  let request = new AbortController();
  let pause;

  const say = (text) => { at("said").textContent = text; };

  function show({ source, translations, done }, chosen = 0) {
    at("source").replaceChildren();
    const sources = write(at("source"), source);
    at("translations").replaceChildren();
    translations.forEach(({ text, rows, log_probability: score, symbols }, place) => {
      const item = add(at("translations"), "li", undefined, place === chosen ? { "aria-current": "true" } : {});
      const words = add(item, "p");
      const spans = write(words, text);
      if (rows) {
        const places = new Map(spans.map((span, word) => [span, word]));
        follow(words, spans, sources, at("told"), (word) => rows[places.get(word)], (word) =>
          `${isolated(word.textContent)} ← ${attended(rows[places.get(word)], split(source))}`);
      }
      if (!done) return;
      const { unit } = at("translations").dataset;
      add(item, "span", `log probability ${score.toFixed(2)}, ${(score / symbols).toFixed(2)} a ${unit}`, { class: "faint" });
      if (rows) {
        add(item, "button", "Alignment").onclick = () => {
          show({ source, translations, done }, place);
          at("translations").querySelectorAll("button")[place].focus();
        };
      }
    });
    const { text, rows } = translations[chosen];
    at("grid").replaceChildren();
    if (rows?.length) grid(at("grid"), source, text, rows, "Alignment");
    else if (!rows) add(at("grid"), "p", "From a fixed vector: it has no alignment.", { class: "faint" });
  }

  // Why there is no translation: what the server says or, where something before it answers, what kind of answer that is.
  async function reason(response) {
    const text = await response.text();
    try { return JSON.parse(text).error; } catch { /* no answer to a translation */ }
    const plain = response.headers.get("Content-Type")?.startsWith("text/plain");
    return `the server answers ${response.status} ${response.statusText}${plain ? `: ${text.trim()}` : ""}`;
  }

  async function translate() {
    clearTimeout(pause);
    request.abort();
    request = new AbortController();
    const text = at("text").value;
    if (!text.trim()) return say("Type a sentence.");
    try { history.replaceState(null, "", `#${encodeURIComponent(text)}`); } catch { /* half of a surrogate pair */ }
    say("…");
    try {
      const headers = { "Content-Type": "application/json" };
      const response = await fetch("translate", { method: "POST", headers, body: JSON.stringify({ text }), signal: request.signal });
      if (response.headers.get("Content-Type") !== "application/x-ndjson") throw new Error(await reason(response));
      const reader = response.body.pipeThrough(new TextDecoderStream()).getReader();
      let rest = "";
      let message = { done: false };
      for (let { value, done } = await reader.read(); !done; { value, done } = await reader.read()) {
        const lines = (rest + value).split("\n");
        rest = lines.pop();
        if (!lines.length) continue;
        message = JSON.parse(lines.at(-1));
        if (message.error) throw new Error(message.error);
        show(message);
      }
      if (!message.done) throw new Error("the server ended before the translation was found");
      say(message.note);
    } catch (error) {
      if (error.name !== "AbortError") say(`Not translated: ${error.message}`);
    }
  }

  at("text").oninput = ({ isComposing }) => {
    clearTimeout(pause);
    if (!isComposing) pause = setTimeout(translate, PAUSE);
  };
  at("text").addEventListener("compositionend", at("text").oninput);
  if (at("example")) {
    at("example").onclick = () => {
      at("text").value = at("example").textContent;
      translate();
    };
  }
  at("form").onsubmit = (event) => { event.preventDefault(); translate(); };
  at("text").onkeydown = (event) => {
    if (event.key !== "Enter" || event.shiftKey || event.isComposing) return;
    event.preventDefault();
    translate();
  };
  function takeFromAddress() {
    try { at("text").value = decodeURIComponent(location.hash.slice(1)); } catch { /* no text */ }
  }

  addEventListener("hashchange", () => { takeFromAddress(); translate(); });
  say("");
  takeFromAddress();
  if (at("text").value) translate();
}
