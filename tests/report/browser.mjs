// SPDX-License-Identifier: BSD-3-Clause
// Opens pages in headless Chromium and uses every view, as a reader would:
//
//   node browser.mjs MODULES SCREENSHOTS CHROMIUM PAGE...
//
// MODULES is the folder with node_modules/playwright-core. Prints a line a page; exits 1 with the
// reason when a view stays empty, does not react, logs an error, or asks the network for anything.
import assert from "node:assert/strict";
import fs from "node:fs";
import { createRequire } from "node:module";
import path from "node:path";
import { pathToFileURL } from "node:url";

const [modules, screenshots, chromium, ...pages] = process.argv.slice(2);
const { chromium: browserType } = createRequire(path.join(modules, "x.js"))("playwright-core");

// In the order of the tabs. Load over time is there only where it was measured.
const viewsOf = (data) =>
  ["overview", "load", "waits", "efficiency", ...(data.efforts ? ["efforts"] : []), "phases",
   "clusters", "patterns", "matrix", "pairs", "structure", "timeline", "distributions", "calls"];

// Distinct colours of a canvas, without what is left and below: one, or none, is an empty picture.
async function colours(page, selector, number = 0, left = 0, below = 0) {
  return page.locator(selector).nth(number).evaluate((canvas, [left, below]) => {
    const { data } = canvas.getContext("2d").getImageData(left, 0, canvas.width - left, canvas.height - below);
    const seen = new Set();
    for (let i = 0; i < data.length && seen.size < 50; i += 4 * 7)
      if (data[i + 3]) seen.add((data[i] << 16) | (data[i + 1] << 8) | data[i + 2]);
    return seen.size;
  }, [left, below]);
}

const picture = (page, selector, number = 0) =>
  page.locator(selector).nth(number).evaluate((canvas) => canvas.toDataURL());

async function go(page, name) {
  await page.click(`#tab-${name}`);
  await page.waitForSelector(`#view-${name}:not([hidden])`);
}

// What the action does must show in the picture, or in `element`.
async function changes(page, what, selector, number, action) {
  const before = await picture(page, selector, number);
  await action();
  await page.waitForTimeout(60);
  assert.notEqual(await picture(page, selector, number), before, `${what} changes nothing`);
}

async function useOverview(page, data) {
  const text = await page.innerText("#view-overview");
  const told = (number) => number.toLocaleString("en-US");
  assert.ok(text.includes(told(data.stats.events)), "the number of calls is not on the overview");
  assert.ok(text.includes(told(data.info.ranks)), "the number of ranks is not on the overview");
  assert.ok((await page.locator("#view-overview .findings li").count()) > 0, "no findings");
  // Advice about markers only where there are some.
  const advised = data.info.tool_share > 0.05 && data.info.acted > 1 &&
    data.info.call_frequency === 1 && data.info.run_seconds > 2;
  assert.equal(text.includes("CHAMELEON_CALL_FREQUENCY"), advised, "advice about markers");
  // Where one rank's times stand for many, the page must not say that their work is equal.
  const { clusters, count_l, time_classes, timing } = data.info;
  if (!time_classes && timing === "histogram" && count_l > 0 && clusters.some((one) => /[-,]/.test(one.ranks))) {
    assert.ok(!text.includes("not unequal work"), "says more than the times tell");
    assert.match(text, /whether they share work evenly is not known/);
  }
}

async function useLoad(page, data) {
  const rows = await page.locator("#view-load .table").first().locator("tbody tr").count();
  if (data.slow.length > 0) assert.equal(rows, Math.min(data.slow.length, 20), "rows of slow steps");
  const bars = "#view-load .bars canvas";
  assert.ok((await colours(page, bars)) > 2, "the bars of ranks are empty");
  const longest = data.info.load?.slowest_rank;
  if (longest !== undefined && data.load.ranks_per_point === 1)
    assert.ok((await page.getAttribute(bars, "aria-label")).includes(`Rank ${longest} computes longest`),
              "the bars do not name the rank that computes longest");
  const computing = new Set(data.load.compute);
  if (computing.size > 4 && data.load.rank.length <= 64)
    await changes(page, "the order of bars", bars, 0, () =>
      page.locator("#view-load .choice label", { hasText: "longest first" }).click());
  await page.focus(bars);
  await page.keyboard.press("End");
  assert.match(await page.innerText("#view-load .told"), /(rank \d+|mean of \d+ ranks).*(computing|in MPI)/);
  const sort = page.locator("#view-load button.sort").first();
  await sort.click();
  assert.equal(await page.locator("#view-load th[aria-sort]").count(), 1, "sorting does nothing");
}

