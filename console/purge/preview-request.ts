/** What is asked before a purge. Pure: it is tested without a browser. */
import { optionsIn, purgeOption } from '../../sidecar/shared/purge-options.js';
import { queryOf, type PurgeForm } from './form.js';
import { pathOf } from './request-text.js';

/** They change nothing of what matches. */
const NO_MATTER = optionsIn('console').filter((name) => purgeOption(name).isForDeletes);

/** The path of the dry run of a purge, with its query. */
export function previewPath(form: PurgeForm): string {
  return `${pathOf(form.target)}?${queryOf(form, NO_MATTER)}&dryRun=true`;
}

/** What a preview depends on: forms with the same key match the same. */
export function previewKey(form: PurgeForm): string {
  return JSON.stringify([previewPath(form), form.tenant.trim(), form.link.trim()]);
}
