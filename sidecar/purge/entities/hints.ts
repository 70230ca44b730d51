import type { PurgeScope, PurgeReport } from '../run/index.js';
import { BrokerFailedError, BrokerRefusedError, BrokerReplyError } from '../errors.js';
import { entities, type ListedResource, Lister } from '../listing/index.js';
import type { Parameter } from '../query/index.js';
import { NON_ATTRIBUTE_MEMBERS } from '../../ngsi-ld/members.js';
import { conditionsOf, requiredAttributesOf, parseQ, type QCondition, valuesOf } from '../../ngsi-ld/q.js';
import { temporalKindOf } from '../../ngsi-ld/q-time.js';
import { tryParseJson } from '../../shared/json/lossless-json.js';
import { yieldToEventLoop } from '../../shared/event-loop.js';
import { closestMatch, mayBeMisspelling } from '../../shared/misspelling.js';
import { parseTypeSelector, typeNamesOf } from '../../ngsi-ld/type-selector.js';

/** A query to the broker, and the hint to give if it shows nothing. */
interface HintQuestion {
  readonly selection: readonly Parameter[];
  readonly hint: string;
  /** The type or attribute that the question is about, which may be misspelt. */
  readonly name: string;
}

/** What to find out if a query matches nothing. */
export interface HintPlan {
  /** Hints that follow from the query alone. */
  readonly hints: readonly string[];
  /** Do entities of each type exist? */
  readonly types: readonly HintQuestion[];
  /** Do entities of these types have each attribute? Asked only if the types exist. */
  readonly attributes: readonly HintQuestion[];
}

/** Plans how to find out why a vetted query matches nothing. @param dropped the attributes to remove, if any */
export function planHints(selection: readonly Parameter[], dropped: readonly string[] = []): HintPlan {
  const valueOf = (name: string) => selection.find((parameter) => parameter.name === name)?.value;
  const [type, q, attrs] = [valueOf('type'), valueOf('q'), valueOf('attrs')];
  const types = type === undefined ? [] : typeNamesOf(parseTypeSelector(type));
  const query = q === undefined ? undefined : parseQ(q);
  const local = selection.filter(({ name }) => name === 'local');
  const typed = selection.filter(({ name }) => name === 'type' || name === 'local');
  const [only = '', ...others] = types;
  const owner =
    only === '' ? 'entity' : others.length > 0 ? 'entity of these types' : `entity of type ${only}`;
  // Ask by the same parameter as in the query, because brokers may treat `attrs` and `q` differently.
  const inQ = query === undefined ? [] : requiredAttributesOf(query);
  const inAttrs = [...(attrs?.split(',') ?? []), ...dropped].filter(
    (name) => !NON_ATTRIBUTE_MEMBERS.has(name),
  );
  const asked = new Map([
    ...inAttrs.map((name) => [name, 'attrs'] as const),
    ...inQ.map((name) => [name, 'q'] as const),
  ]);
  return {
    hints: query === undefined ? [] : conditionsOf(query).flatMap(quotedTimes),
    types: types.map((name) => ({
      selection: [{ name: 'type', value: name }, ...local],
      name,
      hint: `No entity of type ${name} is listed.`,
    })),
    attributes: [...asked].map(([name, parameter]) => ({
      selection: [...typed, { name: parameter, value: name }],
      name,
      hint: `No ${owner} has the attribute ${name}.`,
    })),
  };
}

function quotedTimes(condition: QCondition): readonly string[] {
  const quoted = valuesOf(condition).filter(
    (value) => value.kind === 'string' && temporalKindOf(value.value) !== undefined,
  );
  return quoted.map(
    ({ value }) =>
      `q compares ${condition.path.names.join('.')} with "${String(value)}" in quotes, ` +
      'which some brokers treat as a string that equals no time. Write times without quotes.',
  );
}

export interface HintSource {
  readonly resource: ListedResource;
  /** Parameters added to each question, one query for each variant. */
  readonly variants: readonly (readonly Parameter[])[];
  readonly questionsMax: number;
}

export const ENTITY_HINTS: HintSource = { resource: entities('ids'), variants: [[]], questionsMax: 5 };

