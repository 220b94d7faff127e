// Sends what is typed to the server, and shows the translation as it is found, then the n best.
"use strict";

{
  let request = new AbortController();

  const say = (text) => { at("said").textContent = text; };

  function show({ source, translations, done }, chosen = 0) {
    at("source").replaceChildren();
    const sources = write(at("source"), source);
    at("translations").replaceChildren();
    translations.forEach(({ text, rows, log_probability: score, symbols }, place) => {
      const item = add(at("translations"), "li", undefined, place === chosen ? { "aria-current": "true" } : {});
      const spans = write(add(item, "p"), text);
      if (rows) follow(spans, sources, rows);
      if (!done) return;
      add(item, "span", `log probability ${score.toFixed(2)}, ${(score / symbols).toFixed(2)} a symbol`, { class: "faint" });
      if (rows) add(item, "button", "Alignment").onclick = () => show({ source, translations, done }, place);
    });
    const { text, rows } = translations[chosen];
    at("grid").replaceChildren();
    if (rows?.length) grid(at("grid"), source, text, rows);
    else if (!rows) add(at("grid"), "p", "From a fixed vector: it has no alignment.", { class: "faint" });
  }

  async function translate() {
    request.abort();
    request = new AbortController();
    const text = at("text").value;
    if (!text.trim()) return say("Type a sentence.");
    history.replaceState(null, "", `#${encodeURIComponent(text)}`);
    say("…");
    try {
      const headers = { "Content-Type": "application/json" };
      const response = await fetch("translate", { method: "POST", headers, body: JSON.stringify({ text }), signal: request.signal });
      if (!response.ok) throw new Error((await response.json()).error);
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

  at("form").onsubmit = (event) => { event.preventDefault(); translate(); };
  at("text").onkeydown = (event) => {
    if (event.key !== "Enter" || event.shiftKey || event.isComposing) return;
    event.preventDefault();
    translate();
  };
  say("");
  try { at("text").value = decodeURIComponent(location.hash.slice(1)); } catch { /* no text */ }
  if (at("text").value) translate();
}
