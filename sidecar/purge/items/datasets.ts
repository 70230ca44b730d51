/** `datasetId` of the instances that have none. */
export const NO_DATASET = '@none';

/** Letters of any script, and the signs of a URI that mean nothing in a query, even where it is decoded too early. */
const PLAIN_VALUE = /^[\p{L}\p{M}\p{N}_.~:@!$'()/-]*[\p{L}\p{M}\p{N}_~:@!$'()-]$/u;

/**
 * The datasets of an attribute as it is shown: one instance, or several in an array (clause 4.5.5).
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
  return typeof datasetId === 'string' && datasetId !== '' ? datasetId : NO_DATASET;
}

/**
 * The query of a delete that is for one dataset of an attribute, percent-encoded. Without a parameter, only the instances
 * without a datasetId go.
 *
 * @returns undefined when a server that decodes the query before it takes it apart could read another dataset, or another
 *   parameter (`urn:x&deleteAll=true`)
 */
export function datasetParameter(datasetId: string): string | undefined {
  if (datasetId === NO_DATASET) return '';
  // A path with its query may be taken apart at slashes and dots, or be folded (full-width characters).
  const hasDots = datasetId.split('/').some((piece) => /^\.+$/.test(piece));
  const isPlain = PLAIN_VALUE.test(datasetId) && !hasDots && datasetId === datasetId.normalize('NFKC');
  return isPlain ? `?datasetId=${encodeURIComponent(datasetId)}` : undefined;
}
