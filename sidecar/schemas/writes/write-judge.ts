import { DEFAULT_DATASET } from '../../ngsi-ld/members.js';
import { quoted } from '../../shared/format-value.js';
import { isObject, type JsonObject, type JsonValue, member, objectOf } from '../../shared/json/json.js';
import type { Names } from '../json-ld/names.js';
import { Spelling } from '../json-schema/spelling.js';
import { attributeReadings, idOf, isAttributeKind, readBody, type WrittenEntities } from './body.js';
import { judgedEntities, stricterVerdict, unreadableBody, type Verdict } from './judged-entities.js';
import { judgeFragment, judgeWhole } from './judge-entity.js';
import { combineNeeds, type ModelCache, MissingInputError } from './model-cache.js';
import { withoutMergedStrings } from './languages.js';
import { choosePolicy, type WrittenType } from './policy-choice.js';
import type { JudgeInput, Judgement, JudgeNeeds } from './protocol.js';
import { StoredEntities } from './stored-entities.js';
import { doubtOfValues, readSubmitted, type SubmittedEntity } from './submitted.js';
import { dependsOnStored, FRAGMENTS, isMerge, judgeOptionsOf } from './write-kinds.js';
import type { WriteModel } from './write-models.js';

/** Judges one write. */
export class WriteJudge {
  readonly #input: JudgeInput;
  readonly #cache: ModelCache;
  readonly #spelling = new Spelling();
  readonly #stored: StoredEntities;
  /** The titles of the models that judge the write. */
  readonly #judges = new Set<string>();

  constructor(input: JudgeInput, cache: ModelCache) {
    this.#input = input;
    this.#cache = cache;
    this.#stored = new StoredEntities(input.supplied.entities);
  }

