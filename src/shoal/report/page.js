"use strict";
// Draws each plot once; those of columns that are chosen from a list when they are. Colours are variables of the style sheet.
(function () {
  const specs = JSON.parse(document.getElementById("specs").textContent);
  const reduced = matchMedia("(prefers-reduced-motion: reduce)").matches;
  const options = { renderer: "svg", actions: false, hover: !reduced, tooltip: { theme: "custom" }, mode: "vega-lite" };

  function draw(place) {
    if (place.dataset.drawn) return Promise.resolve();
    place.dataset.drawn = "started";
    return vegaEmbed(place, specs[Number(place.id.slice(5))], options)
      .then(function () {
        const drawing = place.querySelector("svg");
        drawing.setAttribute("aria-hidden", "true"); // its words are the label of the place
        drawing.setAttribute("focusable", "false");
        place.dataset.drawn = "done";
      })
      .catch(function (error) {
        place.dataset.drawn = "failed";
        place.textContent = "This plot could not be drawn; its figures are in the table.";
        console.error(error);
      });
  }

  function visible() {
    return Array.from(document.querySelectorAll(".plot")).filter((place) => !place.closest("[hidden]"));
  }

  // one after the other, so that the page can be read meanwhile
  visible().reduce((before, place) => before.then(() => draw(place)), Promise.resolve()).then(function () {
    document.documentElement.dataset.plots = "drawn";
  });

  document.querySelectorAll(".choose select").forEach(function (list) {
    const cards = list.closest("section").querySelector(".cards");
    list.addEventListener("change", function () {
      cards.querySelectorAll("[data-chosen]").forEach(function (card) {
        card.hidden = card.dataset.chosen !== list.value;
        if (!card.hidden) {
          cards.prepend(card);
          card.querySelectorAll(".plot").forEach(draw);
        }
      });
    });
  });
})();
