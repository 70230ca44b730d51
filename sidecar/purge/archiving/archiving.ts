import {
  type ArchivedLine,
  ArchiveUnavailableError,
  type ArchiveWriter,
  digestOf,
  parseLine,
  entityLine,
} from '../../archive/index.js';
import { DEFAULT_DATASET, attributeNames } from '../../ngsi-ld/members.js';
import { problemTypeUri } from '../../shared/problem.js';
import { isObject, type JsonValue } from '../../shared/json/json.js';
import type { BrokerProblem } from '../broker/index.js';
import { unlessStopped } from '../errors.js';
import { keyOf } from '../ledger/index.js';

/** Why something is not archived whose text would be changed by that. */
export const NOT_UTF8 = 'The broker showed it with bytes that are not UTF-8, which an archive cannot hold.';

/** Where a purge archives what it deletes. */
export interface PurgeArchive {
  readonly writer: ArchiveWriter;
  /** If true, what cannot be archived is not deleted; otherwise it is deleted, and counted. */
  readonly isRequired: boolean;
}

/** A part of an entity that is to be deleted: an attribute, or an instance of one. */
export interface ArchivedPart {
  readonly entityId: string;
  readonly attribute: string;
  /** Key of the item that is deleted. */
  readonly key: string;
  readonly content: JsonValue;
}

/** The archive of one purge: takes what is about to be deleted, and decides what may be deleted. */
export class Archiving {
  readonly #writer: ArchiveWriter;
  readonly #isRequired: boolean;
  readonly #stopped: AbortSignal;
  /** Keys of what is deleted without being archived; further ones are only counted, perhaps twice. */
  readonly #lost = new Set<string>();
  #moreLost = 0;
  #lastDoubt = 'The broker did not show them whole.';
  /** Why items cannot be archived whole, by key, until release() is called for them. */
  readonly #doubts = new Map<string, string>();

  /** @param stopped aborts when the purge has to stop; it then no longer waits for the archive */
  constructor({ writer, isRequired }: PurgeArchive, stopped: AbortSignal) {
    this.#writer = writer;
    this.#isRequired = isRequired;
    this.#stopped = stopped;
  }

