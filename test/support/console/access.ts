import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import type { Page } from 'playwright-core';
import { isThorough } from '../thoroughness.js';

/** The result of axe-core. */
interface Accessibility {
  readonly violations: readonly { id: string; impact: string; nodes: readonly { html: string }[] }[];
  readonly passes: readonly { id: string }[];
}

/** Rules that axe-core calls moderate, although people who use a screen reader navigate by what they check. */
const ALWAYS: ReadonlySet<string> = new Set(['page-has-heading-one', 'landmark-unique']);

const axe = readFileSync(createRequire(import.meta.url).resolve('axe-core/axe.min.js'), 'utf8');

/**
 * Checks that a page has no serious accessibility fault, one main heading and landmarks that can be
 * told apart, and fits the width of a phone. Thorough
 * tests also check the colours of the dark theme and of narrow pages, because axe-core is slow.
 */
export async function checkAccess(page: Page): Promise<void> {
  // axe stays loaded while only the hash of the address changes.
  if (!(await page.evaluate<boolean>('"axe" in globalThis'))) await page.evaluate(axe);
  // The selectors of the findings would take a third of the time, and are not shown.
  await checkRules(page, "axe.run({ selectors: false, resultTypes: ['violations'] })");
  const colours = "axe.run({ selectors: false, resultTypes: ['violations'], runOnly: ['color-contrast'] })";
  if (isThorough) {
    await page.emulateMedia({ colorScheme: 'dark' });
    await checkRules(page, colours);
    await page.emulateMedia({ colorScheme: 'light' });
  }
  await page.setViewportSize({ width: 360, height: 740 });
  if (isThorough) await checkRules(page, colours);
  const overflow = await page.evaluate('document.documentElement.scrollWidth - innerWidth');
  assert.ok(Number(overflow) <= 0, `${page.url()} is ${String(overflow)} pixels too wide`);
  await page.setViewportSize({ width: 1280, height: 900 });
}

async function checkRules(page: Page, run: string): Promise<void> {
  // The page keeps what is not looked at here: the elements that pass each rule are thousands.
  const found = await page.evaluate<Accessibility>(`${run}.then(({ violations, passes }) => ({
    violations: violations.map(({ id, impact, nodes }) => ({ id, impact, nodes: nodes.map(({ html }) => ({ html })) })),
    passes: passes.map(({ id }) => ({ id })),
  }))`);
  assert.ok(found.passes.some(({ id }) => id === 'color-contrast'));
  const serious = found.violations.filter(
    ({ id, impact }) => impact === 'serious' || impact === 'critical' || ALWAYS.has(id),
  );
  assert.deepEqual(
    serious.map(({ id, nodes }) => `${page.url()}: ${id} ${nodes.map(({ html }) => html).join(' ')}`),
    [],
  );
}
