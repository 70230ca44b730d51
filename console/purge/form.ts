/** What the form of a purge holds, the query that it makes, its preview and its confirmation. Pure. */
import { linkHeader } from '../../sidecar/client/purges.js';
import { optionsIn, purgeOption, type PurgeOptionName } from '../../sidecar/shared/purge-options.js';
import { unsendable } from '../shared/header-text.js';

export type Target = 'entities' | 'temporal';

/** Parameters that have fields of their own, in the order in which they are put into a query. */
export const FIELDS = [
  ...(['type', 'q', 'id', 'idPattern', 'attrs', 'scopeQ'] as const),
  ...(['georel', 'geometry', 'coordinates', 'geoproperty'] as const),
  ...(['timerel', 'timeAt', 'endTimeAt', 'timeproperty', 'datasetId'] as const),
  ...(['drop', 'keep'] as const),
  ...optionsIn('console'),
] as const;

export type Field = (typeof FIELDS)[number];

/** Fields that one target has and the other one has not: they are left out of its query, and kept in the form. */
const ONLY_OF: Readonly<Record<Target, readonly Field[]>> = {
  entities: ['drop', 'keep'],
  temporal: ['timerel', 'timeAt', 'endTimeAt', 'timeproperty', 'datasetId'],
};

/** The label of the field of an option, which names what it sets. */
export function optionLabel(name: PurgeOptionName): string {
  const { type, label = '' } = purgeOption(name);
  return `${label} (${typeof type !== 'string' && type.length === 1 ? `${name}=${type.join()}` : name})`;
}

/** The choices of an option that is one of some words; the first one leaves it to the gateway. */
export function choicesOf(words: readonly string[]): readonly (readonly [string, string])[] {
  return [['', ''], ...words.map((word) => [word, word] as const)];
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
 * The query that the form makes, percent-encoded.
 *
 * @param leaveOut fields that are to be left out, such as those that a preview has no use for
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

/** The form that makes a query. Parameters without a field, and repeated ones, stay visible in `more`. */
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
    // A dry run is what the preview does.
    else if (name !== 'dryRun') more.push(pair);
  }
  return { target, tenant, link, fields, more: more.join('&') };
}

/** Encodes a value, and leaves alone what may stand in a query as it is (RFC 3986 § 3.4), for people to read. */
function encodeValue(value: string): string {
  // Half a character cannot be encoded.
  return encodeURIComponent(value.replace(/\p{Surrogate}/gu, '\ufffd'))
    .replace(/%(3A|2C|3B|2F|40|24)/g, (_, code: string) => String.fromCharCode(parseInt(code, 16)))
    .replace(/'/g, '%27');
}

/** Encodes what cannot stand in a query, and takes `%XX` as encoded already. */
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
export function isUnsendable({ tenant, link }: PurgeForm): boolean {
  return unsendable(tenant) !== undefined || unsendable(link) !== undefined;
}

/** What the counts of a preview are in. @param unit what the gateway says */
export function unitOf({ target, fields }: PurgeForm, unit: string | undefined): string {
  if (unit !== undefined || target === 'temporal') return unit ?? 'entities';
  return Boolean(fields.drop?.trim()) || Boolean(fields.keep?.trim()) ? 'attributes' : 'entities';
}

/** The URL that a Link header names as @context; the header itself where it is none of the usual form. */
export function contextOf(link: string): string {
  return /^<([^>]*)>/.exec(link)?.[1] ?? link;
}

/** The Link header of a URL as it was typed. */
export function linkTo(context: string): string {
  const url = context.trim();
  return url === '' ? '' : linkHeader(url);
}

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

/** Whether the purge has a bound of its own, in its field or among the other parameters. */
export function hasBound(form: PurgeForm): boolean {
  return /(?:^|&)maxAffected=/.test(queryOf(form));
}

/**
 * The purge that is started.
 *
 * @param matched the count that was previewed
 * @param isBounded no more may go than that; a bound that the purge has itself stays
 */
export function confirmedForm(form: PurgeForm, matched: number, isBounded: boolean): PurgeForm {
  if (!isBounded || hasBound(form)) return form;
  return { ...form, fields: { ...form.fields, maxAffected: String(matched) } };
}

/** Whether the count was typed, with or without signs between its digits. */
export function isCount(typed: string, matched: number): boolean {
  return typed.replaceAll(/[\s,.]/g, '') === String(matched);
}

/** Whether what was typed may yet become the count. */
export function mayBeCount(typed: string, matched: number): boolean {
  return String(matched).startsWith(typed.replaceAll(/[\s,.]/g, ''));
}
