import { CONTEXTS, EMPTY_BENCH, FORMS, type Bench } from './bench.js';

/** Maximum number of characters in the content of a link. Some programs cut off longer addresses. */
export const MAX_SHARED = 16_000;

/** Maximum number of characters in a text read from a link; a short link can unpack to a very long text. */
const MAX_TEXT = 1_000_000;

/** Packs the state of the workbench for the fragment of an address, which browsers do not send. */
export async function packed(bench: Bench): Promise<string> {
  const bytes = new TextEncoder().encode(JSON.stringify(bench));
  const deflated = await new Response(
    new Blob([bytes]).stream().pipeThrough(new CompressionStream('deflate-raw')),
  ).arrayBuffer();
  let binary = '';
  for (const byte of new Uint8Array(deflated)) binary += String.fromCharCode(byte);
  return btoa(binary).replaceAll('+', '-').replaceAll('/', '_').replace(/=+$/, '');
}

/** Reads the content of a link, which may come from anybody; undefined if it is invalid. */
export async function unpacked(shared: string): Promise<Bench | undefined> {
  try {
    if (shared.length > MAX_SHARED) return undefined;
    const binary = atob(shared.replaceAll('-', '+').replaceAll('_', '/'));
    const bytes = Uint8Array.from(binary, (character) => character.charCodeAt(0));
    return benchOf(JSON.parse(await inflated(bytes)));
  } catch {
    return undefined;
  }
}

async function inflated(bytes: Uint8Array<ArrayBuffer>): Promise<string> {
  const pieces = new Blob([bytes]).stream().pipeThrough(new DecompressionStream('deflate-raw'));
  const reader = pieces.pipeThrough(new TextDecoderStream('utf-8', { fatal: true })).getReader();
  let text = '';
  for (;;) {
    const { done, value } = await reader.read();
    if (done) return text;
    text += value;
    if (text.length > MAX_TEXT) {
      await reader.cancel();
      throw new RangeError('The text of the link is too long.');
    }
  }
}

/** Returns the content if its members have the right types; other members get the values of an empty workbench. */
function benchOf(value: unknown): Bench | undefined {
  if (typeof value !== 'object' || value === null) return undefined;
  const { text, model, form, isStrict, context, url, inline } = value as Readonly<Record<string, unknown>>;
  const textOr = (one: unknown, otherwise: string) => (typeof one === 'string' ? one : otherwise);
  return {
    text: textOr(text, ''),
    model: textOr(model, ''),
    form: FORMS.find((one) => one === form) ?? EMPTY_BENCH.form,
    isStrict: isStrict !== false,
    context: CONTEXTS.find((one) => one === context) ?? EMPTY_BENCH.context,
    url: textOr(url, ''),
    inline: textOr(inline, EMPTY_BENCH.inline),
  };
}
