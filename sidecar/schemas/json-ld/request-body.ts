import { type InputIssue, isObject, member, pointerTo } from '../../shared/json/json.js';
import { elementsOf, mapFaults, unwrapped } from './context-form.js';

/** A request to expand or compact a document. */
export interface JsonLdRequest {
  readonly document: object;
  /** The context, without `{"@context": …}` around it; undefined if there is none. */
  readonly context: unknown;
  /** The position of the context in the body. */
  readonly contextPointer: string;
  readonly safe: boolean;
}

const MEMBERS: ReadonlySet<string> = new Set(['document', 'context', 'safe']);
const MAX_FAULTS = 100;

/** Reads a body `{document, context?, safe?}`. @returns the request, or what is wrong with the body */
export function readRequest(body: unknown): JsonLdRequest | { readonly faults: readonly InputIssue[] } {
  if (!isObject(body)) return { faults: [{ pointer: '', detail: 'The body must be an object.' }] };
  if (!Object.hasOwn(body, 'document') && Object.keys(body).some((name) => !MEMBERS.has(name)))
    return { faults: [{ pointer: '', detail: NOT_WRAPPED }] };
  const document = member(body, 'document');
  const given = member(body, 'context');
  const { value: context, pointer: contextPointer, faults: beside } = unwrapped(given, '/context');
  const safe = member(body, 'safe') ?? false;
  const isDocument = typeof document === 'object' && document !== null;
  const faults = [
    ...(isDocument
      ? []
      : [{ pointer: Object.hasOwn(body, 'document') ? '/document' : '', detail: NO_DOCUMENT }]),
    ...beside,
    ...(context === undefined ? [] : contextFaults(context, contextPointer)),
    ...(typeof safe === 'boolean' ? [] : [{ pointer: '/safe', detail: 'safe must be true or false.' }]),
    ...Object.keys(body)
      .filter((name) => !MEMBERS.has(name))
      .map((name) => ({ pointer: pointerTo('', name), detail: UNKNOWN })),
  ];
  if (!isDocument || typeof safe !== 'boolean' || faults.length > 0)
    return { faults: faults.slice(0, MAX_FAULTS) };
  return { document, context, contextPointer, safe };
}

const NOT_WRAPPED = 'Put the document into the member document: {"document": {…}}.';
const NO_DOCUMENT = 'document is required, and must be an object or an array. A URL is not loaded.';
const UNKNOWN = 'Unknown member. Only document, context and safe are allowed.';

function contextFaults(context: unknown, pointer: string): readonly InputIssue[] {
  const demand = 'A context is a map of terms, a URL, null, or an array of these.';
  return elementsOf(context, pointer).flatMap((one) =>
    one.value === null ? [] : mapFaults(one.value, one.pointer, demand),
  );
}
