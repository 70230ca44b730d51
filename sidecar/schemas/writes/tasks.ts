import type { WriteKind } from '../../ngsi-ld/write-route.js';
import { isObject, type JsonObject, type JsonValue, member, objectOf } from '../../shared/json/json.js';
import { pointerOf } from '../../shared/json/json.js';
import { NameReader, type Names } from '../json-ld/names.js';
import { Reports } from '../validation/reports.js';
import { Spelling } from '../validation/spelling.js';
import { type BodyFault, attributesIn, isAttributeKind, readBody } from './body.js';
import { itemSpans } from './item-spans.js';
import { judgeFragment, judgeWhole, type Manner, type WriteError } from './judge.js';
import { choosePolicy, isRefused, type WrittenType } from './policy-choice.js';
import type {
  JudgedItem,
  JudgeInput,
  JudgeNeeds,
  JudgeOutcome,
  PrepareInput,
  PrepareOutcome,
  SuppliedModel,
  WriteFinding,
} from './protocol.js';
import { isDeleted, readSubmitted, type Submitted } from './submitted.js';
import { compileWriteModel, withMeaning, type WriteModel } from './write-models.js';

/** Errors that are kept of one entity for what is counted. */
const MAX_FINDINGS = 20;

/** Thrown to go and get something. */
class Missing extends Error {
  constructor(readonly needs: JudgeNeeds) {
    super('Something is needed.');
  }
}

/** What a worker knows while the stamp is the same. */
class Knowledge {
  readonly names = new NameReader();
  #stamp = '';
  readonly #types = new Map<string, readonly SuppliedModel[]>();
  readonly #models = new Map<string, SuppliedModel | undefined>();
  readonly #meanings = new Map<string, WriteModel | typeof UNUSABLE>();
  readonly #ofType = new Map<string, readonly WriteModel[]>();

  take({ stamp, supplied }: JudgeInput): void {
    this.renew(stamp);
    for (const [iri, models] of supplied.types ?? []) this.#types.set(iri, models);
    for (const [name, model] of supplied.models ?? []) this.#models.set(name, model);
  }