const rowsOf = (page, view, number = 0) =>
  page.locator(`#view-${view} .table`).nth(number).locator("tbody tr").count();

async function useWaits(page, data) {
  assert.ok(data.waits, "no waits in the page's data");
  assert.ok((await rowsOf(page, "waits")) > 0, "no kinds of waiting");
  assert.equal(await rowsOf(page, "waits", 1), Math.min(data.waits.places.length, 20), "places that wait");
  if (data.critical)
    assert.match(await page.innerText("#view-waits"), /Critical path/, "no critical path");
}

async function useEfficiency(page, data) {
  if (!data.efficiency) return assert.ok((await page.innerText("#view-efficiency")).length > 20);
  assert.equal(await rowsOf(page, "efficiency"), 5, "factors of efficiency");
  const text = await page.innerText("#view-efficiency .cards");
  assert.match(text, /Parallel efficiency\s+<?[\d.]+ %/, "parallel efficiency is not a share");
}

async function usePatterns(page, data) {
  if (!data.patterns) return assert.ok((await page.innerText("#view-patterns")).length > 20);
  assert.equal(await rowsOf(page, "patterns"), Math.min(data.patterns.rows.length, 25), "families");
}

async function usePairs(page, data) {
  if (!data.pairs?.nearest.length) return assert.ok((await page.innerText("#view-pairs")).length > 10);
  const tables = await page.locator("#view-pairs .table").count();
  assert.equal(await rowsOf(page, "pairs", tables - 1), Math.min(data.pairs.nearest.length, 20), "nearest pairs");
  if (!data.pairs.tree) return;
  const box = await page.locator("#view-pairs canvas").boundingBox();
  await page.mouse.move(box.x + 50, box.y + 10);  // the first cell
  assert.match(await page.innerText("#tip"), new RegExp(`rank ${data.pairs.tree.order[0]}$`), "the first of the order");
}

async function useEfforts(page, data) {
  const windows = data.efforts.filter((one) => one.gap === "none");
  assert.ok(windows.length > 1, "one window or none");
  const map = "#view-efforts canvas";
  // Without axes and the scale, which are drawn whatever else is.
  assert.ok((await colours(page, map, 0, 66, 46)) > 4, "the heat map is empty");
  assert.ok((await colours(page, map, 1, 66, 31)) > 4, "the sampled ranks are not drawn");
  const held = windows.filter((one) => one.holds).length;
  assert.match(await page.innerText("#view-efforts .cards"), new RegExp(`${held} of ${windows.length}`));
  const last = String(windows.length - 1), select = "#view-efforts select";
  await changes(page, "another window", map, 1, () => page.selectOption(select, last));
  const box = await page.locator(map).first().boundingBox();  // the first window begins behind the axis
  await changes(page, "a press on the first window", map, 1, () =>
    page.locator(map).first().click({ position: { x: 70, y: box.height / 3 } }));
  assert.equal(await page.inputValue(select), "0", "the press chooses another window");
  await page.locator(map).first().hover({ position: { x: 70, y: box.height / 3 } });
  assert.match(await page.innerText("#tip"), /ranks like rank \d+: mean/);
}

