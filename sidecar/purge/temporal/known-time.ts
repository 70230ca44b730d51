import type { QueryView } from '../run/context.js';
import { FilterIgnoredError } from '../errors.js';
import { ownAttributesOf } from '../../ngsi-ld/entity-members.js';
import { showsOnlyWithout } from '../entities/understood.js';
import { TIME_PARAMETERS } from '../query/parameters.js';
import { EPOCH, timeParameters, type TimeProperty } from './time-filter.js';

/** Times that the broker itself writes, so that every instance has them. */
const SYSTEM_TIMES: readonly TimeProperty[] = ['createdAt', 'modifiedAt'];

/**
 * Checks, for a query that matched nothing, that the broker keeps the time by which it selects instances. Where it does not,
 * nothing would ever be old enough, which looks like success. Nothing can be said of `observedAt`, which need not be there.
 *
 * @throws FilterIgnoredError where instances have been observed since 1970, but none was created or changed since then
 */
export async function checkTimeProperty(context: QueryView): Promise<void> {
  const given = context.selection.find(({ name }) => name === 'timeproperty')?.value;
  const property = SYSTEM_TIMES.find((known) => known === given);
  if (property === undefined) return;
  const times = new Set<string>(TIME_PARAMETERS);
  const others = context.selection.filter(({ name }) => !times.has(name));
  const since = (by: TimeProperty) => [
    ...others,
    ...timeParameters({ property: by, from: EPOCH, to: undefined }),
  ];
  const isUnknown = await showsOnlyWithout(
    context,
    { holding: since(property), without: since('observedAt') },
    ({ entities }) => entities.some((entity) => ownAttributesOf(entity).length > 0),
  );
  if (!isUnknown) return;
  throw new FilterIgnoredError(
    'timeproperty',
    `The broker does not select instances by ${property}: it shows instances observed since 1970, and none with ${property} since then, which every instance has. So an empty result proves nothing. Nothing was deleted.`,
  );
}
