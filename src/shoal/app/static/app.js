"use strict";
// What every page does beside being shown: changes without loading the whole page, pieces that come later, uploads and
// dragging. Everything but uploads works without it.
(function () {
  const PIECE = { "X-Piece": "1" };

  // A form that changes something is sent, and the page that comes back takes the place of what is shown.
  async function send(form) {
    const main = document.getElementById("main");
    const focused = document.activeElement && describe(document.activeElement);
    main.classList.add("busy");
    let page;
    try {
      const answer = await fetch(form.action, {
        method: "POST", headers: PIECE, body: new URLSearchParams(new FormData(form)),
      });
      page = new DOMParser().parseFromString(await answer.text(), "text/html");
      if (!page.getElementById("main")) throw new Error("no page");
    } catch (error) {
      main.classList.remove("busy");
      form.submit(); // the browser shows what is wrong
      return;
    }
    for (const place of ["header.top", "#main"]) {
      document.querySelector(place).replaceWith(document.importNode(page.querySelector(place), true));
    }
    const old = document.getElementById("specs");
    if (old) old.remove();
    const specs = page.getElementById("specs");
    if (specs) document.body.append(document.importNode(specs, true));
    ready();
    const again = focused && document.querySelector(focused);
    if (again) again.focus({ preventScroll: true });
  }

  // How to find an element again in the page that comes back.
  function describe(element) {
    const form = element.form;
    if (!form || !element.name) return null;
    const column = form.elements.namedItem("column");
    const own = column && column.value !== undefined ? `input[name=column][value="${CSS.escape(column.value)}"] ~ ` : "";
    return `form[action="${form.getAttribute("action")}"] ${own}[name="${CSS.escape(element.name)}"]`;
  }

  document.addEventListener("submit", function (event) {
    if (event.target.matches("form[data-live]")) {
      event.preventDefault();
      send(event.target);
    }
  });

  document.addEventListener("change", function (event) {
    if (event.target.matches("[data-go]") && event.target.form) event.target.form.requestSubmit();
  });

  // Pieces that take a while are asked for once the page is there.
  async function load(place) {
    const from = place.dataset.load;
    place.removeAttribute("data-load");
    try {
      const answer = await fetch(from, { headers: PIECE });
      const piece = new DOMParser().parseFromString(await answer.text(), "text/html");
      if (!answer.ok) throw new Error("no piece");
      place.replaceChildren(...Array.from(piece.body.childNodes, (node) => document.importNode(node, true)));
    } catch (error) {
      place.textContent = "This could not be counted.";
    }
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

  function droppable(place, over, take) {
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
      droppable(place, "over", (data) => data.files.length && upload(place, data.files[0]));
      place.querySelector("input[type=file]").addEventListener("change", function (event) {
        if (event.target.files.length) upload(place, event.target.files[0]);
      });
    });
    document.querySelectorAll(".chip[draggable]").forEach(function (chip) {
      chip.addEventListener("dragstart", (event) => event.dataTransfer.setData("text/plain", chip.dataset.column));
    });
    document.querySelectorAll("[data-set]").forEach(function (place) {
      droppable(place, "over", function (data) {
        const column = data.getData("text/plain");
        const chip = document.querySelector(`.chip[data-column="${CSS.escape(column)}"]`);
        if (!chip) return;
        const list = chip.querySelector("select");
        list.value = place.dataset.set;
        list.form.requestSubmit();
      });
    });
    document.dispatchEvent(new Event("shown"));
  }

  ready();
})();