  /** Forgets what may have changed. */
  renew(stamp: string): void {
    if (stamp === this.#stamp) return;
    for (const map of [this.#types, this.#models, this.#meanings, this.#ofType]) map.clear();
    this.#stamp = stamp;
  }

  /** The models of a type. */
  ofType(type: WrittenType): readonly WriteModel[] {
    const { iri } = type;
    if (iri === undefined) return [];
    const known = this.#ofType.get(iri);
    if (known !== undefined) return known;
    const candidates = this.#types.get(iri);
    if (candidates === undefined) throw new Missing({ types: [type] });
    const models: WriteModel[] = [];
    for (const one of candidates) {
      const model = this.#meant(one);
      if (model?.types.has(iri) === true) models.push(model);
    }
    this.#ofType.set(iri, models);
    return models;
  }

  /** The model that a policy names. */
  named(name: string): WriteModel | undefined {
    if (!this.#models.has(name)) throw new Missing({ models: [name] });
    const found = this.#models.get(name);
    return found === undefined ? undefined : this.#meant(found);
  }

  #meant(one: SuppliedModel): WriteModel | undefined {
    const known = this.#meanings.get(meaningKey(one));
    if (known === undefined) throw new Missing({ unprepared: [one] });
    return known === UNUSABLE ? undefined : known;
  }

  /** Compiles a model and reads what its names mean. @returns the contexts that are needed for that */
  async prepare(
    { schema, ...one }: PrepareInput['models'][number],
    { stamp, contexts }: PrepareInput,
  ): Promise<readonly string[]> {
    const compiled = compileWriteModel(one.key, one.name, schema);
    const outcome = await this.names.read(contextIn(one), stamp, contexts);
    if ('needs' in outcome) return outcome.needs.urls;
    const model = 'unusable' in outcome ? UNUSABLE : withMeaning(one.title, compiled, outcome.names);
    this.#meanings.set(meaningKey(one), model);
    if (model !== UNUSABLE && 'names' in outcome) warmUp(model, outcome.names);
    return [];
  }
}

/** Stands for a model whose @context cannot be used. */
const UNUSABLE = 'unusable';

function meaningKey({ title, key, context }: SuppliedModel): string {
  return `${title} ${key} ${context}`;
}

function contextIn({ context }: SuppliedModel): JsonValue | undefined {
  const document = JSON.parse(context) as JsonObject;
  return member(document, '@context');
}

/** Code that runs for the first time is slow, and judging has little time. */
function warmUp(model: WriteModel, names: Names): void {
  const [type = model.whole.name] = model.whole.types;
  const sample = { id: 'urn:ngsi-ld:sample:1', type, sample: { type: 'Property', value: 1 } };
  const submitted = readSubmitted(sample, names);
  if ('doubt' in submitted) return;
  const manner = { isSimplified: false, isMerge: false, isPartial: false, isTemporal: false };
  judgeWhole([model], submitted, manner, new Spelling());
  judgeFragment([model], submitted, manner, new Spelling());
}

const knowledge = new Knowledge();

/** Tasks that judge writes. They run in workers, because models have patterns. */
export const writeTasks = {
  /** Judges the entities of a write, each by its policy and its models. It may need something first. */
  async judgeWrite(input: JudgeInput): Promise<JudgeOutcome> {
    knowledge.take(input);
    // What comes first in a worker takes longer.
    if (!knowledge.names.isReady) return { needs: { unprepared: [] } };
    try {
      return { judged: await new Judging(input).judge() };
    } catch (error) {
      if (error instanceof Missing) return { needs: error.needs };
      throw error;
    }
  },

  /** Gets models and a context ready. */
  async prepareWrites(input: PrepareInput): Promise<PrepareOutcome> {
    const { stamp, context, contexts, models } = input;
    knowledge.renew(stamp);
    await knowledge.names.read(undefined, stamp, []);
    const urls: string[] = [];
    for (const model of models) urls.push(...(await knowledge.prepare(model, input)));
    if (context !== undefined) {
      const outcome = await knowledge.names.read(JSON.parse(context), stamp, contexts);
      if ('needs' in outcome) urls.push(...outcome.needs.urls);
    }
    return { urls };
  },
};

export type WriteTasks = typeof writeTasks;

interface Verdict {
  readonly policy: number;
  readonly reason?: string;
  readonly errors?: readonly WriteError[];
}

/** The judging of one write. */
class Judging {
  readonly #input: JudgeInput;
  readonly #spelling = new Spelling();
  readonly #stored: ReadonlyMap<string, readonly string[] | undefined>;
  readonly #dependsOn = new Set<string>();
  readonly #wanted = new Set<string>();
  /** Stored entities that get another type. */
  readonly #retyped = new Set<string>();
  /** Stored entities whose types stay as they are. */
  readonly #keepingType = new Set<string>();

  constructor(input: JudgeInput) {
    this.#input = input;
    this.#stored = new Map(input.supplied.entities);
  }

  async judge() {
    const { kind, bytes } = this.#input;
    if (kind === 'delete-attribute') return this.#collected('', [await this.#deletion()], [null]);
    const body = readBody(bytes, kind);
    if ('fault' in body) return this.#unreadable(body.fault);
    const { text, entities, isBatch } = body;
    await this.#lookAhead(entities);
    const verdicts: Verdict[] = [];
    for (const entity of entities) verdicts.push(await this.#verdict(entity));
    if (this.#wanted.size > 0) throw new Missing({ entities: [...this.#wanted] });
    return this.#collected(text, verdicts, entities, isBatch);
  }

  /** Fragments are judged by what the broker has: all of a batch is asked for at once. */
  async #lookAhead(entities: readonly JsonValue[]): Promise<void> {
    const { kind, id } = this.#input;
    if (!FRAGMENTS.has(kind)) return;
    const ids = id === undefined ? entities.map(idOf) : [id];
    const unknown = ids.filter((one) => one !== undefined && !this.#stored.has(one));
    if (unknown.length > 0) throw new Missing({ entities: [...new Set(unknown)] as readonly string[] });
  }

  async #verdict(entity: JsonValue): Promise<Verdict> {
    const { kind, attribute = '', candidates } = this.#input;
    if (isAttributeKind(kind) || kind === 'temporal-instance')
      return this.#ofAttribute(attributesIn(entity, attribute));
    if (!isObject(entity)) {
      const errors = [{ model: '', tokens: [], keyword: 'type', say: () => 'must be an entity, an object' }];
      return { policy: choosePolicy(candidates, []), errors };
    }
    const names = await this.#names(member(entity, '@context'));
    if (typeof names === 'string') return this.#unclear(names);
    const submitted = readSubmitted(entity, names);
    if ('doubt' in submitted) return this.#unclear(submitted.doubt);
    const id = idOf(entity) ?? idIn(submitted);
    return FRAGMENTS.has(kind) ? this.#fragment(submitted, id) : this.#whole(submitted, id);
  }

  async #whole(submitted: Submitted, id: string | undefined): Promise<Verdict> {
    const { kind, updates } = this.#input;
    const mayBeThere = kind === 'temporal-create' || (kind === 'batch-upsert' && updates);
    const completed = mayBeThere ? submitted : await this.#completed(submitted, id);
    const policy = choosePolicy(this.#input.candidates, completed.types);
    const models = this.#isOff(policy) ? 'off' : await this.#models(completed.types, policy);
    if (typeof models === 'string') {
      // What is there may have a type that is judged, and keeps it.
      if (mayBeThere && id !== undefined && this.#storedTypes(id) !== undefined)
        return this.#part(submitted, id);
      return this.#isOff(policy) ? { policy } : { policy, reason: models };
    }
    const errors = judgeWhole(models, completed, this.#manner, this.#spelling);
    if (errors.length === 0) return { policy };
    if (!mayBeThere || id === undefined) return { policy, errors };
    // Of an entity that is there, the write is a part only.
    const isThere = this.#storedTypes(id);
    if (isThere === undefined) return { policy, errors };
    const asPart = await this.#part(submitted, id);
    return asPart.errors === undefined && asPart.reason === undefined ? asPart : { policy, errors };
  }

  /** What may be the whole of an entity, as a part of the one that is there. */
  async #part(submitted: Submitted, id: string): Promise<Verdict> {
    const verdict = await this.#fragment(submitted, id);
    if (!this.#retyped.has(id)) this.#keepingType.add(id);
    return verdict;
  }

  /** A whole entity whose id, or type, the path or the broker says. */
  async #completed(submitted: Submitted, id = this.#input.id): Promise<Submitted> {
    const { kind } = this.#input;
    if ((kind !== 'replace' && kind !== 'batch-upsert') || id === undefined) return submitted;
    const hasId = submitted.members.some(({ iri }) => iri === '@id');
    const hasType = submitted.types.length > 0;
    const stored = hasType ? undefined : this.#storedTypes(id);
    const types = stored === undefined ? submitted.types : await this.#meanings(stored);
    const [first] = types;
    return {
      ...submitted,
      types,
      members: [
        ...(hasId ? [] : [{ name: 'id', iri: '@id', value: id }]),
        ...(hasType || first === undefined
          ? []
          : [{ name: 'type', iri: '@type', value: types.map(({ written }) => written) }]),
        ...submitted.members,
      ],
    };
  }

  async #fragment(submitted: Submitted, itsId: string | undefined): Promise<Verdict> {
    const id = this.#input.id ?? itsId;
    const stored = id === undefined ? undefined : this.#storedTypes(id);
    const storedTypes = stored === undefined ? [] : await this.#meanings(stored);
    const added = submitted.types.filter(({ iri }) => !storedTypes.some((one) => one.iri === iri));
    if (id !== undefined && added.length > 0) this.#retyped.add(id);
    const types = [...storedTypes, ...added];
    const policy = choosePolicy(this.#input.candidates, types);
    if (this.#isOff(policy)) return { policy };
    if (stored === undefined) return { policy, reason: 'the broker has no such entity' };
    const models = await this.#models(types, policy);
    if (typeof models === 'string') return { policy, reason: models };
    const errors = judgeFragment(models, submitted, this.#manner, this.#spelling);
    return errors.length === 0 ? { policy } : { policy, errors };
  }

  /** @param readings the attribute in each way in which brokers read the body */
  async #ofAttribute(readings: readonly JsonObject[]): Promise<Verdict> {
    const [first, ...others] = readings;
    const context = first === undefined ? undefined : Object.values(first)[0];
    const names = await this.#names(isObject(context) ? member(context, '@context') : undefined);
    if (typeof names === 'string') return this.#unclear(names);
    let verdict: Verdict | undefined;
    for (const reading of [first ?? {}, ...others]) {
      const submitted = readSubmitted(
        objectOf(Object.entries(reading).map(([name, value]) => [name, withoutContext(value)])),
        names,
      );
      if ('doubt' in submitted) return this.#unclear(submitted.doubt);
      const found = await this.#fragment(submitted, undefined);
      if (verdict === undefined || found.errors !== undefined || found.reason !== undefined) verdict = found;
      if (found.errors !== undefined) break;
    }
    return verdict ?? { policy: 0 };
  }

  async #deletion(): Promise<Verdict> {
    const { id = '', attribute = '', datasetId } = this.#input;
    const names = await this.#names(undefined);
    if (typeof names === 'string') return this.#unclear(names);
    const stored = this.#storedTypes(id);
    if (this.#wanted.size > 0) throw new Missing({ entities: [...this.#wanted] });
    const types = stored === undefined ? [] : await this.#meanings(stored);
    const policy = choosePolicy(this.#input.candidates, types);
    if (this.#isOff(policy)) return { policy };
    if (stored === undefined) return { policy, reason: 'the broker has no such entity' };
    const models = await this.#models(types, policy);
    if (typeof models === 'string') return { policy, reason: models };
    const iri = names.iriOf(attribute) ?? '';
    const needing = models.filter((model) => model.required.has(model.attributes.get(iri) ?? ''));
    if (needing.length === 0) return { policy };
    if (datasetId !== undefined && datasetId !== '@none')
      return { policy, reason: 'whether other instances of a required attribute stay is not known' };
    const say = () => 'must not be deleted: every entity of the model has it';
    return {
      policy,
      errors: needing.map(({ title }) => ({ model: title, tokens: [attribute], keyword: 'required', say })),
    };
  }

  #isOff(policy: number): boolean {
    return this.#input.candidates[policy]?.mode === 'off';
  }

  #unclear(reason: string): Verdict {
    return { policy: choosePolicy(this.#input.candidates, [{ written: '', iri: undefined }]), reason };
  }

  /** What names mean in the entity, or why that is not known. */
  async #names(own: JsonValue | undefined): Promise<Names | string> {
    const { link, linkDoubt, isJsonLd, stamp, supplied } = this.#input;
    if (linkDoubt !== undefined) return linkDoubt;
    if (own !== undefined && link !== undefined)
      return 'there is an @context in the body, and another in the header Link';
    if (own !== undefined && !isJsonLd)
      return 'an @context in a body needs the media type application/ld+json';
    const context = own ?? link;
    const outcome = await knowledge.names.read(context, stamp, supplied.contexts ?? []);
    if ('needs' in outcome) throw new Missing({ urls: outcome.needs.urls, context: JSON.stringify(context) });
    return 'unusable' in outcome ? `its @context cannot be used: ${outcome.unusable}` : outcome.names;
  }

  /** Types as the broker shows them where no @context is asked for. */
  async #meanings(types: readonly string[]): Promise<readonly WrittenType[]> {
    const outcome = await knowledge.names.read(undefined, this.#input.stamp, []);
    if (!('names' in outcome)) throw new Error('The core context cannot be read.');
    return types.map((written) => ({ written, iri: outcome.names.iriOf(written) }));
  }

  #storedTypes(id: string): readonly string[] | undefined {
    this.#dependsOn.add(id);
    if (!this.#stored.has(id)) this.#wanted.add(id);
    return this.#stored.get(id);
  }

  /** The models that judge an entity; why none does, where none does. */
  async #models(types: readonly WrittenType[], policy: number): Promise<readonly WriteModel[] | string> {
    const { model: name } = this.#input.candidates[policy] ?? {};
    if (name !== undefined) {
      const model = knowledge.named(name);
      if (model === undefined)
        return `the model ${name} of the policy is not there, or its @context cannot be used`;
      return types.some(({ iri }) => model.types.has(iri ?? ''))
        ? [model]
        : `it is not of the type of the model ${name}`;
    }
    const found = new Set<WriteModel>();
    for (const type of types) {
      const models = knowledge.ofType(type);
      if (models.length > 1)
        return `its type ${type.iri} is that of several models: ${models.map(({ title }) => title).join(', ')}`;
      for (const model of models) found.add(model);
    }
    if (found.size > 0) return [...found];
    return types.length === 0
      ? 'it has no type'
      : `no model is for its type ${types
          .map(({ iri, written }) => iri ?? written)
          .slice(0, 5)
          .join(', ')}`;
  }

  get #manner(): Manner {
    const { kind, isSimplified } = this.#input;
    const isMerge = kind === 'merge' || kind === 'batch-merge';
    return {
      isSimplified,
      isMerge,
      isPartial: isMerge || kind === 'update' || kind === 'attribute' || kind === 'batch-update',
      isTemporal: kind.startsWith('temporal-'),
    };
  }

  #unreadable({ detail, keyword, line, column }: BodyFault) {
    const policy = choosePolicy(this.#input.candidates, [{ written: '', iri: undefined }]);
    const errors = JSON.stringify([{ pointer: '', detail, keyword, line, column }]);
    const findings = [{ model: '', pointer: '', keyword, detail: 'is not a body that can be read' }];
    const item: JudgedItem = { index: 0, id: undefined, policy, verdict: 'invalid', errors, findings };
    return { valid: [], others: this.#isOff(policy) ? [] : [item], ids: undefined, dependsOn: [] };
  }

  #collected(text: string, verdicts: readonly Verdict[], entities: readonly JsonValue[], isBatch = false) {
    const { kind, id, candidates } = this.#input;
    const valid = new Map<number, number>();
    const others: JudgedItem[] = [];
    const reports = new Reports();
    const reported: number[] = [];
    for (const [index, { policy, reason, errors }] of verdicts.entries()) {
      if (this.#isOff(policy)) continue;
      const itsId = id ?? idOf(entities[index] ?? null);
      if (errors !== undefined) {
        const base = isBatch ? [String(index)] : [];
        const given = entities[index] ?? null;
        const tokensOf = bodyTokens(kind, this.#input.attribute, given);
        const entity = isObject(given) ? given : {};
        const moved = errors.map((error) => ({ ...error, tokens: tokensOf(error.tokens) }));
        reports.add(entity, { form: 'normalized', errors: moved, warnings: [] }, base);
        reported.push(others.length);
        others.push({ index, id: itsId, policy, verdict: 'invalid', findings: findingsOf(errors) });
      } else if (reason !== undefined)
        others.push({ index, id: itsId, policy, verdict: 'not-judged', reason });
      else valid.set(policy, (valid.get(policy) ?? 0) + 1);
    }
    if (reported.length > 0)
      for (const [at, report] of reports.write(text).entries()) {
        const position = reported[at] ?? 0;
        const { errors } = JSON.parse(report) as { readonly errors: readonly unknown[] };
        others[position] = { ...(others[position] as JudgedItem), errors: JSON.stringify(errors) };
      }
    const ids =
      FRAGMENTS.has(kind) || kind === 'delete-attribute'
        ? [...this.#retyped]
        : idsIn(id, entities)?.filter((one) => !this.#keepingType.has(one));
    const refused = others.filter(({ verdict, policy }) => {
      const candidate = candidates[policy];
      return candidate !== undefined && isRefused(verdict, candidate);
    });
    const left = new Set(refused.map(({ index }) => index));
    const thins =
      isBatch &&
      left.size > 0 &&
      left.size < entities.length &&
      refused.every(({ policy }) => candidates[policy]?.thins === true);
    return {
      valid: [...valid],
      others,
      ids,
      dependsOn: [...this.#dependsOn],
      ...(thins ? { thinned: thinnedOut(text, entities, left) } : {}),
      ...(id !== undefined && this.#stored.has(id) && this.#stored.get(id) === undefined
        ? { isMissing: true }
        : {}),
    };
  }
}

const FRAGMENTS: ReadonlySet<WriteKind> = new Set([
  ...(['merge', 'append', 'update', 'attribute', 'replace-attribute'] as const),
  ...(['batch-update', 'batch-merge', 'temporal-append', 'temporal-instance'] as const),
]);

function idOf(entity: JsonValue): string | undefined {
  if (!isObject(entity)) return undefined;
  const id = member(entity, 'id') ?? member(entity, '@id');
  return typeof id === 'string' ? id : undefined;
}

function idIn({ members }: Submitted): string | undefined {
  const id = members.find(({ iri }) => iri === '@id')?.value;
  return typeof id === 'string' ? id : undefined;
}

/** The entities whose types a write may set; undefined where not all of them are known. */
function idsIn(id: string | undefined, entities: readonly JsonValue[]): readonly string[] | undefined {
  if (id !== undefined) return [id];
  const ids = entities.map(idOf);
  return ids.every((one) => one !== undefined) ? ids : undefined;
}

/** Where an error of an attribute stands in the body, which may be the attribute itself. */
function bodyTokens(
  kind: WriteKind,
  attribute = '',
  body: JsonValue,
): (tokens: readonly string[]) => readonly string[] {
  if (!isAttributeKind(kind) && kind !== 'temporal-instance') return (tokens) => tokens;
  const isWrapped = isObject(body) && Object.hasOwn(body, attribute);
  return (tokens) => (tokens[0] === attribute && !isWrapped ? tokens.slice(1) : tokens);
}

function withoutContext(value: JsonValue): JsonValue {
  if (!isObject(value) || !Object.hasOwn(value, '@context') || isDeleted(value)) return value;
  return objectOf(Object.entries(value).filter(([name]) => name !== '@context'));
}

function findingsOf(errors: readonly WriteError[]): readonly WriteFinding[] {
  return errors.slice(0, MAX_FINDINGS).map(({ model, tokens, keyword, say }) => ({
    model,
    pointer: pointerOf(tokens.map((token) => (/^\d+$/.test(token) ? '*' : token))),
    keyword,
    detail: say(),
  }));
}

/** The batch as it was written, without some of its entities. */
function thinnedOut(text: string, entities: readonly JsonValue[], left: ReadonlySet<number>) {
  const kept = itemSpans(text).flatMap((span, index) => (left.has(index) ? [] : [{ span, index }]));
  return {
    body: `[${kept.map(({ span: [start, end] }) => text.slice(start, end)).join(',')}]`,
    ids: kept.flatMap(({ index }) => idOf(entities[index] ?? null) ?? []),
  };
}
