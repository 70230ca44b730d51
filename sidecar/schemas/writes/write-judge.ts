import { DEFAULT_DATASET } from '../../ngsi-ld/members.js';
import type { WriteKind } from '../../ngsi-ld/write-route.js';
import { quoted } from '../../shared/format-value.js';
import { isObject, type JsonObject, type JsonValue, member, objectOf } from '../../shared/json/json.js';
import type { Names } from '../json-ld/names.js';
import { Spelling } from '../json-schema/spelling.js';
import {
  attributeReadings,
  type BodyFault,
  idOf,
  isAttributeKind,
  readBody,
  type WrittenEntities,
} from './body.js';
import { judgedEntities, type Verdict } from './judged-entities.js';
import { judgeFragment, judgeWhole, type JudgeOptions } from './judge-entity.js';
import { combineNeeds, type ModelCache, MissingInputError } from './model-cache.js';
import { withoutMergedStrings } from './languages.js';
import { choosePolicy, isRefused, type WrittenType } from './policy-choice.js';
import type { JudgedItem, JudgeInput, Judgement, JudgeNeeds, StoredTypes } from './protocol.js';
import { readSubmitted, type SubmittedEntity } from './submitted.js';
import type { WriteModel } from './write-models.js';

/** Judges one write. */
export class WriteJudge {
  readonly #input: JudgeInput;
  readonly #cache: ModelCache;
  readonly #spelling = new Spelling();
  readonly #stored: ReadonlyMap<string, StoredTypes>;
  readonly #dependsOn = new Set<string>();
  readonly #missingTypes = new Set<string>();
  /** Stored entities whose types the write changes. */
  readonly #retyped = new Set<string>();
  /** Stored entities whose types the write leaves unchanged. */
  readonly #keepingType = new Set<string>();
  /** The types that the entities of a batch judged so far state, by id: a later one of the same id comes to them. */
  readonly #typesInBatch = new Map<string, readonly WrittenType[]>();

  constructor(input: JudgeInput, cache: ModelCache) {
    this.#input = input;
    this.#cache = cache;
    this.#stored = new Map(input.supplied.entities);
  }

