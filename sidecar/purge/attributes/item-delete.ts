import { DEFAULT_DATASET } from '../../ngsi-ld/members.js';
import { parseBrokerProblem, failureIn, type DeleteResult } from '../broker/index.js';
import type { PurgeScope } from '../run/index.js';
import { BrokerRefusedError } from '../errors.js';
import { givenUp } from '../deleting/index.js';
import { noSafePath, attributePath } from '../proof/index.js';
import { keyOf, type Item } from '../ledger/index.js';
import type { ListedResource } from '../listing/index.js';
import { StaleListError, type RequestResult } from '../requests/index.js';

/** Letters, and URI characters without a meaning in a query, even if it is decoded too early. */
const PLAIN_VALUE = /^[\p{L}\p{M}\p{N}_.~:@!$'()/-]*[\p{L}\p{M}\p{N}_~:@!$'()-]$/u;

/**
 * Returns the datasets of an attribute as it is shown: one instance, or several in an array (clause 4.5.5).
 *
 * @returns each datasetId once, `@none` for an instance without one
 */
export function datasetsOf(attribute: unknown): readonly string[] {
  const instances: readonly unknown[] = [attribute].flat();
  return [...new Set(instances.map(datasetOf))];
}

function datasetOf(instance: unknown): string {
  const datasetId =
    typeof instance === 'object' && instance !== null && 'datasetId' in instance
      ? instance.datasetId
      : undefined;
  return typeof datasetId === 'string' && datasetId !== '' ? datasetId : DEFAULT_DATASET;
}

/**
 * Returns the query string that limits a delete to one dataset of an attribute, percent-encoded. A delete without a query
 * string removes only the instances without a datasetId.
 *
 * @returns undefined if a server that decodes the query before it takes it apart could read another dataset, or another
 *   parameter (`urn:x&deleteAll=true`)
 */
export function datasetParameter(datasetId: string): string | undefined {
  if (datasetId === DEFAULT_DATASET) return '';
  // A path with its query may be taken apart at slashes and dots, or be folded (full-width characters).
  const hasDots = datasetId.split('/').some((piece) => /^\.+$/.test(piece));
  const isPlain = PLAIN_VALUE.test(datasetId) && !hasDots && datasetId === datasetId.normalize('NFKC');
  return isPlain ? `?datasetId=${encodeURIComponent(datasetId)}` : undefined;
}

export interface ItemDelete {
  /** Undefined if no path is sure to address the item. */
  readonly path: string | undefined;
  /** Completes "The broker did not …", e.g. "delete an attribute". */
  readonly operation: string;
  /** Whether it was listed too long ago. */
  readonly isStale: () => boolean;
  /** Called right before it is first sent. */
  readonly onSend?: (() => void) | undefined;
}

/**
 * Deletes an attribute, a dataset of it or an instance (clauses 5.6.5, 5.6.13 and 5.6.15). 404 is not a
 * failure: another client, or a delete whose answer was lost, may have come first.
 *
 * @throws BrokerRefusedError when the broker has no such operation
 */
export async function deleteItem(
  { requester, ledger }: Pick<PurgeScope, 'requester' | 'ledger'>,
  item: Item,
  { path, operation, isStale, onSend }: ItemDelete,
): Promise<DeleteResult> {
  if (path === undefined) return NOT_ADDRESSABLE;
  const onUnclear = () => ledger.markUnclear(item);
  let settled: RequestResult;
  try {
    settled = await requester.send({
      method: 'DELETE',
      path,
      operation,
      item: keyOf(item),
      deletes: 1,
      deletesPart: true,
      isStale,
      onSend: () => {
        ledger.add(item);
        onSend?.();
      },
      onUnclear,
    });
  } catch (error) {
    if (error instanceof StaleListError) return { kind: 'unsent' };
    throw error;
  }
  if (settled.kind === 'gave-up') return givenUp(settled);
  const { reply } = settled;
  if (reply.status === 404) return { kind: 'absent' };
  const failure = failureIn(reply);
  if (reply.status < 300 && reply.status !== 207 && failure === undefined) return { kind: 'deleted' };
  const problem = parseBrokerProblem(reply);
  if (reply.status === 405 || reply.status === 501) throw new BrokerRefusedError(operation, problem);
  if (reply.status >= 300) return { kind: 'refused', problem };
  onUnclear();
  return failure === undefined || failure.kind === 'deleted' ? { kind: 'unclear', problem } : failure;
}

const NOT_ADDRESSABLE = noSafePath(
  'its id or name, or the id of its entity, contains a character that some servers treat as part of the path or query',
);

/**
 * Deletes an attribute with all its instances (clauses 5.6.5 and 5.6.13), by deleteAll=true.
 *
 * Some brokers support deleteAll only for attributes with datasets, and answer 404 for all others (Orion-LD). The only instance
 * of such an attribute is deleted without the parameter. This is learnt once.
 *
 * @param item with the datasets that the broker showed of the attribute
 * @throws BrokerRefusedError if the broker has no such operation
 */
export async function deleteWholeAttribute(
  scope: Pick<PurgeScope, 'requester' | 'capabilities' | 'ledger'>,
  item: Item,
  {
    collection,
    isStale,
    ...request
  }: Omit<ItemDelete, 'path'> & { readonly collection: ListedResource['path'] },
): Promise<DeleteResult> {
  const { capabilities } = scope;
  const { entityId, attribute = '', datasets = [] } = item;
  const path = attributePath(collection, entityId, attribute);
  let hasBegun = false;
  const send = async (query: string | undefined): Promise<DeleteResult> => {
    const result = await deleteItem(scope, item, {
      ...request,
      path: path === undefined || query === undefined ? undefined : path + query,
      // Once begun, the delete is finished, because the rest of an attribute may not be listed again.
      isStale: () => !hasBegun && isStale(),
    });
    hasBegun = true;
    return result;
  };
  const hasDatasets = datasets.some((datasetId) => datasetId !== DEFAULT_DATASET);
  if (!hasDatasets && capabilities.get('needs-datasets') === true) return send('');

  const whole = await send('?deleteAll=true');
  if (whole.kind !== 'absent') return whole;
  if (!hasDatasets) {
    const single = await send('');
    // The attribute existed, and deleteAll did not find it.
    if (single.kind === 'deleted') capabilities.learn('needs-datasets', true);
    return single;
  }
  // The attribute is already gone, or deleteAll is not supported. Deleting each dataset covers both.
  const results: DeleteResult[] = [];
  for (const datasetId of datasets) results.push(await send(datasetParameter(datasetId)));
  const isGone = ({ kind }: DeleteResult) => kind === 'deleted' || kind === 'absent';
  return results.find((result) => !isGone(result)) ?? results.find(({ kind }) => kind === 'deleted') ?? whole;
}
