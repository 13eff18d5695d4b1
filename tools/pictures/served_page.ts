/**
 * Takes screenshots of the page of `informer serve` in Chromium.
 *
 * @module
 */
import { fillFakeServer, SteadyChurn } from "../../src/cli/shared/fake_server.ts";
import { FakeApiServer } from "../../src/testing/mod.ts";
import { ServedPage } from "../../tests/support/servers/served_page.ts";
import { Renderer } from "./render.ts";
import type { Theme } from "./theme.ts";

/** The size of the window, and the pixels of the picture for one of its own. */
const [WINDOW, SCALE] = [{ width: 1_140, height: 620 }, 1.5];

/** Opens the page on a server with 100 pods, some of which change, opens one of them, and takes the screenshots. */
export async function pagePicture(): Promise<Record<Theme, Uint8Array>> {
  using server = new FakeApiServer();
  await fillFakeServer(server, { count: 100, seed: 1 });
  await using served = new ServedPage(server);
  const churn = new SteadyChurn(server, 24, { mix: "update", seed: 1 });
  churn.start();
  await using renderer = await Renderer.start();
  const shots: Partial<Record<Theme, Uint8Array>> = {};
  for (const colorScheme of ["light", "dark"] as const) {
    const page = await renderer.browser.newPage({ viewport: WINDOW, deviceScaleFactor: SCALE, colorScheme });
    await page.goto(served.address);
    await page.locator("#rows tr").nth(3).click();
    await page.locator("#yaml", { hasText: "apiVersion" }).waitFor();
    await page.waitForTimeout(12_000); // for the curve of the events
    shots[colorScheme] = await renderer.webp(await page.screenshot());
    await page.close();
  }
  churn.stop();
  return shots as Record<Theme, Uint8Array>;
}
