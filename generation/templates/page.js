// Cards of citations and sentences, the current section in the contents, light and dark. Nothing is loaded or stored.
(() => {
  "use strict";
  const root = document.documentElement, $ = (id) => document.getElementById(id);
  const data = JSON.parse($("sources").textContent);
  const main = $("main"), card = $("card"), mark = $("mark"), contents = document.querySelector("#contents details");
  const SENTENCE = ":is(.quoted, .adapted, .composed, .written)[id]";
  let owner = null, pinned = false, pointed = null, timer = 0;

  const make = (tag, name, ...parts) => {
    const element = document.createElement(tag);
    if (name) element.className = name;
    element.append(...parts);
    return element;
  };
  const button = (name, text, label) => {
    const element = make("button", name, text);
    element.type = "button";
    element.setAttribute("aria-label", label);
    return element;
  };
  // In a table the citation stands in another cell than the sentence.
  const sentenceOf = (place) => place.closest(SENTENCE) || place.closest("tr")?.querySelector(SENTENCE);
  const described = (sentence) => `${sentence.id.slice(1)} · ${sentence.className.split(" ")[0]}`;
  const pointer = (key, text) => {
    if (!$("ref-" + key)) return key; // cited nowhere any more
    const link = make("a", "", text || `[${$("ref-" + key).value}] ${$("ref-" + key).querySelector(".title").textContent}`);
    link.href = "#ref-" + key;
    return link;
  };

  function fill(place) {
    const cited = place.matches("a.cite") ? place.getAttribute("href").slice("#ref-".length) : null;
    const sentence = sentenceOf(place), held = (sentence && data[sentence.id.slice(1)]) || {};
    const label = make("p", "label", sentence ? `Sentence ${described(sentence)}` : "Reference");
    label.id = "card-label";
    card.replaceChildren(button("close", "×", "Close"), label);
    if (cited) {
      const entry = make("div", "entry", ...$("ref-" + cited).cloneNode(true).childNodes);
      entry.querySelector(".places")?.remove();
      card.append(entry);
    }
    const spans = (held.spans || []).filter(([key]) => !cited || key === cited);
    const rows = (!cited || !spans.length) && held.rows;
    if (sentence?.matches(".written")) fillWritten(sentence, held.checks || [], cited);
    for (const [key, from, text] of spans) {
      card.append(make("p", "from", `${sentence.matches(".written") ? "Nearest to it in" : "From"} ${from}`, ...(cited ? [] : [" of ", pointer(key)])), make("blockquote", "", text));
    }
    if (held.edits) card.append(make("p", "from", "Changed"));
    for (const [name, before, after] of held.edits || []) {
      const parts = before ? [make("del", "", before), " → "] : ["added: "];
      card.append(make("p", "change", ...parts, after ? make("ins", "", after) : "left out", make("span", "name", ` (${name})`)));
    }
    if (rows) card.append(make("p", "from", "States"));
    for (const [name, value, query] of rows || []) {
      const told = query ? [make("code", "", query)] : [];
      card.append(make("p", "change", make("span", "name", name.replaceAll("_", " ") + ": "), value, ...told));
    }
    if (cited) card.append(make("p", "from", pointer(cited, "In the references")));
  }
  // Who wrote it, and how each of its citations was checked.
  function fillWritten(sentence, checks, cited) {
    if (!cited) card.append(make("p", "", `Written by ${$("sources").dataset.writer}`));
    if (!cited && sentence.matches(".unborne")) card.append(make("p", "lost", "No paper bears this."));
    for (const [key, verdict, similarity, reason, action, judge] of checks) {
      if (cited && key !== cited) continue;
      const told = { removed: "citation removed", refused: "citation refused" }[action] || verdict;
      const by = judge === "rules" ? ` · similarity ${similarity.toFixed(2)}` : ` · judged by ${judge}`;
      card.append(make("p", "check", make("b", verdict, told), action === "refused" ? "" : by, ...(reason ? [`: ${reason}`] : []), ...(cited ? [] : [make("span", "name", " · ", pointer(key))])));
    }
  }
  function show(element, pin) {
    if (owner !== element) hide();
    clearTimeout(timer);
    [owner, pinned] = [element, pin];
    fill(element);
    [card.hidden, card.scrollTop] = [false, 0];
    element.classList.add("shown");
    if (element.matches("a")) element.setAttribute("aria-describedby", "card");
    const at = element.getClientRects()[0], { offsetWidth: width, offsetHeight: height } = card;
    const isAbove = at.bottom + height + 12 > innerHeight && at.top > height + 12;
    card.classList.toggle("high", at.top > innerHeight / 2);
    card.style.left = `${Math.max(8, Math.min(at.left - 16, root.clientWidth - width - 8)) + scrollX}px`;
    card.style.top = `${(isAbove ? at.top - height - 6 : at.bottom + 6) + scrollY}px`;
  }
  function hide() {
    clearTimeout(timer);
    if (!owner) return;
    if (card.contains(document.activeElement)) owner.focus();
    owner.classList.remove("shown");
    owner.removeAttribute("aria-describedby");
    [owner, pinned, card.hidden] = [null, false, true];
  }
  const later = (wait, action) => { clearTimeout(timer); timer = setTimeout(action, wait); };

  // The pointer shows a citation's card and a sentence's mark: beside the text where there is room, else above it.
  document.addEventListener("pointerover", ({ target, pointerType }) => {
    if (pointerType === "touch") return;
    const cite = target.closest("a.cite"), sentence = main.contains(target) && target.closest(SENTENCE);
    if (cite && !pinned) later(120, () => show(cite, false));
    else if (cite || card.contains(target)) clearTimeout(timer);
    else if (!pinned) later(250, () => { if (owner !== document.activeElement) hide(); });
    if (!sentence || sentence === pointed) return;
    pointed = sentence;
    mark.textContent = described(sentence);
    [mark.className, mark.hidden] = [sentence.className.split(" ")[0], false];
    const at = sentence.getClientRects()[0], right = main.getBoundingClientRect().right;
    const isBeside = root.clientWidth - right > mark.offsetWidth + 16;
    mark.style.left = `${(isBeside ? right + 10 : Math.min(at.left, root.clientWidth - mark.offsetWidth - 8)) + scrollX}px`;
    mark.style.top = `${(isBeside ? at.top + 2 : at.top - mark.offsetHeight + 2) + scrollY}px`;
  });
  // The keyboard: focus shows, Enter goes into the card, Escape or Tab past its end comes back.
  document.addEventListener("focusin", ({ target }) => {
    const cite = target.closest("a.cite");
    if (cite && cite !== owner && cite.matches(":focus-visible")) show(cite, false);
    else if (!cite && target !== owner && !card.contains(target)) hide();
  });
  document.addEventListener("keydown", (event) => {
    const isLast = event.key === "Tab" && !event.shiftKey && event.target === [...card.querySelectorAll("a, button")].pop();
    if (event.key === "Escape" || isLast) hide();
  });
  document.addEventListener("click", (event) => {
    const { target } = event;
    if (event.ctrlKey || event.metaKey || event.shiftKey) return;
    if (target === mark) return show(pointed, true);
    if (target.closest("#card .close, #card a[href^='#']")) return hide();
    if (card.contains(target)) return;
    const isText = !target.closest("a, button, summary") && getSelection().isCollapsed && main.contains(target);
    const place = target.closest("a.cite, button.from") || (isText && target.closest(SENTENCE));
    if (place) event.preventDefault();
    if (!place || (pinned && owner === place)) return hide();
    show(place, true);
    if (event.detail === 0) card.focus();
  });
  addEventListener("resize", () => { mark.hidden = true; pointed = null; hide(); });

  // Sentences without a citation have no link that the keyboard reaches.
  for (const sentence of main.querySelectorAll(SENTENCE)) {
    if ((sentence.closest("tr") || sentence).querySelector("a.cite") || !data[sentence.id.slice(1)]) continue;
    sentence.append(button("from", "i", `Where sentence ${sentence.id.slice(1)} comes from`));
  }

  // The contents follow the reader; on narrow screens they are closed until wanted.
  const wide = matchMedia("(min-width: 60rem)");
  const links = new Map([...contents.querySelectorAll("a")].map((link) => [$(link.hash.slice(1)), link]));
  let current = null, isWaiting = false;
  function follow() {
    isWaiting = false;
    const found = [...links.keys()].filter((heading) => heading.getBoundingClientRect().top < 140).pop();
    const link = links.get(found);
    if (link === current) return;
    current?.removeAttribute("aria-current");
    link?.setAttribute("aria-current", "location");
    $("here").textContent = link ? link.textContent : "";
    current = link;
    const box = wide.matches ? contents.parentElement : contents.lastElementChild;
    if (link) box.scrollTop += link.getBoundingClientRect().top - box.getBoundingClientRect().top - box.clientHeight / 2;
  }
  addEventListener("scroll", () => { if (!isWaiting) isWaiting = Boolean(requestAnimationFrame(follow)); }, { passive: true });
  const fold = () => { contents.open = wide.matches; };
  wide.addEventListener("change", fold);
  contents.addEventListener("click", ({ target }) => { if (target.closest("a")) fold(); });
  root.classList.add("scripted");
  fold();
  follow();
  const theme = $("theme"), kinds = $("kinds"), dark = matchMedia("(prefers-color-scheme: dark)");
  const isDark = () => (root.dataset.theme ? root.dataset.theme === "dark" : dark.matches);
  const name = () => { theme.textContent = isDark() ? "Light" : "Dark"; };
  theme.addEventListener("click", () => { root.dataset.theme = isDark() ? "light" : "dark"; name(); });
  dark.addEventListener("change", name);
  kinds.addEventListener("click", () => kinds.setAttribute("aria-pressed", String(root.classList.toggle("kinds"))));
  name();
})();
