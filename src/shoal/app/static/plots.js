"use strict";
// Draws the plots of a page, as the report does, but without making functions of texts: the policy forbids that, and
// Vega's interpreter does the same. Colours are variables of the style sheet, so plots follow light and dark.
(function () {
  const options = {
    renderer: "svg", actions: false, ast: true, defaultStyle: false, mode: "vega-lite",
    tooltip: { theme: "custom", disableDefaultStyle: true },
  };

  async function draw(place) {
    if (place.dataset.drawn) return;
    place.dataset.drawn = "started";
    const specs = JSON.parse(document.getElementById("specs").textContent);
    try {
      const found = await vegaEmbed(place, specs[Number(place.id.slice(5))], options);
      const drawing = place.querySelector("svg");
      drawing.setAttribute("aria-hidden", "true"); // its words are the label of the place
      drawing.setAttribute("focusable", "false");
      place.dataset.drawn = "done";
      if (place.dataset.click) found.view.addEventListener("click", (event, item) => clicked(place, item));
    } catch (error) {
      place.dataset.drawn = "failed";
      place.textContent = "This plot could not be drawn; its figures are in the table.";
      console.error(error);
    }
  }

  // A click on a mark of a plot that can be clicked presses the button that is meant by it.
  function clicked(place, item) {
    const datum = item && item.datum;
    const button = datum && datum.button && document.getElementById(datum.button);
    if (button) button.click();
  }

  async function all() {
    document.documentElement.dataset.plots = "drawing";
    for (const place of document.querySelectorAll(".plot")) {
      if (!place.closest("[hidden]")) await draw(place);
    }
    document.documentElement.dataset.plots = "drawn";
  }

  document.addEventListener("change", function (event) {
    if (!event.target.matches(".choose select")) return;
    const cards = event.target.closest("section").querySelector(".cards");
    cards.querySelectorAll("[data-chosen]").forEach(function (card) {
      card.hidden = card.dataset.chosen !== event.target.value;
      if (card.hidden) return;
      cards.prepend(card);
      card.querySelectorAll(".plot").forEach(draw);
    });
  });
  document.addEventListener("shown", all);
  all();
})();