// The page with as many steps as a trace keeps at most, in windows of the greatest length.
function atSize(file, data) {
  const kWindows = 16, kSteps = 1024, kStrata = 8, kSampled = 4, kLike = 100, kSlowest = 0.1;
  const times = (seed, kinds) => Array.from({ length: kSteps }, (_, step) => 1e-3 * (1 + (step * (seed + 1)) % kinds));
  const errors = { mean_seconds: 2e-3, estimate_seconds: 2e-3, claimed_error_seconds: 1e-4,
                   actual_error_seconds: 0, holds: true };
  const stratum = (window, i) => ({
    medoid: kLike * i, ranks: kLike, mean_seconds: times(window + i, 7), deviation_seconds: times(i, 3),
    sampled: Array.from({ length: kSampled }, (_, j) => ({ rank: kLike * i + j, seconds: times(window + i + j, 7) })) });
  const efforts = Array.from({ length: kWindows }, (_, window) => ({
    first: 1 + window * kSteps, last: (1 + window) * kSteps, gap: "none", ranks: kStrata * kLike,
    sampled: kStrata * kSampled, ...errors,
    strata: Array.from({ length: kStrata }, (_, i) => stratum(window, i)),
    steps: times(window, 5).map((seconds, step) => ({
      marker: 1 + window * kSteps + step, sum_seconds: seconds, deviation_seconds: 0,
      least_seconds: seconds / 2, most_seconds: 2 * seconds, ...errors })) }));
  efforts[3].steps[500].most_seconds = kSlowest;
  const large = { ...data, efforts };
  const written = JSON.stringify(large).replaceAll("<", "\\u003c");
  const text = fs.readFileSync(file, "utf8")
    .replace(/(<script[^>]* id="data">)[^]*?(<\/script>)/, (_, begin, end) => begin + written + end);
  const made = path.join(screenshots, `${path.basename(file, ".html")}-at-size.html`);
  fs.writeFileSync(made, text);
  return { file: made, data: large };
}

async function useEffortsAtSize(context, small, data, faults) {
  const large = atSize(small, data);
  const page = await context.newPage();
  page.on("pageerror", (error) => faults.push(`at size: ${error.message}`));
  await page.goto(pathToFileURL(path.resolve(large.file)).href);
  await page.waitForSelector("#view-overview .cards");
  await go(page, "efforts");
  await page.screenshot({ path: large.file.replace(".html", ".png") });
  await useEfforts(page, large.data);
  // A single slow step of 16,384 shows as dark as the scale goes.
  const darkest = await page.locator("#view-efforts canvas").first().evaluate((canvas) => {
    const scale = canvas.width / canvas.clientWidth;
    const { data } = canvas.getContext("2d").getImageData(70 * scale, 12 * scale, canvas.width - 70 * scale, 1);
    let least = 765;
    for (let i = 0; i < data.length; i += 4) if (data[i + 3]) least = Math.min(least, data[i] + data[i + 1] + data[i + 2]);
    return least;
  });
  assert.ok(darkest < 200, `the slowest step is not dark: ${darkest}`);
  await page.close();
  fs.rmSync(large.file);
}

async function usePhases(page, data) {
  if (data.info.phases.length === 0) return;
  const canvas = "#view-phases canvas";
  assert.ok((await colours(page, canvas)) > 3, "the phases are not drawn");
  await changes(page, "an arrow key on phases", canvas, 0, async () => {
    await page.focus(canvas);
    await page.keyboard.press("ArrowRight");
  });
  assert.match(await page.innerText("#view-phases .told"), /AT/);
  await changes(page, "the axis of phases", canvas, 0, () =>
    page.locator("#view-phases .choice label", { hasText: "markers" }).click());
}

async function useClusters(page, data) {
  const canvas = "#view-clusters canvas";
  assert.ok((await colours(page, canvas)) > 2, "the map of ranks is empty");
  const chips = page.locator("#view-clusters .chip");
  assert.equal(await chips.count(), Math.min(60, data.info.clusters.length));
  if (data.info.program === "wavefront" && data.info.ranks === 16)
    assert.equal((await chips.nth(4).innerText()).trim(), "5: 5-6, 9-10");
  if (data.info.clusters.length > 1) {
    await changes(page, "choosing a cluster", canvas, 0, () => chips.nth(1).click());
    assert.match(await page.innerText("#view-clusters section"), /Cluster 2/);
  }
  if ((await page.locator("#view-clusters select option").count()) > 1)
    await changes(page, "the layout", canvas, 0, () =>
      page.selectOption("#view-clusters select", { index: 1 }));
  await page.selectOption("#view-clusters select", { index: 0 });
}

