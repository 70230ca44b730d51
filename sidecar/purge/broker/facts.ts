/**
 * What was learnt about one collection of a broker, as plain facts that processes can exchange. A fact is named by its kind,
 * and by what it is about where there are several of that kind: `page-max`, `counts-before q`.
 */

/** How long facts count: brokers are upgraded and replaced behind their address. */
export const FACT_MS = 60 * 60 * 1000;

/** Something learnt. */
export interface Fact {
  readonly value: FactValue;
  /** When it was learnt, in milliseconds. */
  readonly atMs: number;
}

export type FactValue = true | number | string;

/** By their names. */
export type Facts = ReadonlyMap<string, Fact>;

interface Kind {
  /** Spares the broker a question. All other facts make a purge slower or more careful. */
  readonly isProof: boolean;
  readonly isValue: (value: unknown) => value is FactValue;
  /** Which of two different values is kept. @default the newer one */
  readonly keeps?: 'least' | 'largest';
  /** Whether there are several, each with a name of its own. */
  readonly isNamed?: boolean;
  /** Stays in the process that has learnt it. */
  readonly isPrivate?: boolean;
}

const isTrue = (value: unknown): value is true => value === true;
const isSize = (value: unknown): value is number => Number.isSafeInteger(value) && (value as number) >= 1;
const isEnd = (value: unknown): value is string => value === '' || value === '/';

/** The broker was seen to ignore a filter: no proof from before counts. */
export const DISTRUSTED = 'distrusted';

/** The proof of a query with credentials. */
export const OWN_PROOF = 'honoured-here';

/** Proofs of queries that are kept. */
const MAX_PROOFS = 200;

const KINDS: ReadonlyMap<string, Kind> = new Map<string, Kind>([
  ['page-max', { isProof: false, isValue: isSize, keeps: 'least' }],
  ['batch-max', { isProof: false, isValue: isSize, keeps: 'least' }],
  ['no-count', { isProof: false, isValue: isTrue }],
  ['no-batch', { isProof: false, isValue: isTrue }],
  ['needs-datasets', { isProof: false, isValue: isTrue }],
  ['refused', { isProof: false, isValue: isTrue, isNamed: true }],
  ['counts-before', { isProof: false, isValue: isTrue, isNamed: true }],
  [DISTRUSTED, { isProof: false, isValue: isTrue }],
  ['collection-end', { isProof: true, isValue: isEnd }],
  ['page', { isProof: true, isValue: isSize, keeps: 'largest', isNamed: true }],
  ['honoured', { isProof: true, isValue: isTrue, isNamed: true }],
  [OWN_PROOF, { isProof: true, isValue: isTrue, isNamed: true, isPrivate: true }],
]);

/** Longest name of a fact. */
const MAX_NAME = 100;

/** True for a fact that may come from outside: its kind is known, and its value is of that kind. */
export function isFact(name: string, value: unknown): value is FactValue {
  const kind = kindOf(name);
  const isNamed = name.includes(' ');
  if (kind === undefined || kind.isPrivate === true || name.length > MAX_NAME) return false;
  return kind.isValue(value) && isNamed === (kind.isNamed ?? false);
}

export function isProof(name: string): boolean {
  return kindOf(name)?.isProof === true;
}

/** True for the proof that all filters of one query are honoured. */
export function isProofOfQuery(name: string): boolean {
  return name.startsWith('honoured');
}

/** True while a fact counts. One from the future never does: a clock was set. */
export function isFresh({ atMs }: Fact, nowMs: number): boolean {
  return atMs <= nowMs && nowMs - atMs < FACT_MS;
}

/** From when on facts of other processes count. */
export interface Moment {
  readonly nowMs: number;
  /** Proofs that are not newer than this are left out. */
  readonly proofsAfterMs: number;
}

/**
 * Adds what another process has learnt. Of two values, the more restrictive one is kept. A proof counts only if it is newer
 * than `proofsAfterMs`, and than the last time that either process saw the broker ignore a filter.
 *
 * @param theirs facts for which `isFact` holds, by the same clock as `mine`
 */
