// SPDX-License-Identifier: BSD-3-Clause
// For scripts/pictures: the upper part of views of reports as PNG.
//
//   node pictures.mjs MODULES CHROMIUM SHOTS
//
// SHOTS is JSON, a list of {page, view, width, height, shade, presses, file}.
import { createRequire } from "node:module";
import path from "node:path";
import { pathToFileURL } from "node:url";

const [modules, chromium, shots] = process.argv.slice(2);
const { chromium: browserType } = createRequire(path.join(modules, "x.js"))("playwright-core");
const browser = await browserType.launch({ executablePath: chromium, args: ["--no-sandbox"] });
for (const { page: file, view, width, height, shade, presses, file: output } of JSON.parse(shots)) {
  const context = await browser.newContext({ viewport: { width, height }, colorScheme: shade });
  const page = await context.newPage();
  await page.goto(`${pathToFileURL(file).href}#${view}`);
  await page.waitForSelector(`#view-${view}:not([hidden])`);
  for (const press of presses) await page.click(`#view-${view} button[title='${press}']`);
  await page.waitForTimeout(200);
  await page.screenshot({ path: output });
  await context.close();
}
await browser.close();
