import { hash } from 'node:crypto';
import { findingKey, type JudgedFinding, type PageVerdict } from '../schemas/models/index.js';
import type { FoundEntities, FoundEntity, ScanFinding, ScannedModel, ScanRecord } from '../store/index.js';

/**
 * Maximum number of findings in a record, and of findings that are counted. More are counted because frequent findings
 * may come late.
 */
const MAX_FINDINGS = 1000;
const MAX_COUNTED = 4 * MAX_FINDINGS;

/** Maximum number of types without a model in a record. */
const MAX_UNMODELLED = 1000;

/** Maximum number of example ids per finding. */
const MAX_SAMPLE = 5;

/** Maximum number of stored entities, per finding and per scan. */
const MAX_STORED = { finding: 10_000, scan: 100_000 } as const;

/** Maximum number of different reasons for not judging in a record. */
const MAX_REASONS = 10;

type Mutable<Part> = {
  -readonly [Member in keyof Part]: Part[Member] extends readonly (infer One)[] ? One[] : Part[Member];
};

/** Entities that were not judged, for the same reason. */
interface UnjudgedGroup {
  entities: number;
  readonly sample: string[];
}

interface CountedFinding extends Mutable<ScanFinding> {
  readonly key: string;
  /** See JudgedFinding. */
  single: number;
  stored: number;
}

/** The members of a record with the results. */
type ScanCounts = Pick<
  ScanRecord,
  'checked' | 'valid' | 'invalid' | 'notJudged' | 'models' | 'findings' | 'unmodelled'
>;

/** Adds up the results of the pages of a scan. */
export class ScanResults {
  readonly #models = new Map<string, Mutable<ScannedModel>>();
  readonly #findings = new Map<string, CountedFinding>();
  /** By type. */
  readonly #unmodelled = new Map<string, UnjudgedGroup>();
  readonly #ambiguous = new Map<string, UnjudgedGroup>();
  /** By reason. */
  readonly #unreadable = new Map<string, UnjudgedGroup>();
  #valid = 0;
  #invalid = 0;
  #notJudged = 0;
  #stored = 0;
  #isTruncated = false;
  #hasMoreFindings = false;

  /** Whether some entities could not be judged although they have a model. */
  get isIncomplete(): boolean {
    return this.#unreadable.size > 0;
  }

  /** How many more invalid entities can be stored. */
  get remainingCapacity(): number {
    return MAX_STORED.scan - this.#stored;
  }