  /** Adds entities as the broker shows them, each with its id, perhaps more than once. @throws PurgeStoppedError */
  async keepEntities(texts: readonly (readonly [entityId: string, text: string])[]): Promise<void> {
    const lines = texts.map(([entityId, text]) => entityLine(entityId, text));
    await unlessStopped(this.#writer.add(...lines), this.#stopped);
  }

  /** Adds parts of one entity; those that are archived already are left out. */
  async keepParts(
    entityId: string,
    type: JsonValue | undefined,
    parts: readonly ArchivedPart[],
  ): Promise<void> {
    const fresh = new Map<string, number>();
    const attributes = new Map<string, JsonValue[]>();
    for (const { key, attribute, content } of parts) {
      const digest = digestOf(JSON.stringify(content));
      if (this.#writer.isCurrent(key, digest)) continue;
      fresh.set(key, digest);
      attributes.set(attribute, [...(attributes.get(attribute) ?? []), ...listOf(content)]);
    }
    if (fresh.size === 0) return;
    const members = [...attributes].map(([name, all]) => [name, all.length === 1 ? all[0] : all]);
    const line = { id: entityId, ...(type === undefined ? {} : { type }) };
    const text = JSON.stringify(
      Object.assign(Object.create(null) as object, line, Object.fromEntries(members)),
    );
    await unlessStopped(this.#writer.add({ entityId, text, parts: fresh }), this.#stopped);
  }

  /** Notes that an item cannot be archived whole. @param why a sentence */
  doubt(key: string, why: string): void {
    this.#writer.invalidate(key);
    this.#doubts.set(key, why);
  }

  /**
   * Makes durable what was added, and decides what may be deleted.
   *
   * @param keys of what is about to be deleted
   * @param onRefused receives the keys of what may not be deleted, and why
   * @returns the keys of what may be deleted
   * @throws ArchiveUnavailableError if an archive that is required has failed so often that nothing more will be deleted
   * @throws PurgeStoppedError
   */
  async release(
    keys: readonly string[],
    onRefused: (key: string, problem: BrokerProblem) => void,
  ): Promise<readonly string[]> {
    await unlessStopped(this.#writer.flush(), this.#stopped);
    const missing = keys.filter((key) => !this.#writer.has(key));
    if (missing.length === 0) return keys;
    for (const key of missing) {
      const why = this.#doubts.get(key);
      this.#doubts.delete(key);
      if (this.#isRequired) onRefused(key, notArchived(why ?? this.#writer.failure?.message));
      else this.#noteLost(key, why);
    }
    if (!this.#isRequired) return keys;
    if (this.#writer.hasGivenUp) {
      const said = this.#writer.failure?.message ?? '';
      throw new ArchiveUnavailableError(`${said} The purge stopped: what cannot be archived is not deleted.`);
    }
    const refused = new Set(missing);
    return keys.filter((key) => !refused.has(key));
  }

  /** The warning for the report of the purge, if something was deleted without being archived. */
  get warnings(): readonly string[] {
    const lost = this.#lost.size + this.#moreLost;
    if (lost === 0) return [];
    const why = this.#writer.failure?.message ?? this.#lastDoubt;
    return [`${String(lost)} of what was deleted could not be archived, and cannot be restored. ${why}`];
  }

  #noteLost(key: string, why: string | undefined): void {
    this.#lastDoubt = why ?? this.#lastDoubt;
    if (this.#lost.has(key)) return;
    if (this.#lost.size < MAX_LOST) this.#lost.add(key);
    else this.#moreLost += 1;
  }
}

const MAX_LOST = 100_000;

function notArchived(why = 'The broker did not show it whole, or it changed meanwhile.'): BrokerProblem {
  return {
    status: 503,
    type: problemTypeUri('not-archived'),
    title: 'Not archived',
    detail: `It was not deleted, because it could not be archived. ${why}`,
  };
}

function listOf(content: JsonValue): readonly JsonValue[] {
  return Array.isArray(content) ? (content as readonly JsonValue[]) : [content];
}

/**
 * Returns a function that reads what a line of an archive stands for, as the process that wrote it knew it: keys of items, and
 * digests of their content.
 *
 * @param unit what the purge deletes
 */
export function archivedKeys(
  unit: 'entities' | 'attributes' | 'datasets' | 'instances',
): (id: string, line: string) => ArchivedLine['parts'] {
  return (id, line) => (unit === 'entities' ? entityLine(id, line).parts : partsOf(id, line, unit));
}

function partsOf(
  entityId: string,
  line: string,
  unit: 'attributes' | 'datasets' | 'instances',
): ArchivedLine['parts'] {
  const { entity } = parseLine(line);
  const parts = new Map<string, number>();
  for (const attribute of attributeNames(entity)) {
    const content = entity[attribute] ?? null;
    if (unit === 'attributes') parts.set(keyOf({ entityId, attribute }), digestOf(JSON.stringify(content)));
    // Datasets are always read again before they are deleted, so digests of what they held are of no use.
    else if (unit === 'datasets')
      for (const instance of listOf(content))
        parts.set(
          keyOf({ entityId, attribute, datasetId: textIn(instance, 'datasetId') ?? DEFAULT_DATASET }),
          0,
        );
    else
      for (const instance of listOf(content)) {
        const instanceId = textIn(instance, 'instanceId');
        if (instanceId === undefined) continue;
        parts.set(keyOf({ entityId, attribute, instanceId }), digestOf(JSON.stringify(instance)));
      }
  }
  return parts;
}

function textIn(instance: JsonValue, member: 'instanceId' | 'datasetId'): string | undefined {
  const text = isObject(instance) ? instance[member] : undefined;
  return typeof text === 'string' ? text : undefined;
}
