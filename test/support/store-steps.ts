import type { SchemaStore } from '../../sidecar/store/sql-store.js';
import { contextVersion, modelVersion, reference, SETTINGS } from './store-samples.js';

const DOMAIN = 'work';

/**
 * Makes the nth write of an endless fixed series that creates, changes and deletes all kinds of
 * things.
 */
export async function takeStep(store: SchemaStore, n: number): Promise<void> {
  if (n === 0) {
    await store.domains.create({ name: DOMAIN });
    return;
  }
  const round = Math.floor((n - 1) / STEPS.length);
  await STEPS[(n - 1) % STEPS.length]?.(store, round);
}

type Step = (store: SchemaStore, round: number) => Promise<unknown>;

const STEPS: readonly Step[] = [
  (store, round) => store.references.put(reference(uriOf(round), text('reference', round))),
  async (store, round) => store.models.create(keyOf(round), SETTINGS, await version(store, round, 'first')),
  (store, round) => store.contexts.create(`c${round}`, contextVersion(`${round}`, `${DOMAIN}~M${round}`)),
  async (store, round) =>
    store.models.update(keyOf(round), { settings: SETTINGS, version: await version(store, round, 'second') }),
  (store, round) => store.references.put(reference(uriOf(round), text('replaced', round), uriOf(round + 1))),
  (store, round) => store.contexts.update(`c${round}`, contextVersion(`${round}, again`)),
  (store, round) => store.contexts.delete(`c${round}`),
  (store, round) => (round % 2 === 0 ? store.models.delete(keyOf(round)) : store.domains.get(DOMAIN)),
];

async function version(store: SchemaStore, round: number, tag: string) {
  const { sha256 } = (await store.references.get(uriOf(round))).content;
  const references = new Map([[uriOf(round), sha256]]);
  return modelVersion(`${tag} ${round}`, { schema: text(tag, round), references });
}

function keyOf(round: number) {
  return { domain: DOMAIN, name: `M${round}` };
}

function uriOf(round: number): string {
  return `https://schemas.example/${round}.json`;
}

/** Long enough to fill several pages of a database. */
function text(tag: string, round: number): string {
  return JSON.stringify({ title: `${tag} ${round}`, description: 'x'.repeat(20_000) });
}
