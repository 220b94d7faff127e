// Lists the sentences of a test set and shows the translations of the chosen one, and what each model attends to. Texts
// and weights lie in scripts beside the page, which are loaded on demand: that needs no server.
"use strict";

const nmt = (() => {
  const setup = JSON.parse(at("setup").textContent);
  const SHOWN = 25; // sentences in the list at a time
  const loaded = {}; // file: promise
  const texts = {}; // set: {source, reference, systems}; of each system the translations, null where there is none
  const chunks = {}; // set/number: for each sentence, for each model, the rows of its weights; null without any
  const tabs = [...document.querySelectorAll(".tab")];
  const now = { set: setup.sets[0], line: 0, first: 0, found: [], open: new Set() }; // open: the models whose grids are shown

  function load(file) {
    loaded[file] ??= new Promise((done, failed) => {
      const script = add(document.head, "script", undefined, { src: file });
      script.onload = done;
      script.onerror = () => failed(new Error(`${file} is not beside this page; copy that folder, too`));
    });
    return loaded[file];
  }

  const name = (set, number) => `${setup.folder}/${encodeURIComponent(set)}${number === undefined ? "" : `.${number}`}.js`;

  // The place among `others` of each of `words` that their longest common subsequence has, -1 for the rest.
  function matches(words, others) {
    const width = others.length + 1;
    const longest = new Uint16Array((words.length + 1) * width); // of what follows the first i words and j others
    for (let i = words.length - 1; i >= 0; i--) {
      for (let j = others.length - 1; j >= 0; j--) {
        longest[i * width + j] = words[i] === others[j] ? longest[(i + 1) * width + j + 1] + 1
          : Math.max(longest[(i + 1) * width + j], longest[i * width + j + 1]);
      }
    }
    const places = [];
    for (let j = 0; places.length < words.length;) {
      const i = places.length;
      if (j < others.length && words[i] === others[j]) places.push(j++);
      else if (j === others.length || longest[(i + 1) * width + j] >= longest[i * width + j + 1]) places.push(-1);
      else j++;
    }
    return places;
  }

  // How alike two sentences are, from 0 to 1: the share of their words that match.
  function likeness(one, other) {
    const [words, others] = [split(one), split(other)];
    const matched = matches(words, others).filter((place) => place >= 0).length;
    return words.length + others.length ? (2 * matched) / (words.length + others.length) : 1;
  }

  // For each order of the list, a function of the line; the least comes first.
  const ORDERS = {
    "as in the text": () => (line) => line,
    "shortest first": ({ source }) => (line) => split(source[line]).length,
    "longest first": ({ source }) => (line) => -split(source[line]).length,
    "where two differ most:": (_, one, other) => (line) => likeness(one[line], other[line]),
    "where the first beats the second:": ({ reference }, one, other) => (line) =>
      likeness(other[line], reference[line]) - likeness(one[line], reference[line]),
  };
  const ofTwo = (order) => order.endsWith(":");

  function find() {
    const wanted = at("search").value.toLowerCase();
    const { source, reference, systems } = texts[now.set];
    const order = at("order").value;
    const rank = ORDERS[order](texts[now.set], systems[at("one").value], systems[at("other").value]);
    now.found = [...source.keys()].filter((line) => [source, reference, ...systems].map((text) => running(text[line] ?? ""))
      .concat(line + 1).join("\n").toLowerCase().includes(wanted));
    const ranks = new Map(now.found.map((line) => [line, rank(line)]));
    now.found.sort((one, other) => ranks.get(one) - ranks.get(other));
    now.first = 0;
    at("two").hidden = !ofTwo(order);
  }

  function list() {
    const shown = now.found.slice(now.first, now.first + SHOWN);
    const within = at("list").contains(document.activeElement);
    at("list").replaceChildren();
    for (const line of shown) {
      const button = add(add(at("list"), "li"), "button");
      add(button, "span", line + 1, { class: "faint" });
      add(button, "span", running(texts[now.set].source[line]), { dir: "auto" });
      button.onclick = () => { location.hash = `${now.set}/${line + 1}`; };
      if (line !== now.line) continue;
      button.setAttribute("aria-current", "true");
      if (within) button.focus();
    }
    const last = now.first + shown.length;
    at("count").textContent = shown.length ? `${now.first + 1} to ${last} of ${now.found.length}` : "none";
    at("back").disabled = now.first === 0;
    at("on").disabled = last >= now.found.length;
  }

  // Marks the words of a translation that the reference has not, and where words of the reference are missing.
  function compare(spans, sentence, reference) {
    const others = split(reference);
    const places = matches(split(sentence), others);
    let next = 0; // word of the reference
    let replaced = false;
    [...places, others.length].forEach((place, word) => {
      if (place < 0) {
        spans[word].className = "other";
        replaced = true;
        return;
      }
      if (place > next && !replaced) {
        const gap = document.createElement("span");
        gap.className = "missing";
        gap.title = `missing: ${others.slice(next, place).join(" ")}`;
        if (word < spans.length) spans[word].before(gap);
        else spans.at(-1)?.after(gap);
      }
      next = place + 1;
      replaced = false;
    });
  }

  function sentence() {
    const { source, reference, systems } = texts[now.set];
    const number = Math.floor(now.line / setup.chunk);
    const rows = chunks[`${now.set}/${number}`][now.line - number * setup.chunk];
    const panel = at("sentence");
    panel.replaceChildren();
    add(panel, "h3", `Sentence ${now.line + 1} of ${now.set}`);
    const sources = write(add(panel, "p", undefined, { class: "source" }), source[now.line]);
    const cards = add(panel, "div", undefined, { class: "cards" });
    const right = add(cards, "article");
    add(right, "h4", "Reference");
    write(add(right, "p"), reference[now.line]);
    setup.systems.forEach((label, system) => {
      const card = add(cards, "article");
      add(card, "h4", label);
      const found = systems[system][now.line];
      if (found === null) {
        add(card, "p", "not translated", { class: "faint" });
        return;
      }
      const spans = write(add(card, "p"), found);
      compare(spans, found, reference[now.line]);
      if (rows[system]?.length) {
        follow(spans, sources, rows[system]);
        const button = add(card, "button", "Alignment", { "aria-pressed": now.open.has(system) });
        button.onclick = () => {
          if (!now.open.delete(system)) now.open.add(system);
          button.setAttribute("aria-pressed", now.open.has(system));
          grids();
        };
      } else if (system < setup.models) add(card, "p", "From a fixed vector: it has no alignment.", { class: "faint" });
    });

    function grids() {
      at("grids").replaceChildren();
      for (const system of [...now.open].sort().filter((open) => rows[open]?.length)) {
        add(at("grids"), "h4", setup.systems[system]);
        grid(at("grids"), source[now.line], systems[system][now.line], rows[system]);
      }
    }
    grids();
  }

  // The part of the page that the address names; null where it names a sentence or nothing.
  const hash = () => { try { return decodeURIComponent(location.hash.slice(1)); } catch { return ""; } };
  const part = () => at(hash());

  // The set and the line that the address names, if any.
  function named() {
    const [, set, number] = /^(.*)\/([1-9][0-9]*)$/.exec(hash()) ?? [];
    return setup.sets.includes(set) ? { set, line: number - 1 } : null;
  }

  async function go() {
    const shown = part()?.closest(".tab") ?? at("sentences");
    for (const tab of tabs) {
      tab.hidden = tab !== shown;
      document.querySelector(`.tabs a[href="#${tab.id}"]`).ariaCurrent = tab === shown ? "page" : null;
    }
    if (part()) (part() === shown ? document.body : part()).scrollIntoView();
    if (shown !== at("sentences")) return;
    const asked = named();
    const other = asked && asked.set !== now.set;
    if (asked) Object.assign(now, asked);
    try {
      await load(name(now.set));
      now.line = Math.min(now.line, texts[now.set].source.length - 1);
      if (other || !now.found.length) find();
      const place = now.found.indexOf(now.line);
      if (asked && place >= 0) now.first = SHOWN * Math.floor(place / SHOWN);
      list();
      await load(name(now.set, Math.floor(now.line / setup.chunk)));
      sentence();
      const { top } = at("sentence").getBoundingClientRect();
      if (asked && (top < 0 || top > innerHeight / 2)) at("sentence").scrollIntoView();
    } catch (error) {
      at("sentence").textContent = error.message;
    }
    at("set").value = now.set;
  }

  // Left and right choose the sentence before and after; so do up and down from the list and the search.
  document.addEventListener("keydown", (event) => {
    const step = { ArrowLeft: -1, ArrowUp: -1, ArrowRight: 1, ArrowDown: 1 }[event.key];
    const vertical = ["ArrowUp", "ArrowDown"].includes(event.key);
    if (!step || event.altKey || event.ctrlKey || event.metaKey || event.shiftKey || at("sentences").hidden) return;
    if (vertical ? !event.target.closest("#list, #search") : event.target.closest("input, select, .scroll")) return;
    event.preventDefault();
    const line = now.found[now.found.indexOf(now.line) + step];
    if (line !== undefined) location.replace(`#${now.set}/${line + 1}`);
  });

  for (const set of setup.sets) add(at("set"), "option", set);
  for (const order of Object.keys(ORDERS)) if (setup.systems.length > 1 || !ofTwo(order)) add(at("order"), "option", order);
  for (const select of [at("one"), at("other")]) {
    setup.systems.forEach((label, system) => add(select, "option", label, { value: system }));
  }
  at("other").value = setup.systems.length > 1 ? 1 : 0;
  at("set").onchange = () => { location.hash = `${at("set").value}/1`; };
  at("search").oninput = () => { find(); list(); };
  for (const id of ["order", "one", "other"]) at(id).onchange = at("search").oninput;
  at("back").onclick = () => { now.first -= SHOWN; list(); };
  at("on").onclick = () => { now.first += SHOWN; list(); };
  window.onhashchange = go;
  window.addEventListener("load", go);
  return {
    text: (set, text) => { texts[set] = text; },
    chunk: (set, number, sentences) => { chunks[`${set}/${number}`] = sentences; },
  };
})();