  /** @throws MissingInputError */
  async judge(): Promise<Judgement> {
    const { kind, bytes } = this.#input;
    if (kind === 'delete-attribute') {
      const verdict = await this.#deletion();
      this.#nameModels();
      return this.#judgement([verdict], NO_BODY);
    }
    const body = readBody(bytes, kind);
    if ('fault' in body) return unreadableBody(this.#input.candidates, body.fault);
    this.#requestStoredTypes(body.entities);
    const verdicts: Verdict[] = [];
    const needs: JudgeNeeds[] = [];
    for (const entity of body.entities)
      try {
        verdicts.push(await this.#verdict(entity));
      } catch (error) {
        if (!(error instanceof MissingInputError)) throw error;
        needs.push(error.needs);
      }
    const { missing } = this.#stored;
    if (missing.length > 0) needs.push({ entities: missing });
    if (needs.length > 0) throw new MissingInputError(combineNeeds(needs));
    this.#nameModels();
    return this.#judgement(verdicts, body);
  }

  /** Ends the work on a write that only asks for its models. @throws MissingInputError */
  #nameModels(): void {
    if (this.#input.asksModels === true) throw new MissingInputError({ judges: [...this.#judges] });
  }

  /** Fragments are judged by the types of the stored entities. Requests those of a whole batch at once. */
  #requestStoredTypes(entities: readonly JsonValue[]): void {
    const { kind, id } = this.#input;
    if (!FRAGMENTS.has(kind)) return;
    const ids = id === undefined ? entities.map(idOf) : [id];
    const unknown = ids.filter((one) => one !== undefined && !this.#stored.isKnown(one));
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
    this.#stored.addToBatch(id, submitted.types);
    const isOtherId = dependsOnStored(this.#input) && names.mayChangeId(id);
    const idDoubt = `brokers differ in whether the @context changes its id ${quoted(id, 200)}`;
    return this.#doubted(verdict, isOtherId ? idDoubt : submitted.doubt);
  }

  async #whole(submitted: SubmittedEntity, id: string | undefined): Promise<Verdict> {
    const { kind, updates } = this.#input;
    const mayExist = kind === 'temporal-create' || (kind === 'batch-upsert' && updates === 'yes');
    const completed = mayExist ? submitted : await this.#completed(submitted, id);
    const policy = choosePolicy(this.#input.candidates, completed.types);
    const models = this.#isOff(policy) ? 'off' : this.#models(completed.types, policy);
    if (typeof models === 'string') {
      const verdict = this.#isOff(policy) ? { policy } : { policy, reason: models };
      // The stored entity may have a type that is judged, and keeps it.
      if (!dependsOnStored(this.#input) || id === undefined || !this.#stored.exists(id)) return verdict;
      const asPart = await this.#asFragment(submitted, id);
      return mayExist ? asPart : stricterVerdict(this.#input.candidates, verdict, asPart);
    }
    if (mayExist && id !== undefined && this.#input.asksModels === true)
      await this.#asFragment(submitted, id);
    const errors = judgeWhole(models, completed, judgeOptionsOf(this.#input), this.#spelling);
    if (errors.length === 0) return verdictOf(policy, doubtOfValues(models, completed));
    if (!mayExist || id === undefined) return { policy, errors };
    // If the entity exists, the write is only a part of it.
    if (this.#stored.typesOf(id) === undefined) return { policy, errors };
    const asPart = await this.#asFragment(submitted, id);
    return asPart.reason === undefined ? asPart : { policy, errors };
  }

  /** Judges what may be a whole entity as a part of the stored one. */
  async #asFragment(submitted: SubmittedEntity, id: string): Promise<Verdict> {
    const verdict = await this.#fragment(submitted, id);
    this.#stored.noteKept(id);
    return verdict;
  }

  /** A whole entity, completed by the id in the path and by the types that the broker has. */
  async #completed(submitted: SubmittedEntity, id = this.#input.id): Promise<SubmittedEntity> {
    const { kind } = this.#input;
    if ((kind !== 'replace' && kind !== 'batch-upsert') || id === undefined) return submitted;
    const hasId = submitted.members.some(({ iri }) => iri === '@id');
    const hasType = submitted.types.length > 0;
    const stored = hasType ? undefined : this.#stored.typesOf(id);
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
    const stored = id === undefined ? undefined : this.#stored.typesOf(id);
    if (stored === 'hidden') return this.#notJudged(HIDDEN);
    const inBatch = id === undefined ? [] : this.#stored.typesInBatch(id);
    const storedTypes = [...(stored === undefined ? [] : await this.#resolveTypes(stored)), ...inBatch];
    const added = submitted.types.filter(({ iri }) => !storedTypes.some((one) => one.iri === iri));
    if (id !== undefined && added.length > 0) this.#stored.noteRetyped(id);
    const types = [...storedTypes, ...added];
    const policy = choosePolicy(this.#input.candidates, types);
    if (this.#isOff(policy)) return { policy };
    // An entity that does not exist is judged by the types that the write itself names, but is never valid.
    const isAbsent = stored === undefined && inBatch.length === 0;
    const absence = isAbsent ? 'the broker has no such entity' : undefined;
    const models = this.#models(types, policy);
    if (typeof models === 'string') return { policy, reason: absence ?? models };
    const { kind, mergesLanguages } = this.#input;
    const { rest, ambiguity } =
      mergesLanguages && isMerge(kind) ? withoutMergedStrings(models, submitted) : { rest: submitted };
    const errors = judgeFragment(models, rest, judgeOptionsOf(this.#input), this.#spelling);
    if (errors.length > 0) return { policy, errors };
    const doubt = this.#doubtOfAdded(added, policy) ?? doubtOfValues(models, submitted);
    return verdictOf(policy, absence ?? ambiguity ?? doubt);
  }

  /** Why it is not known whether an entity is valid by the types that a write adds to it; undefined if no model has them. */
  #doubtOfAdded(added: readonly WrittenType[], policy: number): string | undefined {
    if (added.length === 0 || typeof this.#models(added, policy) === 'string') return undefined;
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
    const stored = this.#stored.typesOf(id);
    const { missing } = this.#stored;
    if (missing.length > 0) throw new MissingInputError({ entities: missing });
    if (stored === 'hidden') return this.#notJudged(HIDDEN);
    const types = stored === undefined ? [] : await this.#resolveTypes(stored);
    const policy = choosePolicy(this.#input.candidates, types);
    if (this.#isOff(policy)) return { policy };
    if (stored === undefined) return { policy, reason: 'the broker has no such entity' };
    const models = this.#models(types, policy);
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

  /** The verdict on an entity that some brokers may read in another way: what is not valid in this one stays so. */
  #doubted(verdict: Verdict, doubt: string | undefined): Verdict {
    return doubt === undefined
      ? verdict
      : stricterVerdict(this.#input.candidates, verdict, this.#notJudged(doubt));
  }

  /** The models that judge an entity, or why none does. If only their names are asked for, none judges. */
  #models(types: readonly WrittenType[], policy: number): readonly WriteModel[] | string {
    const models = this.#cache.judging(types, this.#input.candidates[policy]?.model);
    if (typeof models === 'string' || this.#input.asksModels !== true) return models;
    for (const { title } of models) this.#judges.add(title);
    return [];
  }

  #judgement(verdicts: readonly Verdict[], written: WrittenEntities): Judgement {
    const { kind, id } = this.#input;
    const ids =
      FRAGMENTS.has(kind) || kind === 'delete-attribute'
        ? this.#stored.retyped
        : idsIn(id, written.entities)?.filter((one) => !this.#stored.keepsType(one));
    const isMissing = id !== undefined && this.#stored.isAbsent(id);
    return {
      ...judgedEntities(this.#input, verdicts, written),
      ids,
      dependsOn: this.#stored.dependsOn,
      ...(isMissing ? { isMissing } : {}),
    };
  }
}

/** The verdict on an entity without errors. @param reason why it is not judged */
function verdictOf(policy: number, reason: string | undefined): Verdict {
  return reason === undefined ? { policy } : { policy, reason };
}

const HIDDEN = 'the broker does not show its entity to this client';

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
