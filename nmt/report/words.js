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

// While the mouse is over a word of `targets`, each word of `sources` is as dark as its weight.
function follow(targets, sources, rows) {
  rows.forEach((row, place) => {
    const word = targets[place];
    if (!word) return;
    word.onmouseover = () => weights(row).slice(0, -1).forEach((weight, column) => shade(sources[column], weight));
    word.onmouseout = () => sources.forEach((source) => shade(source, 0));
  });
}

// A heat map: a row for each target word, a column for each source word, both in sight however far it is scrolled.
function grid(parent, source, target, rows) {
  const sources = [...split(source).slice(0, rows[0].length / 2 - 1), END];
  const targets = split(target);
  const said = add(parent, "p", "Point at a cell to see its words and its weight.", { class: "faint" });
  const table = add(add(parent, "div", undefined, { class: "scroll grid", tabindex: 0 }), "table");
  const head = add(add(table, "thead"), "tr");
  add(head, "td");
  for (const word of sources) add(add(head, "th"), "span", word, { dir: "auto" });
  const body = add(table, "tbody");
  rows.forEach((row, place) => {
    const line = add(body, "tr");
    add(line, "th", targets[place] ?? END, { dir: "auto" });
    for (const weight of weights(row)) shade(add(line, "td"), weight);
  });
  table.onmouseover = table.onclick = ({ target: { cellIndex: column, parentNode: line } }) => {
    if (!(column > 0) || line.parentNode !== body) return;
    const ends = [line.cells[0], head.cells[column]];
    for (const marked of table.querySelectorAll(".named")) marked.classList.remove("named");
    for (const end of ends) end.classList.add("named");
    said.textContent = `${ends.map((end) => end.textContent).join(" ← ")}: ${line.cells[column].style.getPropertyValue("--weight")}`;
  };
}
