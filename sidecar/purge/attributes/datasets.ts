/** Stands for the instances without a datasetId. */
export const NO_DATASET = '@none';

/** Letters, and URI characters without a meaning in a query, even if it is decoded too early. */
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
 * The query string that limits a delete to one dataset of an attribute, percent-encoded. Without it, a delete removes only
 * the instances without a datasetId.
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
