import assert from 'node:assert/strict';
import { beforeEach, it } from 'node:test';
import { readTerms } from '../../../console/models/read-terms.js';
import { MAX_TERMS, partsOf } from '../../../console/models/terms.js';
import { HOME, openTab, problem } from './open-tab.js';

const CORE = 'https://uri.etsi.org/ngsi-ld/v1/ngsi-ld-core-context';
const own = (name: string) => `${HOME}api/v2/contexts/${name}`;

const page = openTab();
/** Stored contexts by name, and reference documents by URI. */
let stored: Record<string, unknown>;
let documents: Record<string, unknown>;
/** Where a context is: that of another gateway is elsewhere. */
let urlOf: (name: string) => string;
const { signal } = new AbortController();

beforeEach(() => {
  [stored, documents, urlOf] = [{}, {}, own];
  page.answer = ({ url, body }) => {
    const { pathname, searchParams } = new URL(url);
    if (pathname.endsWith('/expand')) {
      const { document } = JSON.parse(body) as { document: Record<string, string> };
      const iris = Object.entries(document).map(([term, mark]) => [`urn:x:${term}`, [{ '@value': mark }]]);
      return Response.json({ result: [Object.fromEntries(iris)] });
    }
    if (pathname.endsWith('/contexts'))
      return Response.json(Object.keys(stored).map((name) => ({ name, url: urlOf(name) })));
    const [, name] = /\/contexts\/(.+)$/.exec(pathname) ?? [];
    const version = searchParams.get('version');
    const found =
      name === undefined
        ? documents[searchParams.get('uri') ?? '']
        : stored[version === null ? name : `${name}@${version}`];
    return found === undefined ? problem(404) : Response.json(found);
  };
});

const read = async (context: unknown, isCore = false) => readTerms({ '@context': context }, isCore, signal);
const termsOf = async (context: unknown) =>
  (await read(context)).terms.map(({ term, from, iri }) => [term, from, iri]);

it('each term is shown with its IRI and the name of the context that defines it, and the later one wins', async () => {
  stored['base'] = { '@context': { b: 'urn:b', a: 'urn:a' } };
  documents['https://d.test/c'] = { '@context': { d: 'urn:d' } };
  assert.deepEqual(await termsOf([own('base'), 'https://d.test/c', { c: 'urn:c', a: 'urn:own' }]), [
    ['a', undefined, 'urn:x:a'],
    ['b', own('base'), 'urn:x:b'],
    ['c', undefined, 'urn:x:c'],
    ['d', 'https://d.test/c', 'urn:x:d'],
  ]);
  assert.deepEqual((await read([own('base'), 'https://d.test/c'])).others, []);
});

it('a context is read in the named version', async () => {
  stored['base'] = { '@context': { now: 'urn:b' } };
  stored['base@2'] = { '@context': { before: 'urn:b' } };
  assert.deepEqual(
    (await termsOf(`${own('base')}?version=2`)).map(([term]) => term),
    ['before'],
  );
});

it('a context of another gateway is not confused with one of the same name here', async () => {
  stored['base'] = { '@context': { b: 'urn:b' } };
  urlOf = (name) => `https://other.test/api/v2/contexts/${name}`;
  const { terms, others } = await read([own('base')]);
  assert.deepEqual([terms, others], [[], [own('base')]]);
  assert.ok(!page.lines.some((line) => line.endsWith('/contexts/base')));
});

it('contexts that name each other are each read once', async () => {
  stored['one'] = { '@context': [own('two'), { a: 'urn:a' }] };
  stored['two'] = { '@context': [own('one'), { b: 'urn:b' }] };
  const { terms } = await read(own('one'));
  assert.deepEqual(
    terms.map(({ term }) => term),
    ['a', 'b'],
  );
  assert.equal(page.lines.filter((line) => line.endsWith('/contexts/one')).length, 1);
});

it('twenty contexts are read at most, and the others are named', async () => {
  const uris = Array.from({ length: 22 }, (_, index) => `https://d.test/${index}`);
  for (const uri of uris) documents[uri] = { '@context': { [uri.slice(15)]: 'urn:x' } };
  const { others } = await read(uris);
  assert.deepEqual(others, uris.slice(20));
});

it('core terms are left out, and unreadable contexts are named', async () => {
  for (const core of [CORE, `${CORE}.jsonld`, `${CORE}-v1.9.jsonld`, `${CORE}-v1.8`]) {
    page.sent.length = 0;
    assert.deepEqual((await read([core])).others, [core]);
    assert.equal(page.sent.length, 0);
    assert.deepEqual((await read([core], true)).others, []);
  }
  assert.deepEqual((await read(['https://none.test/'])).others, ['https://none.test/']);
  page.answer = () => {
    throw new TypeError('away');
  };
  await assert.rejects(read(['https://none.test/']), /cannot be reached/);
});

it('two thousand terms are shown at most, with a note that there are more', async () => {
  const terms = (many: number) =>
    Object.fromEntries(Array.from({ length: many }, (_, index) => [`t${index}`, 'urn:x']));
  assert.equal(MAX_TERMS, 2000);
  for (const [many, isCut] of [
    [2000, false],
    [2001, true],
  ] as const) {
    const found = await read(terms(many));
    assert.deepEqual([found.terms.length, found.isCut], [2000, isCut]);
    assert.ok(found.terms.every(({ iri }) => iri !== undefined));
  }
});

it('a thousand parts of a context are visited at most', () => {
  assert.equal(partsOf(Array<string>(1001).fill('https://a.test')).length, 1000);
});