async function useMatrix(page, data) {
  const canvas = "#view-matrix canvas";
  if (data.matrix.pairs === 0) {
    assert.match(await page.innerText("#view-matrix"), /No rank sent a message/);
    return;
  }
  assert.ok((await colours(page, canvas)) > 3, "the matrix is empty");
  for (const word of ["messages", "linear"])
    await page.locator("#view-matrix .choice label", { hasText: word }).first().click();
  await changes(page, "zooming", canvas, 0, () => page.click("#view-matrix button[title='Zoom in']"));
  await changes(page, "moving", canvas, 0, async () => {
    await page.focus(canvas);
    await page.keyboard.press("ArrowDown");
  });
  await changes(page, "showing all", canvas, 0, () => page.keyboard.press("0"));
  if (data.info.clusters.length > 1)
    await changes(page, "clusters", canvas, 0, () =>
      page.locator("#view-matrix .choice label", { hasText: "clusters" }).click());
  await page.click("#view-matrix summary");
  assert.ok((await page.locator("#view-matrix tbody tr").count()) > 0, "no table of the matrix");
}

async function useStructure(page, data) {
  const variants = page.locator("#view-structure .tick", { hasText: "variants as one row" });
  if (data.info.program === "multigrid") assert.equal(await variants.count(), 1, "the exchanges of a multigrid are not variants");
  if (await variants.count()) {
    const grouped = await page.locator("#view-structure tbody tr").count();
    await variants.click();
    const whole = await page.locator("#view-structure tbody tr").count();
    assert.ok(grouped < whole, `variants as one row take ${grouped} rows, without ${whole}`);
    await variants.click();
  }
  const rows = "#view-structure tbody tr:visible";
  const all = await page.locator(rows).count();
  assert.ok(all > 0, "no structure");
  const fold = page.locator("#view-structure .fold[aria-expanded='true']").first();
  if (await fold.count()) {
    const handle = await fold.elementHandle();
    await handle.click();
    assert.ok((await page.locator(rows).count()) < all, "closing a loop hides nothing");
    await handle.click();
    assert.equal(await page.locator(rows).count(), all);
  }
  await page.locator("#view-structure .place").last().click();
  await page.waitForSelector("dialog[open]");
  assert.ok((await page.locator("dialog .frames li").count()) > 0, "no call path");
  await page.screenshot({ path: `${shot}-place.png` });
  await page.keyboard.press("Escape");
  assert.equal(await page.locator("dialog[open]").count(), 0, "Escape does not close");
}

// Nothing is drawn before a rank's MPI_Init, and it is named so.
async function checkEmptyEnds(page, data, band) {
  const { overview } = data.timeline;
  await page.click("#view-timeline button[title='Show all ranks and the whole run']");
  const row = overview.begin.findIndex((begin) => begin > 3 * overview.column_ns);
  if (row < 0) return;
  const canvas = page.locator("#view-timeline canvas").nth(band), box = await canvas.boundingBox();
  const high = box.height - 34 - 8, y = 8 + ((row + 0.5) / overview.rows) * high;
  await canvas.hover({ position: { x: 71, y } });
  assert.match(await page.innerText("#tip"), /before MPI_Init/, "time before MPI_Init is called something else");
}

