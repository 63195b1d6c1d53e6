"use strict";
// What every page does beside being shown: changes without loading the whole page, pieces that come later, uploads and
// dragging. Everything but uploads works without it.
(function () {
  const PIECE = { "X-Piece": "1" };

  // A form that changes something is sent, and the page that comes back takes the place of what is shown.
  async function send(form) {
    const main = document.getElementById("main");
    const focused = document.activeElement && describe(document.activeElement);
    const fields = new URLSearchParams(new FormData(form));
    const getting = form.method === "get";
    main.classList.add("busy");
    let page;
    try {
      const answer = getting
        ? await fetch(`${form.action}?${fields}`, { headers: PIECE })
        : await fetch(form.action, { method: "POST", headers: PIECE, body: fields });
      page = new DOMParser().parseFromString(await answer.text(), "text/html");
      if (!page.getElementById("main")) throw new Error("no page");
    } catch (error) {
      main.classList.remove("busy");
      form.submit(); // the browser shows what is wrong
      return;
    }
    if (getting) history.replaceState(null, "", `${form.getAttribute("action")}?${fields}`);
    put(page, ["header.top", "#main"]);
    const again = focused && document.querySelector(focused);
    if (again) again.focus({ preventScroll: true });
  }

  // Takes places, and the figures of plots, from a page that came back. A piece that comes later has the height that it had
  // until it is there, or what is dragged below it would be dropped beside its place.
  function put(page, places) {
    const tall = (piece) => [piece.dataset.from, piece.getBoundingClientRect().height];
    const pieces = Array.from(document.querySelectorAll("[data-from]"), tall);
    for (const place of places) {
      document.querySelector(place).replaceWith(document.importNode(page.querySelector(place), true));
    }
    for (const [from, height] of pieces) {
      const again = document.querySelector(`[data-load="${CSS.escape(from)}"]`);
      if (again) again.style.minHeight = `${height}px`;
    }
    const old = document.getElementById("specs");
    if (old) old.remove();
    const specs = page.getElementById("specs");
    if (specs) document.body.append(document.importNode(specs, true));
    ready();
  }

  // While a run goes on, what it has found is shown anew, not more often than it can be drawn.
  let refreshing = false;
  document.addEventListener("found", async function () {
    if (refreshing || !document.querySelector("[data-refresh]")) return;
    refreshing = true;
    try {
      const answer = await fetch(location.href, { headers: PIECE });
      put(new DOMParser().parseFromString(await answer.text(), "text/html"), ["#results"]);
    } finally {
      setTimeout(() => { refreshing = false; }, 1500);
    }
  });

  document.addEventListener("input", function (event) {
    if (event.target.matches("[data-shows]")) event.target.nextElementSibling.textContent = `${event.target.value} %`;
  });

  // How to find an element again in the page that comes back.
  function describe(element) {
    const form = element.form;
    if (!form || !element.name) return null;
    const column = form.elements.namedItem("column");
    const own = column && column.value !== undefined ? `input[name=column][value="${CSS.escape(column.value)}"] ~ ` : "";
    return `form[action="${form.getAttribute("action")}"] ${own}[name="${CSS.escape(element.name)}"]`;
  }

  // What was typed into a form and not yet taken is taken before the page is left, so that nothing is lost.
  const typed = new Set();
  document.addEventListener("input", function (event) {
    const form = event.target.closest("form[data-keep]");
    if (form) typed.add(form);
  });

  async function keep() {
    for (const form of typed) {
      typed.delete(form);
      if (!form.isConnected) continue;
      const answer = await fetch(form.action, { method: "POST", headers: PIECE, body: new URLSearchParams(new FormData(form)) });
      if (!answer.ok) {
        form.submit(); // the browser shows what is wrong
        return false;
      }
    }
    return true;
  }

  document.addEventListener("click", async function (event) {
    const link = event.target.closest("a[href]");
    if (!link || !typed.size || link.hasAttribute("download") || link.target || event.ctrlKey || event.metaKey || event.shiftKey) return;
    if (link.getAttribute("href").startsWith("#")) return;
    event.preventDefault();
    if (await keep()) location.assign(link.href);
  });

  document.addEventListener("submit", async function (event) {
    const form = event.target;
    if (typed.has(form)) typed.delete(form);
    if (form.matches("form[data-live]")) {
      event.preventDefault();
      if (await keep()) send(form);
    } else if (typed.size && form.method === "post") {
      event.preventDefault();
      if (await keep()) form.submit();
    }
  });

  // A list in which a name is spelt changes with every letter. It is taken when no more come: browsers forget the letters
  // after a second, and a page that came back between two of them would lose those before.
  let spelling = null;
  function spelt() {
    const { list, timer, changed } = spelling || {};
    clearTimeout(timer);
    spelling = null;
    if (changed && list.isConnected) list.form.requestSubmit();
  }
  document.addEventListener("keydown", function (event) {
    const letter = event.key.length === 1 && event.key !== " " && !event.ctrlKey && !event.metaKey && !event.altKey;
    if (!letter || !event.target.matches("select[data-go]")) {
      spelt();
      return;
    }
    if (spelling) clearTimeout(spelling.timer);
    else spelling = { list: event.target, changed: false };
    spelling.timer = setTimeout(spelt, 1000);
  });
  document.addEventListener("focusout", spelt);

  document.addEventListener("change", function (event) {
    if (!event.target.matches("[data-go]") || !event.target.form) return;
    if (spelling && spelling.list === event.target) spelling.changed = true;
    else event.target.form.requestSubmit();
  });

  // Pieces that take a while are asked for once the page is there.
  async function load(place) {
    const from = place.dataset.load;
    place.removeAttribute("data-load");
    place.dataset.from = from;
    try {
      const answer = await fetch(from, { headers: PIECE });
      const piece = new DOMParser().parseFromString(await answer.text(), "text/html");
      if (!answer.ok) throw new Error("no piece");
      place.replaceChildren(...Array.from(piece.body.childNodes, (node) => document.importNode(node, true)));
    } catch (error) {
      place.textContent = "This could not be counted.";
    }
    place.style.minHeight = "";
    place.dataset.loaded = "done";
  }

  // A file is sent as it is, and how much of it has arrived is shown.
  function upload(place, file) {
    const told = place.querySelector(".told");
    const bar = place.querySelector("progress");
    if (file.size > Number(place.dataset.limit)) {
      told.textContent = "This file is larger than what can be sent; open it by its path.";
      return;
    }
    const request = new XMLHttpRequest();
    request.open("POST", place.dataset.upload);
    request.setRequestHeader("X-File-Name", encodeURIComponent(file.name));
    request.setRequestHeader("Content-Type", "application/octet-stream");
    bar.hidden = false;
    told.textContent = `Sending ${file.name}`;
    request.upload.addEventListener("progress", function (event) {
      if (event.lengthComputable) bar.value = event.loaded / event.total;
      if (event.loaded === event.total) told.textContent = `Reading ${file.name}`;
    });
    request.addEventListener("loadend", function () {
      let answer = {};
      try { answer = JSON.parse(request.responseText); } catch (error) { answer = {}; }
      if (answer.next) {
        location.assign(answer.next);
      } else {
        bar.hidden = true;
        told.textContent = answer.error || "The file could not be sent.";
      }
    });
    request.send(file);
  }

  // A small file is read here and sent as the text of a form.
  async function sendText(form, file) {
    form.elements.file.value = file.name;
    form.elements.text.value = await file.text();
    form.submit();
  }

  // Rules are checked while they are typed.
  let typing = 0;
  document.addEventListener("input", function (event) {
    if (!event.target.matches("[data-check]")) return;
    clearTimeout(typing);
    typing = setTimeout(async function () {
      const fields = new URLSearchParams({ text: event.target.value });
      const answer = await fetch(event.target.dataset.check, { method: "POST", headers: PIECE, body: fields });
      const piece = new DOMParser().parseFromString(await answer.text(), "text/html");
      const place = document.getElementById(event.target.getAttribute("aria-describedby"));
      if (answer.ok) place.replaceChildren(...Array.from(piece.body.childNodes, (node) => document.importNode(node, true)));
    }, 350);
  });

  function droppable(place, take) {
    place.addEventListener("dragover", function (event) {
      event.preventDefault();
      place.classList.add("over");
    });
    place.addEventListener("dragleave", () => place.classList.remove("over"));
    place.addEventListener("drop", function (event) {
      event.preventDefault();
      place.classList.remove("over");
      take(event.dataTransfer);
    });
  }

  function ready() {
    document.querySelectorAll("[data-load]").forEach(load);
    document.querySelectorAll("[data-upload]").forEach(function (place) {
      droppable(place, (data) => data.files.length && upload(place, data.files[0]));
      place.querySelector("input[type=file]").addEventListener("change", function (event) {
        if (event.target.files.length) upload(place, event.target.files[0]);
      });
    });
    document.querySelectorAll(".chip[draggable]").forEach(function (chip) {
      chip.addEventListener("dragstart", (event) => event.dataTransfer.setData("text/plain", chip.dataset.column));
    });
    document.querySelectorAll("[data-set]").forEach(function (place) {
      droppable(place, function (data) {
        const column = data.getData("text/plain");
        const chip = document.querySelector(`.chip[data-column="${CSS.escape(column)}"]`);
        if (!chip) return;
        const list = chip.querySelector("select");
        list.value = place.dataset.set;
        list.form.requestSubmit();
      });
    });
    document.querySelectorAll("form[data-file] input[type=file]").forEach(function (input) {
      input.addEventListener("change", () => input.files.length && sendText(input.form, input.files[0]));
    });
    document.querySelectorAll(".tree li").forEach(function (node) {
      node.addEventListener("dragstart", (event) => event.dataTransfer.setData("text/plain", node.dataset.node));
      droppable(node, function (data) {
        const form = node.closest(".category").querySelector(".tree-form");
        const moved = data.getData("text/plain");
        if (!form || !moved || moved === node.dataset.node) return;
        form.elements.node.value = moved;
        form.elements.how.value = "move";
        form.elements.other.value = node.dataset.node;
        form.requestSubmit();
      });
    });
    document.dispatchEvent(new Event("shown"));
  }

  ready();
})();
