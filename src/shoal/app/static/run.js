"use strict";
// A run as it goes on: what it tells comes as events; when it has ended, the page is loaded anew.
(function () {
  const place = document.querySelector("[data-run]");
  if (!place) return;
  const [stage, seconds, bar, standing, drawing] = [".stage", ".seconds", "progress", ".standing", ".falling"].map((s) => place.querySelector(s));
  const losses = [];
  let found = 0;

  function draw() {
    if (losses.length < 2) return;
    const [first, last] = [losses[0].t, losses[losses.length - 1].t];
    const values = losses.map((one) => one.loss);
    const [low, high] = [Math.min(...values), Math.max(...values)];
    const x = (t) => (600 * (t - first)) / Math.max(last - first, 0.001);
    const y = (loss) => 4 + 112 * (1 - (loss - low) / Math.max(high - low, 1e-9));
    if (!drawing) return;
    drawing.querySelector(".line").setAttribute("points", losses.map((one) => `${x(one.t)},${y(one.loss)}`).join(" "));
    drawing.querySelector(".high").textContent = `${high.toFixed(3)} %`;
    drawing.querySelector(".low").textContent = `${low.toFixed(3)} %`;
    drawing.toggleAttribute("hidden", false);
  }

  const events = new EventSource(`/run/${place.dataset.run}/events`);
  events.addEventListener("message", function (event) {
    const told = JSON.parse(event.data);
    for (const line of told.lines) {
      if (line.stage && line.stage !== stage.textContent) stage.textContent = line.stage; // told aloud when it changes
      seconds.textContent = `${Math.round(line.seconds)} s`;
      if (typeof line.part === "number") bar.value = line.part;
      else bar.removeAttribute("value");
      if (line.words) standing.textContent = line.words;
      if (typeof line.loss === "number") losses.push({ t: line.seconds, loss: line.loss });
    }
    draw();
    if (typeof told.found === "number" && told.found !== found) {
      found = told.found;
      standing.textContent = `${found} finished`;
      document.dispatchEvent(new Event("found"));
    }
    if (told.state !== "running" || (told.released && !place.dataset.released)) {
      events.close();
      location.reload();
    }
  });
})();
