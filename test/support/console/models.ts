import assert from 'node:assert/strict';
import type { Browser, Page } from 'playwright-core';
import type { TestGateway } from '../gateway-harness.js';
import { openFlow, type Flow } from './flow.js';

/** The schema of a car, with additional or changed properties. */
export const carSchema = (properties: object, required: readonly string[] = []) => ({
  $schema: 'https://json-schema.org/draft/2020-12/schema',
  type: 'object',
  required: ['id', 'type', ...required],
  properties: { id: { type: 'string', format: 'uri' }, type: { const: 'Car' }, ...properties },
});

/** Opens a page of the section, after storing the given things. */
export async function openModels(
  browser: Browser,
  place: string,
  things: readonly (readonly [string, unknown])[] = [],
  env: Readonly<Record<string, string>> = {},
): Promise<Flow> {
  const flow = await openFlow(browser, '#/elsewhere', () => undefined, env);
  for (const [path, body] of things) await put(flow.gateway, path, body);
  await flow.page.goto(`${flow.gateway.url}/console/#/models${place}`);
  return flow;
}

export async function put(gateway: TestGateway, path: string, body: unknown): Promise<void> {
  const method = path === '/domains' || path === '/contexts' ? 'POST' : 'PUT';
  const answer = await gateway.sendJson(method, `/api/v2${path}`, body);
  assert.ok(answer.status < 300, answer.text);
}

export const get = async (gateway: TestGateway, path: string) =>
  (await gateway.send('GET', `/api/v2${path}`)).json() as Readonly<Record<string, unknown>>;

/** Puts a text into an editor, replacing its content. */
export async function fillEditor(page: Page, label: string, text: string): Promise<void> {
  await page.getByRole('textbox', { name: label }).click();
  await page.keyboard.press('Control+a');
  await page.keyboard.insertText(text);
}
