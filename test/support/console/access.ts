import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import type { Page } from 'playwright-core';

/** What axe-core found. */
interface Accessibility {
  readonly violations: readonly { id: string; impact: string; nodes: readonly { html: string }[] }[];
  readonly passes: readonly { id: string }[];
}

const axe = readFileSync(createRequire(import.meta.url).resolve('axe-core/axe.min.js'), 'utf8');

/** Checks that a page has no serious fault of accessibility, and that a telephone is wide enough for it. */
export async function checkAccess(page: Page): Promise<void> {
  await page.evaluate(axe);
  const found = await page.evaluate<Accessibility>('axe.run()');
  assert.ok(found.passes.some(({ id }) => id === 'color-contrast'));
  const serious = found.violations.filter(({ impact }) => impact === 'serious' || impact === 'critical');
  assert.deepEqual(
    serious.map(({ id, nodes }) => `${page.url()}: ${id} ${nodes.map(({ html }) => html).join(' ')}`),
    [],
  );
  await page.setViewportSize({ width: 360, height: 740 });
  const overflow = await page.evaluate('document.documentElement.scrollWidth - innerWidth');
  assert.ok(Number(overflow) <= 0, `${page.url()} is ${String(overflow)} pixels too wide`);
  await page.setViewportSize({ width: 1280, height: 900 });
}
