/** What an example may be called, as a regular expression; an export writes it to a file of this name. */
export const EXAMPLE_NAME_PATTERN = '^[A-Za-z0-9][A-Za-z0-9_.-]{0,121}\\.json(?:ld)?$';

/** The same in words. */
export const EXAMPLE_NAME_RULE =
  'a letter or digit, up to 121 letters, digits and _ . -, then .json or .jsonld';

/** The most bytes of one example. */
export const MAX_EXAMPLE_BYTES = 256 * 1024;

const EXAMPLE_NAME = new RegExp(EXAMPLE_NAME_PATTERN);

/** Whether an example may have this name. */
export function isExampleName(name: string): boolean {
  return EXAMPLE_NAME.test(name);
}

/**
 * Whether an example must follow NGSI-LD. Smart Data Models call examples of NGSIv2 `.json`: of those, what only NGSI-LD forbids
 * is not reported.
 */
export function isStrictExample(name: string): boolean {
  return name.endsWith('.jsonld');
}