export function mergeFacts(mine: Facts, theirs: Facts, { nowMs, proofsAfterMs }: Moment): Facts {
  const merged = new Map([...mine].filter(([, fact]) => isFresh(fact, nowMs)));
  const counted = [...theirs].filter(([, fact]) => isFresh(fact, nowMs));
  const theirDistrust = new Map(counted).get(DISTRUSTED)?.atMs ?? -Infinity;
  const doubtedUntilMs = Math.max(proofsAfterMs, theirDistrust, merged.get(DISTRUSTED)?.atMs ?? -Infinity);
  for (const [name, { atMs }] of [...merged]) {
    if (isProof(name) && atMs <= theirDistrust) merged.delete(name);
  }
  for (const [name, fact] of counted) {
    if (isProof(name) && fact.atMs <= doubtedUntilMs) continue;
    const known = merged.get(name);
    if (known === undefined || isBetter(kindOf(name)?.keeps, fact, known)) merged.set(name, fact);
  }
  return boundProofs(merged);
}

/** Leaves out the oldest proofs of queries where there are too many: those queries are proven again. */
export function boundProofs(facts: Facts): Facts {
  const proofs = [...facts].filter(([name]) => isProofOfQuery(name));
  if (proofs.length <= MAX_PROOFS) return facts;
  const byAge = proofs.sort(([, a], [, b]) => a.atMs - b.atMs);
  const dropped = new Set(byAge.slice(0, proofs.length - MAX_PROOFS).map(([name]) => name));
  return new Map([...facts].filter(([name]) => !dropped.has(name)));
}

function isBetter(keeps: Kind['keeps'], fact: Fact, known: Fact): boolean {
  if (fact.value === known.value || keeps === undefined) return fact.atMs > known.atMs;
  return keeps === 'least' ? fact.value < known.value : fact.value > known.value;
}

function kindOf(name: string): Kind | undefined {
  return KINDS.get(name.split(' ', 1)[0] ?? '');
}

// A note: what one process has learnt, written down for others as JSON, with the times of the facts by the clock of the store,
// which all processes share.

/** Facts by collection. */
export type Learnt = Readonly<Record<(typeof COLLECTIONS)[number], Facts>>;

/** What the clock of the store is ahead of that of this process, in milliseconds: it lies between the two. */
export interface ClockOffset {
  readonly leastMs: number;
  readonly mostMs: number;
}

export const COLLECTIONS = ['entities', 'temporal'] as const;

/**
 * Raised with each change of what a fact means, or of how a filter is proven: gateways of other versions then believe no proof
 * that was made in another way.
 */
const FORMAT = 2;

/** A longer note is none of ours. */
const MAX_LENGTH = 64 * 1024;

/** A note. Where the clocks leave it open when something was, a fact counts as older, and a contradiction as newer. */
export function writeNote(learnt: Learnt, { leastMs, mostMs }: ClockOffset): string {
  const written = COLLECTIONS.map((collection) => [
    collection,
    Object.fromEntries(
      [...learnt[collection]]
        .filter(([name, { value }]) => isFact(name, value))
        .map(([name, { value, atMs }]) => [
          name,
          [value, name === DISTRUSTED ? Math.ceil(atMs + mostMs) : Math.floor(atMs + leastMs)],
        ]),
    ),
  ]);
  return JSON.stringify({ format: FORMAT, ...(Object.fromEntries(written) as object) });
}

/**
 * Reads a note of another process, by the clock of this one. Facts count as older, and contradictions as newer, as in
 * `writeNote`.
 *
 * @param nowMs by the clock of this process
 * @returns undefined for a text that is not such a note to the last fact, and for a note of another format
 */
export function readNote(text: string, { leastMs, mostMs }: ClockOffset, nowMs: number): Learnt | undefined {
  if (text.length > MAX_LENGTH) return undefined;
  const note = parseObject(text);
  if (note?.['format'] !== FORMAT) return undefined;
  const [entities, temporal] = COLLECTIONS.map((collection) => {
    const written = note[collection];
    if (!isObject(written)) return undefined;
    const facts = new Map<string, Fact>();
    for (const [name, pair] of Object.entries(written)) {
      if (!isPair(name, pair)) return undefined;
      const [value, storeMs] = pair;
      const atMs = name === DISTRUSTED ? Math.min(nowMs, storeMs - leastMs) : storeMs - mostMs;
      facts.set(name, { value, atMs });
    }
    return facts;
  });
  return entities === undefined || temporal === undefined ? undefined : { entities, temporal };
}

function isPair(name: string, pair: unknown): pair is readonly [FactValue, number] {
  return Array.isArray(pair) && pair.length === 2 && isFact(name, pair[0]) && Number.isSafeInteger(pair[1]);
}

function parseObject(text: string): Readonly<Record<string, unknown>> | undefined {
  try {
    const value: unknown = JSON.parse(text);
    return isObject(value) ? value : undefined;
  } catch {
    return undefined;
  }
}

function isObject(value: unknown): value is Readonly<Record<string, unknown>> {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}