  /** @throws MissingInputError */
  async judge(): Promise<Judgement> {
    const { kind, bytes } = this.#input;
    if (kind === 'delete-attribute') return this.#judgement([await this.#deletion()], NO_BODY);
    const body = readBody(bytes, kind);
    if ('fault' in body) return this.#unreadable(body.fault);
    await this.#requestStoredTypes(body.entities);
    const verdicts: Verdict[] = [];
    const needs: JudgeNeeds[] = [];
    for (const entity of body.entities)
      try {
        verdicts.push(await this.#verdict(entity));
      } catch (error) {
        if (!(error instanceof MissingInputError)) throw error;
        needs.push(error.needs);
      }
    if (this.#missingTypes.size > 0) needs.push({ entities: [...this.#missingTypes] });
    if (needs.length > 0) throw new MissingInputError(combineNeeds(needs));
    return this.#judgement(verdicts, body);
  }

  /** Fragments are judged by the types of the stored entities. Requests those of a whole batch at once. */
  async #requestStoredTypes(entities: readonly JsonValue[]): Promise<void> {
    const { kind, id } = this.#input;
    if (!FRAGMENTS.has(kind)) return;
    const ids = id === undefined ? entities.map(idOf) : [id];
    const unknown = ids.filter((one) => one !== undefined && !this.#stored.has(one));
    if (unknown.length > 0)
      throw new MissingInputError({ entities: [...new Set(unknown)] as readonly string[] });
  }

  async #verdict(entity: JsonValue): Promise<Verdict> {
    const { kind, attribute = '', candidates } = this.#input;
    if (isAttributeKind(kind) || kind === 'temporal-instance')
      return this.#attribute(attributeReadings(entity, attribute));
    if (!isObject(entity)) {
      const errors = [
        { model: '', tokens: [], keyword: 'type', predicate: () => 'must be an entity, an object' },
      ];
      return { policy: choosePolicy(candidates, []), errors };
    }
    const names = await this.#names(member(entity, '@context'));
    if (typeof names === 'string') return this.#notJudged(names);
    const submitted = readSubmitted(entity, names);
    if ('ambiguity' in submitted) return this.#notJudged(submitted.ambiguity);
    const id = idOf(entity) ?? idIn(submitted);
    const verdict = await (FRAGMENTS.has(kind) ? this.#fragment(submitted, id) : this.#whole(submitted, id));
    if (id === undefined) return this.#doubted(verdict, submitted.doubt);
    this.#typesInBatch.set(id, [...(this.#typesInBatch.get(id) ?? []), ...submitted.types]);
    const isOtherId = this.#dependsOnStored && names.mayChangeId(id);
    const idDoubt = `brokers differ in whether the @context changes its id ${quoted(id, 200)}`;
    return this.#doubted(verdict, isOtherId ? idDoubt : submitted.doubt);
  }

  async #whole(submitted: SubmittedEntity, id: string | undefined): Promise<Verdict> {
    const { kind, updates } = this.#input;
    const mayExist = kind === 'temporal-create' || (kind === 'batch-upsert' && updates === 'yes');
    const completed = mayExist ? submitted : await this.#completed(submitted, id);
    const policy = choosePolicy(this.#input.candidates, completed.types);
    const models = this.#isOff(policy) ? 'off' : await this.#models(completed.types, policy);
    if (typeof models === 'string') {
      const verdict = this.#isOff(policy) ? { policy } : { policy, reason: models };
      // The stored entity may have a type that is judged, and keeps it.
      if (!this.#dependsOnStored || id === undefined || !this.#exists(id)) return verdict;
      const asPart = await this.#asFragment(submitted, id);
      return mayExist ? asPart : this.#stricter(verdict, asPart);
    }
    const errors = judgeWhole(models, completed, this.#options, this.#spelling);
    if (errors.length === 0) return { policy };
    if (!mayExist || id === undefined) return { policy, errors };
    // If the entity exists, the write is only a part of it.
    const storedTypes = this.#storedTypes(id);
    if (storedTypes === undefined) return { policy, errors };
    const asPart = await this.#asFragment(submitted, id);
    return asPart.reason === undefined ? asPart : { policy, errors };
  }

  /** Judges what may be a whole entity as a part of the stored one. */
  async #asFragment(submitted: SubmittedEntity, id: string): Promise<Verdict> {
    const verdict = await this.#fragment(submitted, id);
    if (!this.#retyped.has(id)) this.#keepingType.add(id);
    return verdict;
  }

  /** A whole entity, completed by the id in the path and by the types that the broker has. */
  async #completed(submitted: SubmittedEntity, id = this.#input.id): Promise<SubmittedEntity> {
    const { kind } = this.#input;
    if ((kind !== 'replace' && kind !== 'batch-upsert') || id === undefined) return submitted;
    const hasId = submitted.members.some(({ iri }) => iri === '@id');
    const hasType = submitted.types.length > 0;
    const stored = hasType ? undefined : this.#storedTypes(id);
    const types = typeof stored === 'object' ? await this.#resolveTypes(stored) : submitted.types;
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

  async #fragment(submitted: SubmittedEntity, ownId: string | undefined): Promise<Verdict> {
    const id = this.#input.id ?? ownId;
    const stored = id === undefined ? undefined : this.#storedTypes(id);
    if (stored === 'hidden') return this.#notJudged(HIDDEN);
    const inBatch = id === undefined ? [] : (this.#typesInBatch.get(id) ?? []);
    const storedTypes = [...(stored === undefined ? [] : await this.#resolveTypes(stored)), ...inBatch];
    const added = submitted.types.filter(({ iri }) => !storedTypes.some((one) => one.iri === iri));
    if (id !== undefined && added.length > 0) this.#retyped.add(id);
    const types = [...storedTypes, ...added];
    const policy = choosePolicy(this.#input.candidates, types);
    if (this.#isOff(policy)) return { policy };
    // An entity that does not exist is judged by the types that the write itself names, but is never valid.
    const isAbsent = stored === undefined && inBatch.length === 0;
    const absence = isAbsent ? 'the broker has no such entity' : undefined;
    const models = await this.#models(types, policy);
    if (typeof models === 'string') return { policy, reason: absence ?? models };
    const { kind, mergesLanguages } = this.#input;
    const isInLanguage = mergesLanguages && (kind === 'merge' || kind === 'batch-merge');
    const { rest, ambiguity } = isInLanguage ? withoutMergedStrings(models, submitted) : { rest: submitted };
    const errors = judgeFragment(models, rest, this.#options, this.#spelling);
    if (errors.length > 0) return { policy, errors };
    const reason = absence ?? ambiguity ?? (await this.#doubtOfAdded(added, policy));
    return reason === undefined ? { policy } : { policy, reason };
  }

  /** Why it is not known whether an entity is valid by the types that a write adds to it; undefined if no model has them. */
  async #doubtOfAdded(added: readonly WrittenType[], policy: number): Promise<string | undefined> {
    if (added.length === 0 || typeof (await this.#models(added, policy)) === 'string') return undefined;
    const types = added.map(({ written }) => quoted(written, 200)).join(', ');
    return `it gives a stored entity the type ${types}, whose model may not fit its other attributes`;
  }

  /** @param readings the attribute, in each way in which brokers may read the body */
  async #attribute(readings: readonly JsonObject[]): Promise<Verdict> {
    const [first, ...others] = readings;
    const context = first === undefined ? undefined : Object.values(first)[0];
    const names = await this.#names(isObject(context) ? member(context, '@context') : undefined);
    if (typeof names === 'string') return this.#notJudged(names);
    let verdict: Verdict | undefined;
    for (const reading of [first ?? {}, ...others]) {
      const submitted = readSubmitted(
        objectOf(Object.entries(reading).map(([name, value]) => [name, withoutContext(value)])),
        names,
      );
      if ('ambiguity' in submitted) return this.#notJudged(submitted.ambiguity);
      const found = this.#doubted(await this.#fragment(submitted, undefined), submitted.doubt);
      if (verdict === undefined || found.errors !== undefined || found.reason !== undefined) verdict = found;
      if (found.errors !== undefined) break;
    }
    return verdict ?? { policy: 0 };
  }

  async #deletion(): Promise<Verdict> {
    const { id = '', attribute = '', datasetId } = this.#input;
    const names = await this.#names(undefined);
    if (typeof names === 'string') return this.#notJudged(names);
    const stored = this.#storedTypes(id);
    if (this.#missingTypes.size > 0) throw new MissingInputError({ entities: [...this.#missingTypes] });
    if (stored === 'hidden') return this.#notJudged(HIDDEN);
    const types = stored === undefined ? [] : await this.#resolveTypes(stored);
    const policy = choosePolicy(this.#input.candidates, types);
    if (this.#isOff(policy)) return { policy };
    if (stored === undefined) return { policy, reason: 'the broker has no such entity' };
    const models = await this.#models(types, policy);
    if (typeof models === 'string') return { policy, reason: models };
    const iri = names.iriOf(attribute) ?? '';
    const needing = models.filter((model) => model.required.has(model.attributes.get(iri) ?? ''));
    if (needing.length === 0) return this.#doubted({ policy }, names.doubtOf(attribute));
    if (datasetId !== undefined && datasetId !== DEFAULT_DATASET)
      return { policy, reason: 'whether other instances of a required attribute stay is not known' };
    const predicate = () => 'must not be deleted: every entity of the model has it';
    return {
      policy,
      errors: needing.map(({ title }) => ({
        model: title,
        tokens: [attribute],
        keyword: 'required',
        predicate,
      })),
    };
  }

  #isOff(policy: number): boolean {
    return this.#input.candidates[policy]?.mode === 'off';
  }

  #notJudged(reason: string): Verdict {
    return { policy: choosePolicy(this.#input.candidates, [{ written: '', iri: undefined }]), reason };
  }

  /** What names mean in the entity, or why this is unknown. */
  async #names(own: JsonValue | undefined): Promise<Names | string> {
    const { link, linkAmbiguity, isJsonLd, stamp, supplied } = this.#input;
    if (linkAmbiguity !== undefined) return linkAmbiguity;
    if (own !== undefined && link !== undefined)
      return 'there is an @context in the body, and another in the header Link';
    if (own !== undefined && !isJsonLd)
      return 'an @context in a body needs the media type application/ld+json';
    const context = own ?? link;
    const outcome = await this.#cache.names.read(context, stamp, supplied.contexts ?? []);
    if ('needs' in outcome)
      throw new MissingInputError({ urls: outcome.needs.urls, context: JSON.stringify(context) });
    return 'unusable' in outcome ? `its @context cannot be used: ${outcome.unusable}` : outcome.names;
  }

  /** The meanings of types as the broker shows them if no @context is requested. */
  async #resolveTypes(types: readonly string[]): Promise<readonly WrittenType[]> {
    const outcome = await this.#cache.names.read(undefined, this.#input.stamp, []);
    if (!('names' in outcome)) throw new Error('The core context cannot be read.');
    return types.map((written) => ({ written, iri: outcome.names.iriOf(written) }));
  }

  /** Whether the verdict on an entity may depend on the entity that its id names at the broker. */
  get #dependsOnStored(): boolean {
    const { kind, id, updates } = this.#input;
    if (id !== undefined) return false;
    return FRAGMENTS.has(kind) || kind === 'temporal-create' || (kind === 'batch-upsert' && updates !== 'no');
  }

  /** Whether an entity exists when the one in question comes to the broker. */
  #exists(id: string): boolean {
    return this.#storedTypes(id) !== undefined || this.#typesInBatch.has(id);
  }

  /** The verdict on an entity that some brokers may read in another way: what is not valid in this one stays so. */
  #doubted(verdict: Verdict, doubt: string | undefined): Verdict {
    return doubt === undefined ? verdict : this.#stricter(verdict, this.#notJudged(doubt));
  }

  /** The verdict that lets less pass. */
  #stricter(one: Verdict, other: Verdict): Verdict {
    const strictness = ({ policy, reason, errors }: Verdict): number => {
      const candidate = this.#input.candidates[policy];
      if (candidate === undefined || candidate.mode === 'off') return 0;
      if (reason === undefined && errors === undefined) return 1;
      const verdict = errors === undefined ? 'not-judged' : 'invalid';
      return (isRefused(verdict, candidate) ? 4 : 2) + (errors === undefined ? 0 : 1);
    };
    return strictness(other) > strictness(one) ? other : one;
  }

  #storedTypes(id: string): StoredTypes {
    this.#dependsOn.add(id);
    if (!this.#stored.has(id)) this.#missingTypes.add(id);
    return this.#stored.get(id);
  }

  /** The models that judge an entity, or why none does. */
  async #models(types: readonly WrittenType[], policy: number): Promise<readonly WriteModel[] | string> {
    const { model: name } = this.#input.candidates[policy] ?? {};
    if (name !== undefined) {
      const model = this.#cache.named(name);
      if (model === undefined)
        return `the model ${name} of the policy does not exist, or its @context cannot be used`;
      return types.some(({ iri }) => model.types.has(iri ?? ''))
        ? [model]
        : `it is not of the type of the model ${name}`;
    }
    const found = new Set<WriteModel>();
    for (const type of types) {
      const models = this.#cache.ofType(type);
      if (models.length > 1)
        return `its type ${type.iri} is that of several models: ${models.map(({ title }) => title).join(', ')}`;
      for (const model of models) found.add(model);
    }
    if (found.size > 0) return [...found];
    return types.length === 0
      ? 'it has no type'
      : `there is no model for its type ${types
          .map(({ iri, written }) => iri ?? written)
          .slice(0, 5)
          .join(', ')}`;
  }

  get #options(): JudgeOptions {
    const { kind, isSimplified } = this.#input;
    const isMerge = kind === 'merge' || kind === 'batch-merge';
    return {
      isSimplified,
      isMerge,
      deletes:
        isMerge || kind === 'attribute'
          ? 'attributes and parts'
          : kind === 'update' || kind.startsWith('temporal-')
            ? 'attributes'
            : 'nothing',
      isPartial: isMerge || kind === 'update' || kind === 'attribute' || kind === 'batch-update',
      isTemporal: kind.startsWith('temporal-'),
    };
  }

  #unreadable({ detail, keyword, line, column }: BodyFault): Judgement {
    const policy = choosePolicy(this.#input.candidates, [{ written: '', iri: undefined }]);
    const errors = JSON.stringify([{ pointer: '', detail, keyword, line, column }]);
    const findings = [{ model: '', pointer: '', keyword, detail: 'is a body that cannot be read' }];
    const item: JudgedItem = { index: 0, id: undefined, policy, verdict: 'invalid', errors, findings };
    return { valid: [], others: this.#isOff(policy) ? [] : [item], ids: undefined, dependsOn: [] };
  }

  #judgement(verdicts: readonly Verdict[], written: WrittenEntities): Judgement {
    const { kind, id } = this.#input;
    const ids =
      FRAGMENTS.has(kind) || kind === 'delete-attribute'
        ? [...this.#retyped]
        : idsIn(id, written.entities)?.filter((one) => !this.#keepingType.has(one));
    const isMissing = id !== undefined && this.#stored.has(id) && this.#stored.get(id) === undefined;
    return {
      ...judgedEntities(this.#input, verdicts, written),
      ids,
      dependsOn: [...this.#dependsOn],
      ...(isMissing ? { isMissing } : {}),
    };
  }
}

const HIDDEN = 'the broker does not show its entity to this client';

const FRAGMENTS: ReadonlySet<WriteKind> = new Set([
  ...(['merge', 'append', 'update', 'attribute', 'replace-attribute'] as const),
  ...(['batch-update', 'batch-merge', 'temporal-append', 'temporal-instance'] as const),
]);

function idIn({ members }: SubmittedEntity): string | undefined {
  const id = members.find(({ iri }) => iri === '@id')?.value;
  return typeof id === 'string' ? id : undefined;
}

/** The entities whose types a write may set; undefined if not all ids are known. */
function idsIn(id: string | undefined, entities: readonly JsonValue[]): readonly string[] | undefined {
  if (id !== undefined) return [id];
  const ids = entities.map(idOf);
  return ids.every((one) => one !== undefined) ? ids : undefined;
}

function withoutContext(value: JsonValue): JsonValue {
  if (!isObject(value) || !Object.hasOwn(value, '@context')) return value;
  return objectOf(Object.entries(value).filter(([name]) => name !== '@context'));
}

/** The content of a request without a body. */
const NO_BODY: WrittenEntities = { text: '', entities: [null], isBatch: false };
