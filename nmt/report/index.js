// Lists the sentences of a test set and shows what each model attends to as it translates the chosen one. Texts and alignments
// lie in scripts beside the page, which are loaded on demand: that needs no server.
"use strict";

const nmt = (() => {
  const setup = JSON.parse(document.getElementById("setup").textContent);
  const SHOWN = 25; // sentences in the list at a time
  const loaded = {}; // file: promise
  const texts = {}; // set: {source, reference and, if there is one, baseline}
  const chunks = {}; // set/number: for each sentence, for each model, [words, weights]
  const at = (id) => document.getElementById(id);
  const now = { set: setup.sets[0], line: 0, first: 0, found: [] };

  function add(parent, tag, text, attributes = {}) {
    const element = document.createElement(tag);
    if (text !== undefined) element.textContent = text;
    for (const [name, value] of Object.entries(attributes)) element.setAttribute(name, value);
    return parent.appendChild(element);
  }

  function load(file) {
    loaded[file] ??= new Promise((done, failed) => {
      const script = add(document.head, "script", undefined, { src: file });
      script.onload = done;
      script.onerror = () => failed(new Error(`${file} is not beside this page; copy that folder, too`));
    });
    return loaded[file];
  }

  const name = (set, number) => `${setup.folder}/${encodeURIComponent(set)}${number === undefined ? "" : `.${number}`}.js`;

  function find() {
    const wanted = at("search").value.toLowerCase();
    const { source, reference } = texts[now.set];
    now.found = [...source.keys()].filter((line) =>
      `${line + 1}\n${source[line]}\n${reference[line]}`.toLowerCase().includes(wanted));
    now.first = 0;
  }

  function list() {
    const shown = now.found.slice(now.first, now.first + SHOWN);
    at("list").replaceChildren();
    for (const line of shown) {
      const attributes = line === now.line ? { "aria-current": "true" } : {};
      const button = add(add(at("list"), "li"), "button", undefined, attributes);
      add(button, "span", line + 1, { class: "faint" });
      add(button, "span", texts[now.set].source[line]);
      button.onclick = () => { location.hash = `${now.set}/${line + 1}`; };
    }
    const last = now.first + shown.length;
    at("count").textContent = shown.length ? `${now.first + 1} to ${last} of ${now.found.length}` : "none";
    at("back").disabled = now.first === 0;
    at("on").disabled = last >= now.found.length;
  }

  function heatmap(parent, source, words, weights) {
    const columns = weights.length / 2 / words.length;
    const sources = [...source.split(" ").slice(0, columns - 1), "<eos>"];
    const table = add(add(parent, "div", undefined, { class: "scroll", tabindex: 0 }), "table", undefined, { class: "alignment" });
    const said = add(parent, "p", "Point at a cell to see its words and its weight.", { class: "faint" });
    const head = add(add(table, "thead"), "tr");
    add(head, "td").style.outline = "none";
    for (const word of sources) add(add(head, "th"), "span", word);
    const body = add(table, "tbody");
    words.forEach((word, row) => {
      const line = add(body, "tr");
      add(line, "th", word);
      sources.forEach((other, column) => {
        const place = 2 * (row * columns + column);
        const weight = parseInt(weights.slice(place, place + 2), 16) / 255;
        const cell = add(line, "td");
        cell.style.setProperty("--weight", weight.toFixed(3));
        cell.onmouseover = cell.onclick = () => { said.textContent = `${word} ← ${other}: ${weight.toFixed(2)}`; };
      });
    });
  }

  function sentence() {
    const { source, reference, baseline } = texts[now.set];
    const number = Math.floor(now.line / setup.chunk);
    const models = chunks[`${now.set}/${number}`][now.line - number * setup.chunk];
    const panel = at("sentence");
    panel.replaceChildren();
    add(panel, "h3", `Sentence ${now.line + 1} of ${now.set}`);
    const terms = add(panel, "dl");
    add(terms, "dt", "Source");
    add(terms, "dd", source[now.line]);
    add(terms, "dt", "Reference");
    add(terms, "dd", reference[now.line]);
    if (baseline) {
      add(terms, "dt", setup.baseline);
      add(terms, "dd", baseline[now.line]);
    }
    setup.models.forEach((label, model) => {
      add(panel, "h4", label);
      if (!models[model]) {
        add(panel, "p", "not translated", { class: "faint" });
        return;
      }
      const [words, weights] = models[model];
      add(panel, "p", words.filter((word, place) => word !== "<eos>" || place < words.length - 1).join(" "));
      if (weights === null) add(panel, "p", "From a fixed vector: it has no alignment.", { class: "faint" });
      else if (words.length) heatmap(panel, source[now.line], words, weights);
    });
  }

  // The set and the line that the address names, if any.
  function named() {
    try {
      const [, set, number] = /^(.*)\/([1-9][0-9]*)$/.exec(decodeURIComponent(location.hash.slice(1)));
      return setup.sets.includes(set) ? { set, line: number - 1 } : null;
    } catch {
      return null; // another form, or a % that stands for no character
    }
  }

  async function go() {
    const asked = named();
    const other = asked && asked.set !== now.set;
    if (asked) Object.assign(now, asked);
    try {
      await load(name(now.set));
      now.line = Math.min(now.line, texts[now.set].source.length - 1);
      if (other || !now.found.length) find();
      if (asked && !now.found.slice(now.first, now.first + SHOWN).includes(now.line)) {
        now.first = Math.max(0, SHOWN * Math.floor(now.found.indexOf(now.line) / SHOWN));
      }
      list();
      await load(name(now.set, Math.floor(now.line / setup.chunk)));
      sentence();
      if (asked) at("sentence").scrollIntoView({ block: "start" });
    } catch (error) {
      at("sentence").textContent = error.message;
    }
    at("set").value = now.set;
  }

  for (const set of setup.sets) add(at("set"), "option", set);
  at("set").onchange = () => { location.hash = `${at("set").value}/1`; };
  at("search").oninput = () => { find(); list(); };
  at("back").onclick = () => { now.first -= SHOWN; list(); };
  at("on").onclick = () => { now.first += SHOWN; list(); };
  window.onhashchange = go;
  window.addEventListener("load", go);
  return {
    text: (set, text) => { texts[set] = text; },
    chunk: (set, number, sentences) => { chunks[`${set}/${number}`] = sentences; },
  };
})();
