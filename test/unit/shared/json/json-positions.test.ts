import assert from 'node:assert/strict';
import { it } from 'node:test';
import fc from 'fast-check';
import { itemSpans, positionsOf } from '../../../../sidecar/shared/json/json-positions.js';
import { checkJson } from '../../../../sidecar/shared/json/strict-json.js';
import { unicodeText } from '../../../support/unicode-text.js';

/** A text, and the position of each of its values, by the reference tokens that lead to the value. */
interface Written {
  readonly text: string;
  readonly starts: ReadonlyMap<string, number>;
}

const BLANKS = ['', ' ', '\n', '\r\n', '\t', ' \n\n '] as const;
const NAMES = ['', 'a', 'b', '0', '1', 'a/b', '~', '"', '\\', '\n', 'é', '😀', 'constructor', '[', '}', ','];
const { json } = fc.letrec<{ readonly json: unknown }>((tie) => ({
  json: fc.oneof(
    { maxDepth: 4 },
    fc.oneof(fc.constantFrom<unknown>(null, true, -1.5e-7, 0, ...NAMES), unicodeText()),
    fc.array(tie('json'), { maxLength: 3 }),
    fc.dictionary(fc.constantFrom(...NAMES), tie('json'), { maxKeys: 4 }),
  ),
}));
/** The choices of whitespace and string notation, one after the other. */
const choices = fc.infiniteStream(fc.nat(11));

function keyOf(tokens: readonly string[]): string {
  return JSON.stringify(tokens);
}

function write(value: unknown, stream: Iterator<number>): Written {
  const starts = new Map<string, number>();
  let text = '';
  const choose = (): number => Number(stream.next().value);
  const blank = (): void => {
    text += BLANKS[choose() % BLANKS.length] ?? '';
  };
  const string = (content: string): string =>
    choose() % 2 === 0
      ? JSON.stringify(content)
      : `"${Array.from({ length: content.length }, (_, at) => `\\u${content.charCodeAt(at).toString(16).padStart(4, '0')}`).join('')}"`;
  const visit = (part: unknown, tokens: readonly string[]): void => {
    blank();
    starts.set(keyOf(tokens), text.length);
    if (typeof part === 'string') text += string(part);
    else if (typeof part !== 'object' || part === null) text += JSON.stringify(part);
    else {
      const isList = Array.isArray(part);
      text += isList ? '[' : '{';
      for (const [index, [name, inner]] of Object.entries(part).entries()) {
        if (index > 0) text += ',';
        blank();
        if (!isList) {
          text += string(name);
          blank();
          text += ':';
        }
        visit(inner, [...tokens, name]);
      }
      blank();
      text += isList ? ']' : '}';
    }
    blank();
  };
  visit(value, []);
  return { text, starts };
}

function positionAt(text: string, at: number) {
  const lines = text.slice(0, at).split('\n');
  return { line: lines.length, column: (lines.at(-1) ?? '').length + 1 };
}

function nearest({ text, starts }: Written, tokens: readonly string[]) {
  for (let length = tokens.length; ; length -= 1) {
    const at = starts.get(keyOf(tokens.slice(0, length)));
    if (at !== undefined) return positionAt(text, at);
  }
}

it('positionsOf finds line and column of every value, in any layout of the text', () => {
  fc.assert(
    fc.property(json, choices, (value, stream) => {
      const written = write(value, stream);
      checkJson(written.text);
      const pointers = [...written.starts.keys()].map((key) => JSON.parse(key) as string[]);
      assert.deepEqual(
        positionsOf(written.text, pointers),
        [...written.starts.values()].map((at) => positionAt(written.text, at)),
      );
    }),
    { numRuns: 500 },
  );
});

it('positionsOf finds the nearest value for pointers that lead nowhere, in any order', () => {
  const pointer = fc.array(fc.constantFrom(...NAMES, '2', '-', '00', '__proto__'), { maxLength: 5 });
  fc.assert(
    fc.property(json, choices, fc.array(pointer, { maxLength: 8 }), (value, stream, pointers) => {
      const written = write(value, stream);
      assert.deepEqual(
        positionsOf(written.text, pointers),
        pointers.map((tokens) => nearest(written, tokens)),
      );
    }),
    { numRuns: 500 },
  );
});

it('itemSpans finds every item of an array, in any layout of the text', () => {
  fc.assert(
    fc.property(fc.array(json, { maxLength: 5 }), choices, (items, stream) => {
      const { text, starts } = write(items, stream);
      const spans = itemSpans(text);
      assert.deepEqual(
        spans.map(([start]) => start),
        items.map((_, index) => starts.get(keyOf([String(index)]))),
      );
      for (const [start, end] of spans) {
        const item = text.slice(start, end);
        assert.equal(item, item.trim());
        checkJson(item);
      }
    }),
  );
});

it('positionsOf gives the position of the value, not of its name', () => {
  const text = '{\n  "a": [1,\n    {"\\u0062": "x"}],\r\n  "c":null }';
  const pointers = [[], ['a'], ['a', '1', 'b'], ['a', '2'], ['c'], ['d', 'e']];
  assert.deepEqual(
    positionsOf(text, pointers).map(({ line, column }) => `${line}:${column}`),
    ['1:1', '2:8', '3:16', '2:8', '4:7', '1:1'],
  );
  assert.deepEqual(positionsOf(' 1', []), []);
});

it('positionsOf finds thousands of values of a long text, including the deepest', () => {
  const entities = Array.from({ length: 20_000 }, (_, index) => ({
    id: `urn:${index}`,
    a: { value: [index] },
  }));
  const text = JSON.stringify(entities, null, 1);
  const pointers = entities.flatMap((_, index) => [
    [String(index), 'a', 'value', '0'],
    [String(index), 'none'],
  ]);
  const positions = positionsOf(text, pointers);
  const lines = text.split('\n');
  for (const [index, { line, column }] of positions.entries())
    if (index % 2 === 0) assert.equal(lines[line - 1]?.slice(column - 1), String(index / 2));
    else assert.equal(lines[line - 1]?.slice(column - 1), '{');
  const deep = `${'[{"a":'.repeat(250)}1${'}]'.repeat(250)}`;
  const tokens = Array.from({ length: 500 }, (_, level) => (level % 2 === 0 ? '0' : 'a'));
  assert.deepEqual(positionsOf(deep, [tokens]), [{ line: 1, column: deep.indexOf('1') + 1 }]);
});

it('positionsOf and itemSpans terminate on texts that are not JSON', () => {
  for (const text of ['', '{', '[', '{"a', '{"a"', '{"a":', '[1', '[[', '"\\', '[}', '[1}]', '[}}']) {
    positionsOf(text, [
      ['a', 'b'],
      ['0', '0'],
    ]);
    itemSpans(text);
  }
});
