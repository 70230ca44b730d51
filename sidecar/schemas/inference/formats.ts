import { hasFormat } from '../json-schema/formats.js';
import { INFERENCE_LIMITS } from './errors.js';

/** The formats that are inferred. */
const FORMATS = ['date-time', 'date', 'time', 'uuid', 'email', 'ipv4', 'ipv6', 'uri'] as const;
export type Format = (typeof FORMATS)[number];

/**
 * What a string must look like to be taken for one of a format; the format's own check decides then.
 *
 * Of URIs, only those that are not written by accident: `Mo-Fr:08:00` and `A:1` are URIs to RFC 3986. A UUID in a URN is
 * one URN among others.
 */
const LOOKS: Readonly<Record<Format, RegExp>> = {
  'date-time': /^\d{4}-\d\d-\d\d[Tt]/,
  date: /^\d{4}-\d\d-\d\d$/,
  time: /^\d\d:\d\d:\d\d/,
  uuid: /^[\dA-Fa-f]{8}-/,
  email: /@/,
  ipv4: /^\d{1,3}\./,
  ipv6: /^[\dA-Fa-f]{0,4}:[\dA-Fa-f:.]*$/,
  uri: /^(?:urn:[^:]+:|[a-z][a-z\d+.-]*:\/\/|(?:mailto|tel|geo|did|data):)/i,
};

/** Matches every string with a format, and few others. */
const MAY_HAVE_FORMAT = /[:@]|^[\dA-Fa-f]+[.-]/;

/**
 * The format of a string by the same check that validation makes; the first that fits, so that each string has at most
 * one. Were there several, samples with fewer of them could narrow the schema.
 */
export function formatOf(text: string): Format | undefined {
  if (text.length > INFERENCE_LIMITS.formattedLength || !MAY_HAVE_FORMAT.test(text)) return undefined;
  return FORMATS.find((format) => LOOKS[format].test(text) && hasFormat(format, text));
}

/** Whether a string that is known to be a reference, such as an entity's id, is a URI by the check of validation. */
export function hasUriFormat(text: string): boolean {
  return text.length <= INFERENCE_LIMITS.formattedLength && hasFormat('uri', text);
}