/** Adds hints to the report of a dry run that matched nothing, with a few more queries. @throws PurgeStoppedError */
export async function withHints(
  scope: PurgeScope,
  report: PurgeReport,
  { hints, types: allTypes, attributes: allAttributes }: HintPlan,
  source: HintSource,
): Promise<PurgeReport> {
  const types = allTypes.slice(0, source.questionsMax);
  const missing = await unanswered(scope, types, source, 'types');
  if (missing.length === 0) {
    const attributes = allAttributes.slice(0, source.questionsMax - types.length);
    missing.push(...(await unanswered(scope, attributes, source, 'attributes')));
  }
  return { ...report, hints: [...hints, ...missing], ...scope.requester.requestCounts };
}

/** Asks questions. Returns the hints of those that show nothing. @param list where the broker names what exists */
async function unanswered(
  scope: PurgeScope,
  questions: readonly HintQuestion[],
  { resource, variants }: HintSource,
  list: NameList,
): Promise<string[]> {
  const showsNothing = async ({ selection }: HintQuestion) => {
    for (const variant of variants)
      if (!(await isSurelyEmpty(scope, resource, [...selection, ...variant]))) return false;
    return true;
  };
  const missing: HintQuestion[] = [];
  for (const question of questions) if (await showsNothing(question)) missing.push(question);
  if (missing.length === 0) return [];
  const names = await namesIn(scope, list);
  const answers: string[] = [];
  for (const { name, hint } of missing) {
    await yieldToEventLoop();
    const near = nearName(name, names);
    answers.push(near === undefined ? hint : `${hint} Did you mean ${near}?`);
  }
  return answers;
}

/** Collections of the standard that name the types, or the attributes, of all entities (clauses 6.25 and 6.27). */
type NameList = 'types' | 'attributes';

/** Returns the names in a list of the broker; empty if the broker does not have this list. */
async function namesIn(scope: PurgeScope, list: NameList): Promise<readonly string[]> {
  const names = await unlessRefused(async () => {
    const request = { method: 'GET', path: `/${list}`, operation: `list ${list}` } as const;
    const settled = await scope.requester.send({ ...request, accepts403: true, acceptsServerErrors: true });
    if (settled.kind === 'gave-up' || settled.reply.status !== 200) return [];
    return namesOf(settled.reply.body, list);
  });
  return names ?? [];
}

/** Reads the names in an EntityTypeList or an AttributeList; some brokers write a single name without an array. */
function namesOf(body: string, list: NameList): readonly string[] {
  const document = Object(tryParseJson(body)) as Readonly<Record<string, unknown>>;
  const names = [document[list === 'types' ? 'typeList' : 'attributeList']].flat();
  return names.filter((name) => typeof name === 'string');
}

/** Returns a name with nearly the same spelling, or the IRI of one. It comes from the broker, so it must be short. */
function nearName(name: string, names: readonly string[]): string | undefined {
  const lastOf = (iri: string) => iri.slice(Math.max(iri.lastIndexOf('/'), iri.lastIndexOf('#')) + 1);
  const last = lastOf(name);
  const candidates = names.filter((one) => one !== name && mayBeMisspelling(last, lastOf(one)));
  const byLast = new Map(candidates.slice(0, MAX_COMPARED).map((one) => [lastOf(one), one]));
  const near = closestMatch(last, byLast.keys());
  const found = near === undefined ? undefined : byLast.get(near);
  return found === undefined || found.length > MAX_NAME ? undefined : found;
}

const MAX_NAME = 200;

/** Maximum number of names that one is compared with: two long names that are alike take 50 µs. */
const MAX_COMPARED = 2000;

/** Whether a query certainly shows nothing. */
async function isSurelyEmpty(
  scope: PurgeScope,
  resource: ListedResource,
  selection: readonly Parameter[],
): Promise<boolean> {
  const lister = new Lister({ ...scope, resource });
  const isEmpty = await unlessRefused(async () => {
    const { ids, count, hasNext, warning } = await lister.page({ selection, limit: 1, count: true });
    // Without a count, an empty list may be a failed query.
    return ids.length === 0 && count === 0 && !hasNext && warning === undefined;
  });
  return isEmpty ?? false;
}

/** Returns an answer; undefined after an error of the broker, because a hint is not worth failing for. */
async function unlessRefused<Answer>(ask: () => Promise<Answer>): Promise<Answer | undefined> {
  try {
    return await ask();
  } catch (error) {
    const isOfBroker =
      error instanceof BrokerRefusedError ||
      error instanceof BrokerFailedError ||
      error instanceof BrokerReplyError;
    if (!isOfBroker) throw error;
    return undefined;
  }
}
