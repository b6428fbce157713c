// SPDX-License-Identifier: BSD-3-Clause
// Opens the page of `chameleon serve` and does nothing but look:
//
//   node live.mjs MODULES SCREENSHOTS CHROMIUM URL
//
// Prints `running` when the page has followed the job, `ended` when it shows the job's death, and
// exits 0 once it shows that the server is gone. Whoever runs this brings these about.
import assert from "node:assert/strict";
import { createRequire } from "node:module";
import path from "node:path";

const [modules, screenshots, chromium, url] = process.argv.slice(2);
const { chromium: browserType } = createRequire(path.join(modules, "x.js"))("playwright-core");

const browser = await browserType.launch({ executablePath: chromium, args: ["--no-sandbox"] });
const page = await (await browser.newContext({ viewport: { width: 1280, height: 900 } })).newPage();
const faults = [];
let ending = false;
page.on("console", (message) => {
  if (message.type() === "error" && !ending) faults.push(message.text());
});
page.on("pageerror", (error) => faults.push(error.message));
page.on("request", (request) => {
  if (!request.url().startsWith(url)) faults.push(`asks for ${request.url()}`);
});

const acted = () => page.evaluate(() =>
  JSON.parse(document.getElementById("data").textContent).info.acted);
const beyond = (number) => page.waitForFunction((least) =>
  JSON.parse(document.getElementById("data")?.textContent ?? "{}").info?.acted > least, number);
const told = (text) => page.waitForFunction((words) =>
  document.getElementById("live-state")?.textContent.includes(words), text);

await page.goto(url);
await page.waitForSelector("#view-overview .cards");
await told("running, last flush");
await beyond(await acted());  // without anybody's doing
// The view and the theme outlive a refresh.
await page.click("#tab-load");
await page.click("#theme");
await page.waitForTimeout(100);
await beyond(await acted());
await page.waitForSelector("#view-load:not([hidden])");
assert.equal(await page.evaluate(() => document.documentElement.dataset.theme), "light");
await page.screenshot({ path: path.join(screenshots, "live-running.png") });
// A pause holds.
await page.click("#live-pause");
const held = await acted();
await told("there is a newer flush");
await page.waitForTimeout(2500);
assert.equal(await acted(), held, "the pause does not hold");
await page.click("#live-pause");
await beyond(held);
console.log("running");
await told("ended without MPI_Finalize");
await page.screenshot({ path: path.join(screenshots, "live-ended.png") });
ending = true;  // a server that is gone is an error to the console
console.log("ended");
await told("chameleon serve has ended");
assert.ok(await page.isVisible("#view-load"), "the page is gone");
assert.deepEqual(faults, []);
await browser.close();
