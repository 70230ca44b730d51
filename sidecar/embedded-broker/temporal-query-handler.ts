import { readSelection, SELECTING_PARAMETERS, type Selection } from './entity-query.js';
import type { BrokerContext, BrokerRequest, BrokerResponse } from './exchange.js';
import { isUri } from './model.js';
import {
  answeredPage,
  pageHeaders,
  PAGING_PARAMETERS,
  readPageRequest,
  readQueryParameters,
  findPage,
} from './page.js';
import type { Parameters } from './query-parameters.js';
import { refusals } from './refusal.js';
import { instanceChooser, ContentRange } from './temporal-choice.js';
import { ALWAYS, TIME_OF, type TemporalInstance } from './temporal-history.js';
import {
  readDatasets,
  readTemporalRepresentation,
  representTemporal,
  TEMPORAL_SHOWING_PARAMETERS,
} from './temporal-representation.js';
import {
  hasInstanceInTime,
  matchesAlone,
  temporalEntityQuery,
  readTimeQuery,
  TIME_PARAMETERS,
  type TimeQuery,
} from './temporal-selection.js';
import type { TemporalEntity, TemporalStore } from './temporal-store.js';

const QUERY_PARAMETERS: ReadonlySet<string> = new Set([
  ...SELECTING_PARAMETERS, ...TIME_PARAMETERS, ...TEMPORAL_SHOWING_PARAMETERS, ...PAGING_PARAMETERS,
]); // oxfmt-ignore
const RETRIEVE_PARAMETERS: ReadonlySet<string> = new Set([
  'attrs', 'local', ...TIME_PARAMETERS, ...TEMPORAL_SHOWING_PARAMETERS,
]); // oxfmt-ignore

/** GET /temporal/entities: Query Temporal Evolution of Entities (ETSI GS CIM 009 V1.9.1, clauses 5.7.4, 6.18.3.2). */
export function queryTemporalEntities(request: BrokerRequest, context: BrokerContext): BrokerResponse {
  const { behaviour } = context;
  const parameters = readQueryParameters(request, QUERY_PARAMETERS, context);
  const wanted = readPageRequest(parameters, context);
  const time = readTimeQuery(parameters, behaviour, true);
  const mayBeWide = behaviour.ignoreParameters.length > 0;
  const selection = readSelection(parameters, { negation: 'some instance', mayBeWide });
  const isByMatch = behaviour.qShowsMatchesOnly && selection.valueFilters.length > 0;
  const show = shower(parameters, time, context, isByMatch ? selection : undefined);
  const { history: store } = context.tenants.existing(request.tenant);

  const selecting = behaviour.selectsIgnoringTime ? { ...time, range: ALWAYS } : time;
  const query = temporalEntityQuery(selection, selecting);
  const page = answeredPage(wanted, context, (at) => findPage(store.entities, query, at));
  const entities = behaviour.selectsIgnoringTime
    ? page.entities.filter((entity) => hasInstanceInTime(entity, selection.attrs, time))
    : page.entities;
  const { contentRange, bodies } = show(store, entities);
  return answer(bodies, contentRange, pageHeaders(request, parameters, wanted, page, context));
}

/** GET /temporal/entities/{id}: Retrieve Temporal Evolution of an Entity (clauses 5.7.3, 6.19.3.1). */
export function retrieveTemporalEntity(request: BrokerRequest, context: BrokerContext): BrokerResponse {
  const parameters = readQueryParameters(request, RETRIEVE_PARAMETERS, context);
  const show = shower(parameters, readTimeQuery(parameters, context.behaviour, false), context);
  const { store, entity } = locateTemporalEntity(request, context);
  const { contentRange, bodies } = show(store, [entity]);
  return answer(bodies[0], contentRange);
}

/** Finds the temporal entity named in the path, and its store. @throws Refusal 400, 404 */
export function locateTemporalEntity({ segments, tenant }: BrokerRequest, { tenants }: BrokerContext) {
  const [id] = segments;
  if (!isUri(id)) throw refusals.badRequest('The id of an entity must be a URI');
  const { history: store } = tenants.existing(tenant);
  const entity = store.entities.get(id);
  if (entity === undefined) throw refusals.notFound(`Temporal entity ${id} does not exist`);
  return { store, entity };
}

/** Makes the function that represents temporal entities as the parameters request. */
function shower(parameters: Parameters, time: TimeQuery, context: BrokerContext, byMatch?: Selection) {
  const representation = readTemporalRepresentation(parameters, context);
  const choose = instanceChooser(time, readDatasets(parameters), context);
  return (store: TemporalStore, entities: readonly TemporalEntity[]) => {
    const contentRange = new ContentRange(time);
    const bodies = entities.map((entity) => {
      const together = shownTogether(entity, parameters, time, context);
      return representTemporal(entity, store.ids, representation, (history) => {
        const isMeant =
          together === undefined
            ? byMatch && matchesAlone(entity, history, byMatch)
            : (instance: TemporalInstance) => together.has(instance);
        const choice = choose(history, isMeant);
        contentRange.note({ ...choice, isPartial: choice.isPartial || together !== undefined });
        return choice.instances;
      });
    });
    return { bodies, contentRange: contentRange.header };
  };
}

/** Returns the oldest instances of an entity if it has more than may be shown together; undefined if all are shown. */
function shownTogether(
  { attributes }: TemporalEntity,
  parameters: Parameters,
  { property, range, lastN }: TimeQuery,
  { behaviour: { instancesTogether = Infinity } }: BrokerContext,
): ReadonlySet<TemporalInstance> | undefined {
  if (instancesTogether === Infinity || lastN !== undefined) return undefined;
  const names = parameters.get('attrs')?.split(',') ?? [...attributes.keys()];
  const all = names.flatMap((name) => [...(attributes.get(name)?.within(property, range) ?? [])]);
  const timeOf = TIME_OF[property];
  const shown = all.sort((one, other) => timeOf(one) - timeOf(other)).slice(0, instancesTogether);
  return shown.length < all.length ? new Set(shown) : undefined;
}

function answer(
  body: unknown,
  contentRange: string | undefined,
  headers: BrokerResponse['headers'] = {},
): BrokerResponse {
  if (contentRange === undefined) return { status: 200, headers, body };
  return { status: 206, headers: { ...headers, 'Content-Range': contentRange }, body };
}
