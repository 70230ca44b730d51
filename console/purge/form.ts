/** The form of a purge, its query, its preview and its confirmation. Pure. */
import { linkHeader } from '../../sidecar/client/purges.js';
import { optionsIn, purgeOption, type PurgeOptionName } from '../../sidecar/shared/purge-options.js';
import { invalidCharacter } from '../shared/header-value.js';

export type Target = 'entities' | 'temporal';

/** Parameters that have their own fields, in the order in which they are put into a query. */
export const FIELDS = [
  ...(['type', 'q', 'id', 'idPattern', 'attrs', 'scopeQ'] as const),
  ...(['georel', 'geometry', 'coordinates', 'geoproperty'] as const),
  ...(['timerel', 'timeAt', 'endTimeAt', 'timeproperty', 'datasetId'] as const),
  ...(['drop', 'keep'] as const),
  ...optionsIn('console'),
] as const;

export type Field = (typeof FIELDS)[number];

/** Fields that only one target has. For the other target, they are omitted from the query but kept in the form. */
const ONLY_OF: Readonly<Record<Target, readonly Field[]>> = {
  entities: ['drop', 'keep'],
  temporal: ['timerel', 'timeAt', 'endTimeAt', 'timeproperty', 'datasetId'],
};

/** Returns the label of an option's field, which includes the name of the parameter. */
export function optionLabel(name: PurgeOptionName): string {
  const { type, label = '' } = purgeOption(name);
  return `${label} (${typeof type !== 'string' && type.length === 1 ? `${name}=${type.join()}` : name})`;
}

export interface PurgeForm {
  readonly target: Target;
  readonly tenant: string;
  /** A Link header that names the @context. */
  readonly link: string;
  readonly fields: Readonly<Partial<Record<Field, string>>>;
  /** Parameters without a field, encoded, as in `csf=…&local=true`. */
  readonly more: string;
}

export const EMPTY_FORM: PurgeForm = { target: 'entities', tenant: '', link: '', fields: {}, more: '' };

/** Whether a field belongs to a target. */
export function hasField(target: Target, field: Field): boolean {
  return !ONLY_OF[target === 'entities' ? 'temporal' : 'entities'].includes(field);
}

/**
 * Returns the query of the form, percent-encoded.
 *
 * @param leaveOut fields to omit, such as those that a preview does not need
 */
export function queryOf({ target, fields, more }: PurgeForm, leaveOut: readonly Field[] = []): string {
  const pairs = FIELDS.filter((field) => hasField(target, field) && !leaveOut.includes(field)).flatMap(
    (field) => {
      const value = fields[field]?.trim() ?? '';
      return value === '' ? [] : [`${field}=${encodeValue(value)}`];
    },
  );
  const rest = more.trim().replace(/^[?&]+|&+$/g, '');
  return [...pairs, ...(rest === '' ? [] : [encodeQuery(rest)])].join('&');
}

/** Returns the form for a query. Parameters without a field, and repeated ones, stay visible in `more`. */
export function formOf(
  target: Target,
  query: string,
  {
    tenant = '',
    link = '',
  }: { readonly tenant?: string | undefined; readonly link?: string | undefined } = {},
): PurgeForm {
  const fields: Partial<Record<Field, string>> = {};
  const more: string[] = [];
  for (const pair of query.split('&')) {
    if (pair === '') continue;
    const [name = '', value = ''] = pair.split(/=(.*)/s);
    const text = decodedValue(value);
    const field = FIELDS.find((one) => one === name);
    if (field !== undefined && fields[field] === undefined && text !== undefined && hasField(target, field))
      fields[field] = text;
    // The preview is already a dry run.
    else if (name !== 'dryRun') more.push(pair);
  }
  return { target, tenant, link, fields, more: more.join('&') };
}

/** Encodes a value, but leaves characters that a query may contain (RFC 3986 § 3.4), for readability. */
function encodeValue(value: string): string {
  // A lone surrogate cannot be encoded.
  return encodeURIComponent(value.replace(/\p{Surrogate}/gu, '\ufffd'))
    .replace(/%(3A|2C|3B|2F|40|24)/g, (_, code: string) => String.fromCharCode(parseInt(code, 16)))
    .replace(/'/g, '%27');
}

/** Encodes characters that a query cannot contain; `%XX` counts as already encoded. */
function encodeQuery(query: string): string {
  return query.replace(/[^\w.~:,;/@$!()*=&%+-]/gu, (character) => encodeValue(character));
}

function decodedValue(value: string): string | undefined {
  try {
    return decodeURIComponent(value.replaceAll('+', ' '));
  } catch {
    return undefined;
  }
}

/** Whether nothing is selected yet. */
export function isEmpty(form: PurgeForm): boolean {
  return queryOf(form, ['drop', 'keep', ...optionsIn('console')]) === '';
}

/** Whether a header field of the form cannot be sent. */
export function hasInvalidHeader({ tenant, link }: PurgeForm): boolean {
  return invalidCharacter(tenant) !== undefined || invalidCharacter(link) !== undefined;
}

/** Returns the unit of a preview's counts. @param unit according to the gateway */
export function unitOf({ target, fields }: PurgeForm, unit: string | undefined): string {
  if (unit !== undefined || target === 'temporal') return unit ?? 'entities';
  return Boolean(fields.drop?.trim()) || Boolean(fields.keep?.trim()) ? 'attributes' : 'entities';
}

/** Returns the @context URL in a Link header, or the header itself if it does not have the usual form. */
export function contextOf(link: string): string {
  return /^<([^>]*)>/.exec(link)?.[1] ?? link;
}

/** Returns the Link header for a typed URL. */
export function linkTo(context: string): string {
  const url = context.trim();
  return url === '' ? '' : linkHeader(url);
}

/** Options that do not affect what matches. */
const NO_MATTER = optionsIn('console').filter((name) => purgeOption(name).isForDeletes);

/** Returns the query of a purge's dry run. */
export function previewQuery(form: PurgeForm): string {
  return `${queryOf(form, NO_MATTER)}&dryRun=true`;
}

/** Returns a key of everything that affects a preview: forms with the same key match the same. */
export function previewKey(form: PurgeForm): string {
  return JSON.stringify([form.target, previewQuery(form), form.tenant.trim(), form.link.trim()]);
}

/** Whether the purge has its own bound, in its field or among the other parameters. */
export function hasBound(form: PurgeForm): boolean {
  return /(?:^|&)maxAffected=/.test(queryOf(form));
}

/**
 * Returns the form of the purge to start.
 *
 * @param matched the previewed count
 * @param isBounded whether to refuse the purge if more match; a bound in the form takes precedence
 */
export function confirmedForm(form: PurgeForm, matched: number, isBounded: boolean): PurgeForm {
  if (!isBounded || hasBound(form)) return form;
  return { ...form, fields: { ...form.fields, maxAffected: String(matched) } };
}

/** Whether the count was typed, with or without separators between its digits. */
export function isCount(typed: string, matched: number): boolean {
  return typed.replaceAll(/[\s,.]/g, '') === String(matched);
}

/** Whether the typed text may still become the count. */
export function couldBeCount(typed: string, matched: number): boolean {
  return String(matched).startsWith(typed.replaceAll(/[\s,.]/g, ''));
}
