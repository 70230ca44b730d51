import {
  type BrokerQuery,
  type PurgeContext,
  type PurgeScope,
  type QueryView,
  firstPage,
} from '../run/index.js';
import {
  type BrokerRefusedError,
  FilterIgnoredError,
  isNotUnderstood,
  UnsupportedRequestError,
} from '../errors.js';
import {
  entitiesIn,
  type ListedResource,
  temporalEntities,
  type ListedPage,
  type PageShape,
} from '../listing/index.js';
import { checkUnderstood, showsOnlyWithout } from '../entities/index.js';
import type { Parameter } from '../query/index.js';
import { instanceListsOf } from './instances.js';
import type { TemporalPurgeQuery } from './query.js';
import { EPOCH, EVERY_TIME, isOfTime, timeParameters, type TimeProperty } from './time-filter.js';
import { learnValueSelection } from './value-selection.js';
import { attributesWithInstances } from '../../ngsi-ld/members.js';

/** Time filters for queries that have none, because brokers require one (clause 5.7.4.4). */
export const CATCH_ALL_TIMES: readonly (readonly Parameter[])[] = EVERY_TIME.map(timeParameters);

/** Number of entities to sample to find out what q selects. */
const SAMPLE_LIMIT = 3;

/** A query that the broker accepts, its first page, and its dataset if datasets are purged. */
export interface OpenedQuery {
  readonly context: PurgeContext;
  readonly first: ListedPage;
  readonly datasetId: string | undefined;
}

interface PlannedQuery extends BrokerQuery {
  readonly datasetId: string | undefined;
}

/** The queries that together show everything a temporal purge deletes. */
export class QuerySet {
  readonly #queries: readonly PlannedQuery[];
  readonly #refused = new Map<PlannedQuery, BrokerRefusedError>();

  #checksValues: boolean;

  /** @param isExact whether the listed entities are to be archived */
  constructor(query: TemporalPurgeQuery, isExact = false) {
    this.#queries = queriesOf(query, temporalEntities(isExact));
    this.#checksValues =
      query.target.kind !== 'instances' && query.selection.some(({ name }) => name === 'q');
  }

  /**
   * Refuses a query with q and without a time filter if q selects single instances at this broker: the purge would delete all
   * instances of the matching entities, which is more than the broker shows.
   *
   * @throws UnsupportedRequestError
   */
  async #checkValueSelection(context: QueryView): Promise<void> {
    if (!this.#checksValues) return;
    this.#checksValues = false;
    const time = { property: 'observedAt', from: EPOCH, to: undefined } as const;
    const { selection } = context;
    const page = await context.lister.page({ selection, limit: SAMPLE_LIMIT, instances: 20 });
    const lists = entitiesIn(page).flatMap((entity, index) =>
      instanceListsOf(entity, time.property).map((list) => ({ entityId: page.ids[index] ?? '', ...list })),
    );
    if ((await learnValueSelection(context, lists, time)) !== 'instances') return;
    throw new UnsupportedRequestError(
      'The broker shows only the instances that q matches, but without a time filter a purge ' +
        'deletes all instances of these entities. Add timerel and timeAt. Nothing was deleted.',
    );
  }

  /**
   * Opens the queries one after the other. Queries that the broker refuses as not understood are skipped.
   *
   * @throws BrokerRefusedError if the broker refuses all of them
   */
  async *open(scope: PurgeScope, shape: PageShape = {}): AsyncGenerator<OpenedQuery, void> {
    for (const planned of this.#queries) {
      if (this.#refused.has(planned)) continue;
      const context = scope.open(planned);
      let first: ListedPage;
      try {
        first = await firstPage(context, shape);
      } catch (error) {
        if (!isNotUnderstood(error)) throw error;
        this.#refused.set(planned, error);
        continue;
      }
      if (first.ids.length > 0) {
        await context.proof.prove();
        await this.#checkValueSelection(context);
      } else if (planned.isPartial !== true) {
        await checkUnderstood(context);
        await checkTimeProperty(context);
      }
      yield { context, first, datasetId: planned.datasetId };
    }
    const [refusal] = this.#refused.values();
    if (refusal !== undefined && this.#refused.size === this.#queries.length) throw refusal;
  }
}

function queriesOf(
  { target, selection }: TemporalPurgeQuery,
  resource: ListedResource,
): readonly PlannedQuery[] {
  switch (target.kind) {
    case 'instances':
      return [{ resource, selection, datasetId: undefined }];
    case 'entities':
    case 'attributes':
      return catchAllQueries(resource, selection, undefined);
    case 'datasets': {
      const others = selection.filter(({ name }) => name !== 'datasetId');
      // One query for each dataset, because with lastN=1 a broker may show an instance of only one dataset.
      return target.datasetIds.flatMap((datasetId) =>
        catchAllQueries(resource, [...others, { name: 'datasetId', value: datasetId }], datasetId),
      );
    }
  }
}

function catchAllQueries(
  resource: ListedResource,
  selection: readonly Parameter[],
  datasetId: string | undefined,
): readonly PlannedQuery[] {
  return CATCH_ALL_TIMES.map((additions) => ({ resource, selection, additions, datasetId, isPartial: true }));
}

/** Times that the broker itself sets, so every instance has them. */
const SYSTEM_TIMES: readonly TimeProperty[] = ['createdAt', 'modifiedAt'];

/**
 * Checks, for a query that matched nothing, that the broker stores the time by which the query selects instances. If it does
 * not, no instance is ever old enough, and the purge looks successful. `observedAt` cannot be checked, because instances need
 * not have it.
 *
 * @throws FilterIgnoredError if the broker shows instances observed since 1970, but none with the time of the query since
 *   then
 */
async function checkTimeProperty(context: QueryView): Promise<void> {
  const given = context.selection.find(({ name }) => name === 'timeproperty')?.value;
  const property = SYSTEM_TIMES.find((known) => known === given);
  if (property === undefined) return;
  const others = context.selection.filter(({ name }) => !isOfTime(name));
  const since = (by: TimeProperty) => [
    ...others,
    ...timeParameters({ property: by, from: EPOCH, to: undefined }),
  ];
  const isUnknown = await showsOnlyWithout(
    context,
    { holding: since(property), without: since('observedAt') },
    (page) => entitiesIn(page).some((entity) => attributesWithInstances(entity).length > 0),
  );
  if (!isUnknown) return;
  throw new FilterIgnoredError(
    'timeproperty',
    `The broker does not select instances by ${property}: it shows instances ` +
      `observed since 1970, and none with ${property} since then, which every ` +
      'instance has. So an empty result proves nothing. Nothing was deleted.',
  );
}
