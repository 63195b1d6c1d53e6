"use strict";
// A run as it goes on: what it tells comes as events; when it has ended, the page is loaded anew.
(function () {
  const place = document.querySelector("[data-run]");
  if (!place) return;
  const [stage, bar, standing, drawing] = [".stage", "progress", ".standing", ".falling"].map((s) => place.querySelector(s));
  const losses = [];
  let released = false;

  function draw() {
    if (losses.length < 2) return;
    const [first, last] = [losses[0].t, losses[losses.length - 1].t];
    const values = losses.map((one) => one.loss);
    const [low, high] = [Math.min(...values), Math.max(...values)];
    const x = (t) => (600 * (t - first)) / Math.max(last - first, 0.001);
    const y = (loss) => 24 + 110 * (1 - (loss - low) / Math.max(high - low, 1e-9));
    drawing.querySelector(".line").setAttribute("points", losses.map((one) => `${x(one.t)},${y(one.loss)}`).join(" "));
    drawing.querySelector(".high").textContent = `${high.toFixed(3)} %`;
    drawing.querySelector(".low").textContent = `${low.toFixed(3)} %`;
    drawing.toggleAttribute("hidden", false);
  }

  const events = new EventSource(`/run/${place.dataset.run}/events`);
  events.addEventListener("message", function (event) {
    const told = JSON.parse(event.data);
    for (const line of told.lines) {
      if (line.stage) stage.textContent = `${line.stage}, ${Math.round(line.seconds)} s`;
      if (typeof line.part === "number") bar.value = line.part;
      else bar.removeAttribute("value");
      if (line.words) standing.textContent = line.words;
      if (typeof line.loss === "number") losses.push({ t: line.seconds, loss: line.loss });
    }
    draw();
    document.dispatchEvent(new CustomEvent("told", { detail: told }));
    if (told.state !== "running" || (told.released && !released && place.dataset.state === "waiting")) {
      events.close();
      location.reload();
    }
    released = Boolean(told.released);
  });
})();
