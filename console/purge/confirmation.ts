/** What is confirmed before a purge starts. Pure: it is tested without a browser. */
import { queryOf, type PurgeForm } from './form.js';

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
