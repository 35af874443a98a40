"use strict";
// check.js CHROMIUM REPORT FOLDER: opens a report as people do, wide and narrow, in light
// and dark, and on paper. An error on the console, a request, a serious finding of
// axe-core, a page wider than its screen or a table that does not sort is a failure. It
// leaves screenshots in the folder.
const path = require("path");
const puppeteer = require("puppeteer-core");

async function check(browser, file, folder, width, scheme) {
  const page = await browser.newPage();
  const faults = [];
  page.on("console", (m) => { if (["error", "warn"].includes(m.type())) faults.push(`console: ${m.text()}`); });
  page.on("pageerror", (e) => faults.push(`error: ${e.message}`));
  page.on("request", (r) => { if (!r.isNavigationRequest() && !r.url().startsWith("data:")) faults.push(`request: ${r.url()}`); });
  await page.setViewport({ width, height: 900 });
  await page.emulateMediaFeatures([{ name: "prefers-color-scheme", value: scheme }]);
  await page.goto(`file://${path.resolve(file)}`);
  await page.screenshot({ path: path.join(folder, `${path.basename(file, ".html")}-${width}-${scheme}.png`), fullPage: true });
  const wide = await page.evaluate(() => document.documentElement.scrollWidth - document.documentElement.clientWidth);
  if (wide > 0) faults.push(`the page is ${wide} pixels wider than the screen`);
  faults.push(...await page.evaluate(() => {
    const bad = [];
    for (const table of document.querySelectorAll("table")) {
      const numbers = [...table.tHead.rows[0].cells].findIndex((c) => c.classList.contains("n"));
      if (numbers < 0) continue;
      table.tHead.rows[0].cells[numbers].querySelector("button").click();
      const values = [...table.tBodies[0].rows].map((r) => Number(r.cells[numbers].dataset.n));
      if (values.some((v, i) => Number.isNaN(v) || i > 0 && v > values[i - 1])) bad.push(`${table.caption.textContent} is not sorted`);
    }
    return bad;
  }));
  // The page's own policy keeps scripts out; axe-core comes through the debugger.
  await page.evaluate(require("axe-core").source);
  const { violations } = await page.evaluate(() => axe.run());
  for (const v of violations) {
    const text = `axe: ${v.impact}: ${v.id}: ${v.help} (${v.nodes.length}): ${v.nodes[0].html.slice(0, 200)}`;
    if (["serious", "critical"].includes(v.impact)) faults.push(text);
    else console.log(text);
  }
  if (width > 1000 && scheme === "light") await page.pdf({ path: path.join(folder, `${path.basename(file, ".html")}-paper.pdf`), format: "A4" });
  await page.close();
  return faults.map((f) => `${width} pixels, ${scheme}: ${f}`);
}

async function main([chromium, file, folder]) {
  const browser = await puppeteer.launch({ executablePath: chromium, args: ["--no-sandbox", "--disable-gpu"], protocolTimeout: 0 });
  const faults = [];
  for (const width of [1280, 390]) {
    for (const scheme of ["light", "dark"]) faults.push(...await check(browser, file, folder, width, scheme));
  }
  await browser.close();
  for (const fault of faults) console.error(fault);
  console.log(`report: ${faults.length} faults`);
  process.exitCode = faults.length > 0 ? 1 : 0;
}

main(process.argv.slice(2));