// Choosing one rank leaves something of it in every view, and nothing of others in its tables.
async function useFilterOfRanks(page, data, views) {
  const rank = data.info.ranks - 1;
  const choose = async (text) => {
    await page.fill("#ranks", text);
    await page.press("#ranks", "Enter");
  };
  await go(page, "load");
  await choose("x");
  assert.match(await page.innerText("#ranks-said"), /is no list of ranks/, "a wrong choice is taken");
  await choose(String(rank));
  assert.match(page.url(), new RegExp(`#load\\?ranks=${rank}$`), "the address does not keep the choice");
  for (const view of views) {
    await go(page, view);
    const text = await page.innerText(`#view-${view}`);
    assert.ok(text.includes(`Chosen: rank ${rank}`) || /No |None |not |There /.test(text), `${view} says nothing of the chosen rank`);
    await page.screenshot({ path: `${shot}-${view}-chosen.png`, fullPage: true });
  }
  await go(page, "structure");
  assert.ok((await page.locator("#view-structure tbody tr").count()) > 0, "the chosen rank does nothing");
  if (data.matrix?.pairs > 0 && data.matrix.ranks_per_cell === 1) {
    await go(page, "matrix");
    for (const cells of await page.locator("#view-matrix .beside tbody tr").allInnerTexts())
      assert.match(cells, new RegExp(`rank ${rank}\\b`), "a pair without the chosen rank");
  }
  await choose("");
  assert.equal(await page.locator(".note", { hasText: "Chosen:" }).count(), 0, "the choice stays");
}

async function useTimeline(page, data) {
  const band = data.series.length > 1 ? 1 : 0;  // above the others
  if (band) assert.ok((await colours(page, "#view-timeline canvas", 0)) > 2, "the series is not drawn");
  for (const slow of data.slow)
    assert.ok((await page.getAttribute("#view-timeline canvas", "aria-label")).includes(slow.whose === "all" ? "no rank alone" : "rank"),
              "the series does not name slow steps");
  assert.ok((await colours(page, "#view-timeline canvas", band)) > 3, "the overview is empty");
  assert.ok((await colours(page, "#view-timeline canvas", band + 1)) > 3, "the calls are not drawn");
  await changes(page, "zooming in time", "#view-timeline canvas", band + 1, async () => {
    for (let i = 0; i < 3; ++i) await page.click("#view-timeline button[title='Zoom in']");
  });
  const choose = (word) => page.locator("#view-timeline .choice label", { hasText: word }).click();
  if (data.timeline.has_waits) {
    await changes(page, "kinds of calls", "#view-timeline canvas", band, () => choose("kinds of calls"));
    await choose("work and waiting");
  }
  if (data.timeline.detail.tracks.some((track) => track.waits.length > 0))
    await changes(page, "who is waited for", "#view-timeline canvas", band + 1, () => choose("who is waited for"));
  if (data.timeline.classes.rows > 0)
    await changes(page, "rows of ranks that are alike", "#view-timeline canvas", band, async () => {
      await choose("ranks that are alike");
      await choose(/ranks$/);
      await page.click("#view-timeline button[title='Zoom in on all ranks']");
    });
  await checkEmptyEnds(page, data, band);
  await page.focus(`#view-timeline canvas >> nth=${band + 1}`);
  await page.keyboard.press("ArrowDown");
  assert.match(await page.locator("#view-timeline .told").last().innerText(), /rank \d+: \w+/);
  await page.screenshot({ path: `${shot}-timeline-zoomed.png`, fullPage: true });
  await page.click("#view-timeline button[title='Show all of it']");
}

async function useDistributions(page) {
  const charts = await page.locator("#view-distributions .chart canvas").count();
  for (let i = 0; i < charts; ++i)
    assert.ok((await colours(page, "#view-distributions .chart canvas", i)) > 2, `chart ${i} is empty`);
  const select = page.locator("#view-distributions select");
  if ((await select.locator("option").count()) > 1)
    await changes(page, "another call", "#view-distributions .chart canvas", charts - 1, () =>
      select.selectOption({ index: 1 }));
}

async function useCalls(page, data) {
  const text = await page.innerText("#view-calls");
  for (const row of data.stats.rows)
    assert.ok(text.includes(row.count.toLocaleString("en-US")), `${row.call}: its count is not shown`);
  const search = page.locator("#view-calls input[type=search]").first();
  if (await search.count()) {
    const rows = page.locator("#view-calls .table:has(input[type=search])").first().locator("tbody tr");
    const all = await rows.count();
    await search.fill(data.paths[0].call);
    const some = await rows.count();
    assert.ok(some > 0 && some < all, `searching for ${data.paths[0].call} leaves ${some} of ${all} rows`);
    await search.fill("no such thing");
    assert.equal(await rows.count(), 0, "searching finds what is not there");
    await search.fill("");
    assert.equal(await rows.count(), all);
  }
}

