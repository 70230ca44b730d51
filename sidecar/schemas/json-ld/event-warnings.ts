import { member, pointerTo } from '../../shared/json/json.js';
import { visitMembers } from './document-survey.js';
import type { CountedEvent } from './processing-session.js';
import { type JsonLdWarning, shortJson } from './outcomes.js';

/** What to search for in the document to find the place of an event. */
type Search = 'name' | 'text' | 'null';

interface Wording {
  readonly code: string;
  /** The name of the event's detail that the warning is about. */
  readonly about: string;
  readonly search?: Search;
  readonly sentence: (about: string) => string;
}

/** The events for which the processor's safe mode fails. */
const WORDINGS: Readonly<Record<string, Wording>> = {
  'invalid property': {
    code: 'dropped-member',
    about: 'property',
    search: 'name',
    sentence: (name) => `No context defines ${name}: the member is dropped.`,
  },
  'relative @id reference': {
    code: 'relative-id',
    about: 'id',
    search: 'text',
    sentence: (id) => `The id ${id} is not an absolute IRI, so it does not identify anything.`,
  },
  'relative @type reference': {
    code: 'relative-type',
    about: 'type',
    search: 'text',
    sentence: (type) => `No context defines the type ${type}.`,
  },
  'relative @vocab reference': {
    code: 'relative-vocab',
    about: 'vocab',
    sentence: (iri) => `@vocab ${iri} is not an absolute IRI.`,
  },
  'invalid @language value': {
    code: 'language-tag',
    about: 'language',
    search: 'text',
    sentence: (tag) => `${tag} is not a language tag (BCP 47).`,
  },
  'reserved term': {
    code: 'reserved-term',
    about: 'term',
    sentence: (term) => `The term ${term} is reserved, and left out.`,
  },
  'reserved @reverse value': {
    code: 'reserved-term',
    about: 'reverse',
    sentence: (iri) => `The term for the reverse of ${iri} is left out.`,
  },
  'reserved @id value': {
    code: 'reserved-id',
    about: 'id',
    search: 'text',
    sentence: (id) => `The id ${id} looks like a keyword and is dropped.`,
  },
  'null @id value': dropped('An id that is null is dropped', 'id'),
  'null @value value': {
    code: 'dropped-value',
    about: 'value',
    search: 'null',
    sentence: () => 'A @value that is null is dropped, together with the members next to it.',
  },
  'free-floating scalar': dropped('A value outside any member is dropped'),
  'empty object': dropped('An empty object is dropped'),
  'object with only @id': dropped('An object with nothing but an id is dropped'),
  'object with only @language': dropped('A language without a text is dropped'),
  'object with only @list': dropped('A list outside any member is dropped'),
  'object with only @value': dropped('A value outside any member is dropped'),
};

function dropped(what: string, about = 'value'): Wording {
  return { code: 'dropped-value', about, sentence: (value) => `${what}: ${value}` };
}

/** Makes warnings from the events of processing a document, with pointers if the places are known. */
export function eventWarnings(events: readonly CountedEvent[], document: object): readonly JsonLdWarning[] {
  if (events.length === 0) return [];
  const known = events.flatMap(({ event, count }) => {
    const wording = member(WORDINGS, event.code);
    if (wording === undefined) return [];
    const { code, about, search, sentence } = wording;
    const value = member(event.details, about);
    return [{ code, count, detail: sentence(shortJson(value)), key: keyOf(search, value) }];
  });
  const places = placesOf(known, document);
  return known.flatMap(({ code, detail, key, count }) => {
    const found = places.get(key);
    // If there are more such places than events, some of them did not cause an event.
    return found?.length === count ? found.map((pointer) => ({ code, detail, pointer })) : [{ code, detail }];
  });
}

function keyOf(search: Search | undefined, value: unknown): string {
  if (search === 'null') return 'null';
  return search === undefined || typeof value !== 'string' ? '' : `${search} ${value}`;
}

/** The pointers to each thing that is searched for, except inside dropped members. */
function placesOf(
  wanted: readonly { readonly key: string }[],
  document: object,
): ReadonlyMap<string, readonly string[]> {
  const places = new Map<string, string[]>(wanted.flatMap(({ key }) => (key === '' ? [] : [[key, []]])));
  if (places.size === 0) return places;
  visitMembers(document, '/document', ({ name, value, pointer }) => {
    const isDropped = places.get(`name ${name}`)?.push(pointer) !== undefined;
    if (isDropped) return false;
    if (typeof value === 'string') places.get(`text ${value}`)?.push(pointer);
    else if (value === null && name === '@value') places.get('null')?.push(pointer);
    else if (Array.isArray(value))
      for (const [index, item] of (value as readonly unknown[]).entries())
        if (typeof item === 'string') places.get(`text ${item}`)?.push(pointerTo(pointer, index));
    return true;
  });
  return places;
}
