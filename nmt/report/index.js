// Lists the sentences of a test set and shows the translations of the chosen one, and what each model attends to. Texts
// and weights lie in scripts beside the page, which are loaded on demand: that needs no server.
"use strict";

const nmt = (() => {
  const setup = JSON.parse(at("setup").textContent);
  const SHOWN = 25; // sentences in the list at a time
  const loaded = {}; // file: promise
  const texts = {}; // set: {source, reference, systems, scores}; of each system the translations, null where there is none
  const chunks = {}; // set/number: for each sentence, for each model, the rows of its weights; null without any
  const tabs = [...document.querySelectorAll(".tab")];
  // The chosen set and line, the lines that are found and the first in the list, the models whose alignments are open.
  const now = { set: setup.sets[0], line: 0, found: null, first: 0, open: [] };

  function load(file) {
    loaded[file] ??= new Promise((done, failed) => {
      const src = file.split("/").map(encodeURIComponent).join("/");
      const script = add(document.head, "script", undefined, { src });
      script.onload = done;
      script.onerror = () => failed(new Error(`${file} is not beside this page; copy that folder, too`));
    });
    return loaded[file];
  }

  const name = (set, number) => `${setup.folder}/${set}${number === undefined ? "" : `~${number}`}.js`;

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

  // For each order of the list, how many systems it needs and, with their scores, a function of the line; the least comes
  // first. A sentence that is not translated counts as one of score 0.
  const ORDERS = {
    "as in the text": { systems: 0, rank: () => (line) => line },
    "shortest first": { systems: 0, rank: (source) => (line) => split(source[line]).length },
    "longest first": { systems: 0, rank: (source) => (line) => -split(source[line]).length },
    "lowest chrF first:": { systems: 1, rank: (_, one) => (line) => one[line] },
    "where two differ most in chrF:": { systems: 2, rank: (_, one, other) => (line) => -Math.abs(one[line] - other[line]) },
    "where the first beats the second:": { systems: 2, rank: (_, one, other) => (line) => other[line] - one[line] },
  };
  const order = () => ORDERS[at("order").value];
  const compared = () => [at("one"), at("other")].slice(0, order().systems).map(({ value }) => texts[now.set].scores[value]);

  // What is searched for, found wherever it stands and in either case.
  const pattern = () => new RegExp(at("search").value.trim().replace(/[\\^$.*+?()[\]{}|]/g, "\\$&"), "giu");

  function find() {
    const { source, reference, systems } = texts[now.set];
    const wanted = pattern();
    now.found = [...source.keys()].filter((line) => [source, reference, ...systems].map((text) => running(text[line] ?? ""))
      .concat(line + 1).some((text) => String(text).search(wanted) >= 0));
    const rank = order().rank(source, ...compared());
    const ranks = new Map(now.found.map((line) => [line, rank(line)]));
    now.found.sort((one, other) => ranks.get(one) - ranks.get(other));
    now.first = 0;
  }

  // The scores by which the list is sorted.
  function amounts(line) {
    const [one, other] = compared().map((scores) => scores[line] ?? 0);
    if (one === undefined) return "";
    if (other === undefined) return `chrF ${one.toFixed(1)}`;
    return `chrF ${one.toFixed(1)} and ${other.toFixed(1)}: ${one < other ? "−" : "+"}${Math.abs(one - other).toFixed(1)}`;
  }

  function list() {
    const shown = now.found.slice(now.first, now.first + SHOWN);
    const within = at("list").contains(document.activeElement);
    at("list").replaceChildren();
    for (const line of shown) {
      const chosen = line === now.line;
      const item = add(at("list"), "li", undefined, { role: "option", "aria-selected": chosen });
      add(item, "span", line + 1, { class: "faint" });
      const text = add(item, "span");
      add(text, "span", running(texts[now.set].source[line]), { dir: "auto", class: "text" });
      if (compared().length) add(text, "span", amounts(line), { class: "faint amounts" });
      item.onclick = () => { location.hash = `${now.set}/${line + 1}`; };
      item.tabIndex = chosen || (line === shown[0] && !shown.includes(now.line)) ? 0 : -1;
      if (chosen && within) item.focus();
    }
    const last = now.first + shown.length;
    at("count").textContent = shown.length ? `${now.first + 1} to ${last} of ${now.found.length}` : "none";
    at("back").disabled = now.first === 0;
    at("on").disabled = last >= now.found.length;
  }

  // Marks what a search has found, in browsers that can.
  function highlight() {
    if (!CSS.highlights) return;
    const ranges = [];
    for (const element of at("search").value.trim() ? document.querySelectorAll("#list li > .faint, .text") : []) {
      const walker = document.createTreeWalker(element, NodeFilter.SHOW_TEXT);
      const nodes = [];
      while (walker.nextNode()) nodes.push(walker.currentNode);
      const place = (offset) => {
        let node = 0;
        while (offset > nodes[node].length) offset -= nodes[node++].length;
        return [nodes[node], offset];
      };
      for (const { 0: { length }, index } of element.textContent.matchAll(pattern())) {
        const range = new Range();
        range.setStart(...place(index));
        range.setEnd(...place(index + length));
        ranges.push(range);
      }
    }
    CSS.highlights.set("found", new Highlight(...ranges));
  }

  // Marks the words of a translation that the reference has not, or not there, and where words of the reference are
  // missing; returns the words and these places in order, and what there is to say of each.
  function compare(spans, sentence, reference) {
    const others = split(reference);
    const places = matches(split(sentence), others);
    const about = new Map();
    let next = 0; // word of the reference
    let replaced = false;
    [...places, others.length].forEach((place, word) => {
      const span = spans[word];
      if (place < 0) {
        span.className = others.includes(span.textContent) ? "moved" : "other";
        about.set(span, span.className === "other" ? "not in the reference" : "in the reference, but in another order or not as often");
        replaced = true;
        return;
      }
      if (place > next && !replaced && spans.length) {
        const gap = document.createElement("span");
        gap.className = "missing";
        gap.dataset.words = place - next;
        const missing = `missing: ${others.slice(next, place).join(" ")}`;
        Object.entries({ title: missing, role: "img", "aria-label": missing }).forEach((pair) => gap.setAttribute(...pair));
        if (span) span.before(gap);
        else spans.at(-1).after(gap);
        about.set(gap, missing);
      }
      if (span) about.set(span, "");
      next = place + 1;
      replaced = false;
    });
    return about;
  }

  // A system's name and its BLEU on the set.
  const named = (system) => `${setup.systems[system]} (${setup.bleu[now.set][system].toFixed(2)} BLEU)`;

  function sentence(rows) {
    const { source, reference, systems, scores } = texts[now.set];
    const panel = at("sentence");
    panel.replaceChildren();
    add(panel, "h2", `Sentence ${now.line + 1} of ${now.set}`);
    const translations = add(panel, "div");
    const bar = add(translations, "div", undefined, { class: "source" });
    const sources = write(add(bar, "p", undefined, { class: "text" }), source[now.line]);
    const said = add(bar, "p", undefined, { class: "faint", role: "status" });
    const cards = add(translations, "div", undefined, { class: "cards" });
    const right = add(cards, "article");
    add(right, "h3", "Reference");
    write(add(right, "p", undefined, { class: "text" }), reference[now.line]);
    const buttons = new Map(); // of each system that has an alignment
    setup.systems.forEach((label, system) => {
      const card = add(cards, "article");
      add(card, "h3", named(system));
      const found = systems[system][now.line];
      if (found === null) {
        add(card, "p", "not translated", { class: "faint" });
        return;
      }
      const text = add(card, "p", undefined, { class: "text", role: "group", "aria-label": `${label}, word by word` });
      const spans = write(text, found);
      const about = compare(spans, found, reference[now.line]);
      const weighs = new Map(spans.map((span, place) => [span, rows[system]?.[place]]));
      follow(text, [...about.keys()], sources, said, (word) => weighs.get(word), (word) => {
        const row = weighs.get(word);
        return [isolated(word.textContent) + (row ? ` ← ${attended(row, split(source[now.line]))}` : ""), about.get(word)].filter(Boolean).join("; ");
      });
      add(card, "p", `chrF ${scores[system][now.line].toFixed(1)}`, { class: "faint" });
      if (rows[system]?.length) {
        const button = add(card, "button", "Alignment", { "aria-pressed": now.open.includes(system), "aria-label": `Alignment of ${label}` });
        button.onclick = () => {
          const open = now.open.filter((other) => other !== system);
          now.open = open.length < now.open.length ? open : [...open, system].slice(-2);
          draw();
          at("alignments").scrollIntoView({ block: "nearest" });
        };
        buttons.set(system, button);
      } else if (system < setup.models) add(card, "p", "From a fixed vector: it has no alignment.", { class: "faint" });
    });

    function draw() {
      at("alignments").replaceChildren();
      for (const [system, button] of buttons) button.setAttribute("aria-pressed", now.open.includes(system));
      for (const system of now.open.filter((open) => rows[open]?.length).sort((one, other) => one - other)) {
        const article = add(at("alignments"), "article");
        add(article, "h3", named(system));
        grid(article, source[now.line], systems[system][now.line], rows[system], `Alignment of ${setup.systems[system]}`);
      }
    }
    draw();
  }

  // The part of the page that the address names; null where it names a sentence or nothing.
  const hash = () => { try { return decodeURIComponent(location.hash.slice(1)); } catch { return ""; } };
  const part = () => at(hash());

  // The set and the line that the address names, if any.
  function asked() {
    const [, set, number] = /^(.*)\/([1-9][0-9]*)$/.exec(hash()) ?? [];
    return setup.sets.includes(set) ? { set, line: number - 1 } : null;
  }

  // Shows the list and the sentence that is chosen, if the search has found any.
  async function show() {
    const { set, line } = now;
    list();
    at("set").value = set;
    for (const select of [at("one"), at("other")]) {
      setup.systems.forEach((_, system) => { select.options[system].text = named(system); });
    }
    if (line === undefined) say(`No sentence of ${set} has “${at("search").value.trim()}”.`);
    else {
      const number = Math.floor(line / setup.chunk);
      await load(name(set, number));
      if (set !== now.set || line !== now.line) return; // another was chosen meanwhile
      sentence(chunks[`${set}/${number}`][line - number * setup.chunk]);
    }
    highlight();
  }

  async function go() {
    const chosen = asked();
    const shown = part()?.closest(".tab") ?? at(chosen ? "sentences" : "summary");
    for (const tab of tabs) {
      tab.hidden = tab !== shown;
      document.querySelector(`.tabs a[href="#${tab.id}"]`).ariaCurrent = tab === shown ? "page" : null;
    }
    if (part()) (part() === shown ? document.body : part()).scrollIntoView();
    if (shown !== at("sentences")) return;
    await attempt(async () => {
      const other = chosen && chosen.set !== now.set;
      if (chosen) Object.assign(now, chosen);
      await load(name(now.set));
      now.line = Math.min(now.line ?? 0, texts[now.set].source.length - 1);
      if (other || !now.found) find();
      if (chosen && !now.found.includes(now.line)) {
        at("search").value = "";
        find();
      }
      if (chosen) now.first = SHOWN * Math.floor(now.found.indexOf(now.line) / SHOWN);
      await show();
      const { top } = at("sentence").getBoundingClientRect();
      if (chosen && (top < 0 || top > innerHeight / 2)) at("sentence").scrollIntoView();
    });
  }

  // Searches and sorts again, and shows what comes first.
  const again = () => attempt(async () => {
    at("one").hidden = order().systems < 1;
    at("other").hidden = order().systems < 2;
    now.set = at("set").value;
    await load(name(now.set));
    find();
    [now.line] = now.found;
    history.replaceState(null, "", `#${now.line === undefined ? "sentences" : `${now.set}/${now.line + 1}`}`);
    await show();
  });

  async function attempt(act) {
    try { await act(); } catch (error) { say(error.message); }
  }

  // Says something in the place of a sentence.
  function say(text) {
    at("sentence").textContent = text;
    at("alignments").replaceChildren();
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
  for (const [order, { systems }] of Object.entries(ORDERS)) if (setup.systems.length >= systems) add(at("order"), "option", order);
  for (const select of [at("one"), at("other")]) {
    setup.systems.forEach((_, system) => add(select, "option", undefined, { value: system }));
  }
  at("other").value = setup.systems.length > 1 ? 1 : 0;
  at("search").oninput = again;
  for (const id of ["set", "order", "one", "other"]) at(id).onchange = again;
  at("back").onclick = () => { now.first -= SHOWN; list(); highlight(); };
  at("on").onclick = () => { now.first += SHOWN; list(); highlight(); };
  window.onhashchange = go;
  window.addEventListener("load", go);
  return {
    text: (set, text) => { texts[set] = text; },
    chunk: (set, number, sentences) => { chunks[`${set}/${number}`] = sentences; },
  };
})();
