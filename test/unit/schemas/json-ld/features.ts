import { CORE } from './contexts.js';

/** A context of another service, with a term that the documents use. */
export const CITY = 'https://city.example/context';
export const SHARED: Readonly<Record<string, unknown>> = {
  [CITY]: {
    seats: 'https://city.example/seats',
    part: { '@id': 'https://city.example/part', '@type': '@id' },
  },
  'https://city.example/base': [CITY, { lamp: 'https://city.example/lamp' }],
  'https://city.example/scoped': {
    Bench: { '@id': 'https://city.example/Bench', '@context': { wood: 'https://city.example/wood' } },
    inner: { '@id': 'https://city.example/inner', '@context': CITY },
  },
  'https://city.example/importing': { '@import': CITY, more: 'https://city.example/more' },
};

const EX = 'https://ex.example/';
const term = (definition: object) => ({ p: { '@id': `${EX}p`, ...definition }, q: `${EX}q`, '@vocab': EX });

/** Documents that use contexts and their features in each way, most in compact form with their own context. */
export const FEATURES: Readonly<Record<string, Readonly<Record<string, unknown>>>> = {
  'plain values': { '@context': term({}), '@id': `${EX}1`, p: [1, 'a', true, 1.5], q: 'x' },
  'an entity': {
    '@context': [CITY, CORE],
    id: 'urn:ngsi-ld:Bench:1',
    type: 'Bench',
    seats: { type: 'Property', value: 3, unitCode: 'C62', observedAt: '2026-01-01T00:00:00Z' },
    part: { type: 'Relationship', object: 'urn:ngsi-ld:Part:1' },
    location: { type: 'GeoProperty', value: { type: 'Point', coordinates: [1, 2] } },
    name: { type: 'LanguageProperty', languageMap: { en: 'bench', de: 'Bank' } },
    kind: { type: 'VocabProperty', vocab: 'Bench' },
    free: { type: 'JsonProperty', json: { a: [null, { b: [] }], '@context': 'no context' } },
  },
  'an entity without own terms': {
    '@context': CORE,
    id: 'urn:x:1',
    type: 'T',
    speed: { type: 'Property', value: 1 },
  },
  'property-valued index maps': {
    '@context': term({ '@container': '@index', '@index': 'key' }),
    p: { one: { '@id': `${EX}2`, q: 1 } },
  },
  graphs: {
    '@context': term({}),
    '@graph': [
      { '@id': `${EX}1`, p: 1 },
      { '@id': `${EX}2`, p: [2, null] },
    ],
  },
  'nested members': {
    '@context': { box: '@nest', p: { '@id': `${EX}p`, '@nest': 'box' } },
    '@id': `${EX}1`,
    box: { p: 'x' },
  },
  'reverse properties': {
    '@context': term({}),
    '@id': `${EX}1`,
    '@reverse': { p: { '@id': `${EX}2`, q: 1 } },
  },
  'reverse terms': {
    '@context': { r: { '@reverse': `${EX}p` }, q: `${EX}q` },
    '@id': `${EX}1`,
    r: [{ '@id': `${EX}2`, q: 1 }],
  },
  'JSON literals': {
    '@context': term({ '@type': '@json' }),
    p: [{ a: null, '@context': 'data' }, [[1], []]],
  },
  'protected terms': {
    '@context': [{ ...term({}), '@protected': true }, { more: `${EX}more` }],
    p: 1,
    more: 2,
  },
  'type-scoped contexts': {
    '@context': 'https://city.example/scoped',
    '@type': 'Bench',
    wood: 'oak',
    inner: { wood: 'lost', seats: 1 },
  },
  'property-scoped contexts': {
    '@context': { ...term({ '@context': { z: `${EX}z` } }) },
    p: { z: 1, q: { z: 2 } },
  },
  'contexts that do not propagate': {
    '@context': term({ '@context': { '@propagate': false, z: `${EX}z` } }),
    p: { z: 1, q: { z: 2 } },
  },
  'contexts further down': {
    '@context': term({}),
    p: { '@context': { q: `${EX}other` }, q: 1, p: { '@context': [null, CITY], seats: 2, q: 3 } },
  },
  'imported contexts': {
    '@context': ['https://city.example/importing', { '@vocab': EX }],
    seats: 1,
    more: 2,
  },
  'contexts that name others': { '@context': 'https://city.example/base', seats: 1, lamp: 2 },
  'relative references': { '@context': term({}), '@id': 'car', '@type': 'T', p: { '@id': '#x' } },
  'dropped members': { '@context': { p: `${EX}p` }, p: 1, unknown: { p: 2 }, '@strange': 3 },
  'null values': { '@context': term({}), p: null, q: [null, { p: null }] },
  'nothing at all': { '@context': term({}) },
  'names of JavaScript': {
    '@context': CORE,
    id: 'urn:x:1',
    type: 'constructor',
    toString: 1,
    '': 2,
    constructor: {},
  },
};