const uses = { overview: useOverview, load: useLoad, waits: useWaits, efficiency: useEfficiency,
               efforts: useEfforts, phases: usePhases, clusters: useClusters, patterns: usePatterns,
               matrix: useMatrix, pairs: usePairs, structure: useStructure, timeline: useTimeline,
               distributions: useDistributions, calls: useCalls };

let shot = "";
const browser = await browserType.launch({ executablePath: chromium, args: ["--no-sandbox"] });
for (const file of pages) {
  const name = path.basename(file, ".html");
  const context = await browser.newContext({ viewport: { width: 1280, height: 900 },
                                             colorScheme: "light" });
  const page = await context.newPage();
  const faults = [];
  page.on("console", (message) => {
    if (["error", "warning"].includes(message.type())) faults.push(message.text());
  });
  page.on("pageerror", (error) => faults.push(error.message));
  page.on("request", (request) => {
    if (!/^(file|data|blob):/.test(request.url())) faults.push(`asks for ${request.url()}`);
  });
  const began = Date.now();
  await page.goto(pathToFileURL(path.resolve(file)).href);
  await page.waitForSelector("#view-overview .cards");
  const opened = Date.now() - began;
  const data = JSON.parse(await page.locator("#data").textContent());
  const views = viewsOf(data);
  assert.equal(await page.locator("[role=tab]").count(), views.length);
  for (const view of views) {
    shot = path.join(screenshots, `${name}-${view}`);
    await go(page, view);
    await page.waitForTimeout(50);
    await page.screenshot({ path: `${shot}.png`, fullPage: true });
    await uses[view](page, data);
  }
  // Every picture names what it is, and every table its columns.
  const unnamed = await page.locator("canvas[role=img]:not([aria-label]), select:not([id])").count();
  assert.equal(unnamed, 0, "a picture or a control without a name");
  shot = path.join(screenshots, name);
  await useFilterOfRanks(page, data, views);
  // Tabs by keyboard alone.
  await page.focus("#tab-calls");
  await page.keyboard.press("Home");
  assert.ok(await page.isVisible("#view-overview"), "Home does not go to the first tab");
  await page.keyboard.press("ArrowRight");
  assert.ok(await page.isVisible("#view-load"), "the arrow does not go to the next tab");
  // Dark, then narrow.
  await page.click("#theme");
  await page.click("#theme");
  assert.equal(await page.evaluate(() => document.documentElement.dataset.shade), "dark");
  for (const view of views) {
    await go(page, view);
    await page.waitForTimeout(50);
    await page.screenshot({ path: path.join(screenshots, `${name}-${view}-dark.png`), fullPage: true });
  }
  for (const width of [400, 800, 1400]) {
    await page.setViewportSize({ width, height: 900 });
    await page.waitForTimeout(150);
    for (const view of views) {
      await go(page, view);
      const wide = await page.evaluate(() => document.documentElement.scrollWidth - innerWidth);
      assert.ok(wide <= 1, `${view} is ${wide} pixels wider than a window of ${width}`);
      const narrow = await page.locator(`#view-${view} td > .place:visible`).evaluateAll((places) =>
        places.filter((place) => place.getBoundingClientRect().width < 120).length);
      assert.equal(narrow, 0, `${view}: ${narrow} places are broken in a window of ${width}`);
      await page.screenshot({ path: path.join(screenshots, `${name}-${view}-${width}.png`), fullPage: true });
    }
  }
  await page.screenshot({ path: path.join(screenshots, `${name}-narrow.png`), fullPage: true });
  if (data.efforts) await useEffortsAtSize(context, file, data, faults);
  assert.deepEqual(faults, [], `${name}: the console says`);
  console.log(`${name}: opened in ${opened} ms, every view renders and reacts`);
  await context.close();
}
await browser.close();