  /** Adds the verdict on a page. @returns the entities to store */
  add(verdict: PageVerdict): readonly FoundEntities[] {
    if ('notJudged' in verdict) {
      const { why, notJudged, sample } = verdict;
      this.#addUnjudged(this.#unreadable, why, MAX_REASONS, { entities: notJudged, sample });
      return [];
    }
    const { judged, models } = verdict;
    this.#valid += judged.valid;
    this.#invalid += judged.invalid;
    judged.models.forEach(({ valid, invalid }, index) => {
      const model = models[index];
      if (model === undefined || valid + invalid === 0) return;
      const key = JSON.stringify([model.domain, model.model, model.version]);
      const { domain, model: name, version } = model;
      const known = this.#models.get(key) ?? {
        domain,
        model: name,
        version,
        checked: 0,
        valid: 0,
        invalid: 0,
      };
      this.#models.set(key, known);
      known.checked += valid + invalid;
      known.valid += valid;
      known.invalid += invalid;
    });
    for (const { type, isAmbiguous, ...others } of judged.others)
      if (isAmbiguous) this.#addUnjudged(this.#ambiguous, type, MAX_REASONS, others);
      else this.#addUnjudged(this.#unmodelled, type, MAX_UNMODELLED, others);
    for (const { why, ...unreadable } of judged.unreadable)
      this.#addUnjudged(this.#unreadable, why, MAX_REASONS, unreadable);
    return judged.findings.flatMap((finding) => {
      const model = models[finding.model];
      return model === undefined ? [] : this.#addFinding(finding, model, judged.entities);
    });
  }

  /** The current results for the record. */
  get counts(): ScanCounts {
    const byNumber = (one: { entities: number }, other: { entities: number }) =>
      other.entities - one.entities;
    return {
      checked: this.#valid + this.#invalid,
      valid: this.#valid,
      invalid: this.#invalid,
      notJudged: this.#notJudged,
      models: [...this.#models.values()].map((one) => ({ ...one })),
      findings: [...this.#findings.values()]
        .sort(byNumber)
        .slice(0, MAX_FINDINGS)
        .map(({ stored: _stored, key: _key, single: _single, ...finding }) => ({
          ...finding,
          sample: [...finding.sample],
        })),
      unmodelled: Array.from(this.#unmodelled, ([type, one]) => ({
        type,
        ...one,
        sample: [...one.sample],
      })).sort(byNumber),
    };
  }

  /** The warnings for readers of the record. */
  get warnings(): readonly string[] {
    const ambiguous = [...this.#ambiguous].map(
      ([type, { entities: number }]) =>
        `${entities(number)} of the type ${type} ${were(number)} not judged: ` +
        'several models have this type. Name the domain, or the model.',
    );
    const unreadable = [...this.#unreadable].map(
      ([why, { entities: number, sample }]) =>
        `${entities(number)} ${were(number)} not judged: ${why}${sample.length === 0 ? '' : ` (${sample.join(', ')})`}.`,
    );
    const more = this.#hasMoreFindings
      ? [`There are more findings than the ${String(MAX_FINDINGS)} shown; all invalid entities are counted.`]
      : [];
    const cut = this.#isTruncated
      ? [
          `Not all entities of the findings are kept: at most ${String(MAX_STORED.finding)} ` +
            `per finding, and ${String(MAX_STORED.scan)} in all.`,
        ]
      : [];
    return [...ambiguous, ...unreadable, ...this.#warningsOfSingles(), ...more, ...cut];
  }

  /** Some brokers show an array of one item as the item, so that valid entities look invalid. */
  #warningsOfSingles(): readonly string[] {
    const singles = [...this.#findings.values()].filter(({ single }) => single > 0);
    if (singles.length === 0) return [];
    const number = singles.reduce((sum, { single }) => sum + single, 0);
    const pointers = singles.slice(0, MAX_SAMPLE).map(({ pointer }) => pointer);
    const rest = singles.length > pointers.length ? ' and elsewhere' : '';
    return [
      `${number === 1 ? '1 value' : `${String(number)} values`} at ${pointers.join(', ')}${rest} would be valid as an array of one item. ` +
        'Brokers that process JSON-LD, such as Scorpio and Stellio, show such an array as its item: a model for them describes both.',
    ];
  }

  /**
   * Counts entities that were not judged.
   *
   * @param maxGroups maximum number of groups; entities beyond them are counted without a group
   */
  #addUnjudged(
    groups: Map<string, UnjudgedGroup>,
    name: string,
    maxGroups: number,
    { entities: number, sample }: { readonly entities: number; readonly sample: readonly string[] },
  ): void {
    this.#notJudged += number;
    const known = groups.get(name);
    if (known === undefined && groups.size >= maxGroups) return;
    const group = known ?? { entities: 0, sample: [] };
    groups.set(name, group);
    group.entities += number;
    group.sample.push(...sample.slice(0, MAX_SAMPLE - group.sample.length));
  }

  #addFinding(
    finding: JudgedFinding,
    { domain, model }: { readonly domain: string; readonly model: string },
    all: readonly FoundEntity[],
  ): readonly FoundEntities[] {
    const { pointer, keyword, detail } = finding;
    const key = keyOfFinding({ domain, model, pointer, keyword, detail });
    let counted = this.#findings.get(key);
    if (counted === undefined) {
      if (this.#findings.size >= MAX_FINDINGS) this.#hasMoreFindings = true;
      if (this.#findings.size >= MAX_COUNTED) return [];
      counted = {
        domain,
        model,
        pointer,
        keyword,
        detail,
        entities: 0,
        sample: [],
        key,
        single: 0,
        stored: 0,
      };
      this.#findings.set(key, counted);
    }
    counted.entities += finding.entities;
    counted.single += finding.single;
    counted.sample.push(...finding.sample.slice(0, MAX_SAMPLE - counted.sample.length));
    const capacity = Math.min(MAX_STORED.finding - counted.stored, MAX_STORED.scan - this.#stored);
    const stored = finding.reported.slice(0, Math.max(0, capacity)).flatMap((index) => all[index] ?? []);
    if (stored.length < finding.entities) this.#isTruncated = true;
    if (stored.length === 0) return [];
    const first = counted.stored;
    counted.stored += stored.length;
    this.#stored += stored.length;
    return [{ finding: key, first, entities: stored }];
  }
}

/** Returns the key of a finding in the store. */
export function keyOfFinding(
  finding: Pick<ScanFinding, 'domain' | 'model' | 'pointer' | 'keyword' | 'detail'>,
): string {
  const text = JSON.stringify([finding.domain, finding.model, findingKey(finding)]);
  return hash('sha256', text).slice(0, 32);
}

function entities(number: number): string {
  return number === 1 ? '1 entity' : `${String(number)} entities`;
}

function were(number: number): string {
  return number === 1 ? 'was' : 'were';
}
