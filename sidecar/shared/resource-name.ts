/** The valid names of domains, models and users' contexts, as a regular expression. */
export const RESOURCE_NAME_PATTERN = '^[A-Za-z0-9][A-Za-z0-9_.-]{0,127}$';

/** The same rule in words, for messages and descriptions. */
export const RESOURCE_NAME_RULE = 'a letter or digit, then up to 127 letters, digits and _ . -';

const RESOURCE_NAME = new RegExp(RESOURCE_NAME_PATTERN);

/** Whether a name is valid for a domain, a model or a context. */
export function isResourceName(name: string): boolean {
  return RESOURCE_NAME.test(name);
}
