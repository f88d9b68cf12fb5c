// Puts the page together, in the order in which it is read.

function drawContents(header, main) {
  const links = [...main.querySelectorAll("section")].map(
      (section) =>
          el("a", {href: `#${section.id}`},
             section.querySelector("h2").textContent.replace(/ \(step .*\)$/, "")));
  header.append(el("nav", {"aria-label": "Contents"}, links));
}

function drawPage() {
  const header = document.getElementById("header");
  const main = document.getElementById("main");
  drawHeader(header);
  for (const draw
           of [drawBanner, drawSummary, drawFindings, drawFilters, drawSteps, drawHeatMap,
               drawRanks, drawCollectives, drawTimeline, drawMemory, drawDevices, drawOperators,
               drawTrust]) {
    draw(main);
  }
  drawContents(header, main);
}

drawPage();
