// Shows sentences word by word, and the weights of an attention as a heat map.
"use strict";

function add(parent, tag, text, attributes = {}) {
  const element = document.createElement(tag);
  if (text !== undefined) element.textContent = text;
  for (const [name, value] of Object.entries(attributes)) element.setAttribute(name, value);
  return parent.appendChild(element);
}

const at = (id) => document.getElementById(id);

// A sentence has a space or \b between two words, the latter where running text has no space.
const split = (sentence) => (sentence ? sentence.split(/[ \b]/) : []);
const running = (sentence) => sentence.replaceAll("\b", "");

// Adds the running text of a sentence, and returns the element of each word.
function write(parent, sentence) {
  parent.dir = "auto";
  return (sentence ? sentence.split(/([ \b])/) : []).flatMap((part, place) => {
    if (place % 2 === 0) return [add(parent, "span", part)];
    if (part === " ") parent.append(" ");
    return [];
  });
}

// The weights, from 0 to 1, of a row of hexadecimal digits.
const weights = (row) => row.match(/../g).map((digits) => parseInt(digits, 16) / 255);

const END = "<eos>"; // the end of a sentence, its last column and, where the translation ended, its last row

const shade = (element, weight) => element.style.setProperty("--weight", weight.toFixed(3));

// Lets the arrow keys go from one of `items` to the next, of which Tab reaches one; a row of them is `width` long.
function rove(container, items, width) {
  const places = new Map(items.map((item, place) => [item, place]));
  items.forEach((item, place) => { item.tabIndex = place ? -1 : 0; });
  container.addEventListener("focusin", ({ target }) => {
    if (!places.has(target)) return;
    for (const item of items) item.tabIndex = item === target ? 0 : -1;
  });
  container.addEventListener("keydown", (event) => {
    const left = getComputedStyle(container).direction === "rtl" ? 1 : -1;
    const step = { ArrowLeft: left, ArrowRight: -left, ArrowUp: -width, ArrowDown: width }[event.key];
    const place = places.get(event.target);
    if (!step || place === undefined || event.altKey || event.ctrlKey || event.metaKey || event.shiftKey) return;
    event.stopPropagation(); // or the page would go to another sentence
    const next = items[place + step];
    const leaves = Math.abs(step) === 1 && Math.floor(place / width) !== Math.floor((place + step) / width);
    if (!next || leaves) return;
    event.preventDefault();
    next.focus();
  });
}

// Keeps a word that is written from right to left from reordering the line around it.
const isolated = (word) => (/[\u0590-\u08ff\ufb1d-\ufefc]/.test(word) ? `\u2068${word}\u2069` : word);

// The words that a row of weights is largest for, and how large; the rest is less than a twentieth each. The model may
// have read only the first of `sources`.
function attended(row, sources) {
  const all = weights(row);
  const named = all.map((weight, place) => [weight, place < all.length - 1 ? sources[place] : END]);
  const most = named.filter(([weight]) => weight >= 0.05);
  return most.sort(([one], [other]) => other - one).map(([weight, word]) => `${isolated(word)} ${weight.toFixed(2)}`).join(", ");
}

// While the mouse or the keyboard is on one of `words`, `said` tells what `about` says of it, and each of `sources` is as
// dark as its weight in the row of it, if there is one.
function follow(container, words, sources, said, row, about) {
  const shadeAll = (found) => sources.forEach((source, place) => shade(source, found?.[place] ?? 0));
  words.forEach((word) => {
    const enter = () => {
      shadeAll(row(word) && weights(row(word)).slice(0, -1));
      said.textContent = about(word);
    };
    const leave = () => {
      shadeAll();
      said.textContent = "";
    };
    Object.assign(word, { onmouseover: enter, onfocus: enter, onmouseout: leave, onblur: leave });
  });
  rove(container, words, words.length);
}

const LARGEST = 20_000; // cells that a browser draws in less than a second

// A heat map: a row for each target word, a column for each source word. It is as wide as there is room, and the source
// words stay in sight as the page is scrolled.
function grid(parent, source, target, rows, label) {
  const sources = [...split(source).slice(0, rows[0].length / 2 - 1), END];
  const targets = split(target);
  const box = add(parent, "div", undefined, { class: "grid" });
  if (rows.length * sources.length > LARGEST) {
    add(box, "p", "Too many words for a heat map: point at a word of the translation to see what it attends to.", { class: "faint" });
    return;
  }
  const said = add(box, "p", "Point at a cell to see its words and its weight.", { class: "faint", role: "status" });
  const table = add(box, "table", undefined, { role: "grid", "aria-label": label, style: `--columns: ${sources.length}` });
  const head = add(add(table, "thead"), "tr");
  add(head, "td");
  for (const word of sources) add(add(head, "th", undefined, { scope: "col" }), "span", word, { dir: "auto" });
  const body = add(table, "tbody");
  rows.forEach((row, place) => {
    const line = add(body, "tr");
    add(line, "th", targets[place] ?? END, { dir: "auto", scope: "row" });
    for (const weight of weights(row)) shade(add(line, "td"), weight);
  });
  const show = ({ target: cell }) => {
    const { cellIndex: column, parentNode: line } = cell;
    if (!(column > 0) || line.parentNode !== body) return;
    const ends = [line.cells[0], head.cells[column]];
    for (const marked of table.querySelectorAll(".named")) marked.classList.remove("named");
    for (const end of ends) end.classList.add("named");
    said.textContent = `${ends.map((end) => isolated(end.textContent)).join(" ← ")}: ${cell.style.getPropertyValue("--weight")}`;
  };
  for (const event of ["mouseover", "click", "focusin"]) table.addEventListener(event, show);
  rove(table, [...body.querySelectorAll("td")], sources.length);
}
