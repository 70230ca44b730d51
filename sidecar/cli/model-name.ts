import { usage } from './exit-codes.js';

/**
 * Splits `DOMAIN/MODEL`, or `DOMAIN/MODEL@VERSION` where a version may be named.
 *
 * @param what names the argument or option in the message
 */
export function modelNamed(text: string, what: string, mayHaveVersion = false) {
  const [, domain = '', model = '', digits] = /^([^/@]+)\/([^/@]+)(?:@(\d{1,9}))?$/.exec(text) ?? [];
  if (model === '' || (digits !== undefined && !mayHaveVersion)) {
    const forms = mayHaveVersion ? 'DOMAIN/MODEL or DOMAIN/MODEL@VERSION' : 'DOMAIN/MODEL';
    throw usage(`${what} must be ${forms}, not ${JSON.stringify(text)}.`);
  }
  return { domain, model, version: digits === undefined ? undefined : Number(digits) };
}
