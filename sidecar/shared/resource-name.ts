/** What domains, models and contexts of users may be called, as a regular expression. */
export const RESOURCE_NAME_PATTERN = '^[A-Za-z0-9][A-Za-z0-9_.-]{0,127}$';

/** The same in words, for messages and descriptions. */
export const RESOURCE_NAME_RULE = 'a letter or digit, then up to 127 letters, digits and _ . -';

const RESOURCE_NAME = new RegExp(RESOURCE_NAME_PATTERN);

/** Whether a domain, a model or a context may have this name. */
export function isResourceName(name: string): boolean {
  return RESOURCE_NAME.test(name);
}
