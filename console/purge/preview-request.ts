/** What is asked before a purge. Pure: it is tested without a browser. */
import { optionsIn, purgeOption } from '../../sidecar/shared/purge-options.js';
import { queryOf, type PurgeForm } from './form.js';

/** They change nothing of what matches. */
const NO_MATTER = optionsIn('console').filter((name) => purgeOption(name).isForDeletes);

/** The query of the dry run of a purge. */
export function previewQuery(form: PurgeForm): string {
  return `${queryOf(form, NO_MATTER)}&dryRun=true`;
}

/** What a preview depends on: forms with the same key match the same. */
export function previewKey(form: PurgeForm): string {
  return JSON.stringify([form.target, previewQuery(form), form.tenant.trim(), form.link.trim()]);
}
