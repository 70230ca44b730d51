/** The allowed names of examples, as a regular expression. An export writes an example to a file of its name. */
export const EXAMPLE_NAME_PATTERN = '^[A-Za-z0-9][A-Za-z0-9_.-]{0,121}\\.json(?:ld)?$';

/** The same rule in words. */
export const EXAMPLE_NAME_RULE =
  'a letter or digit, up to 121 letters, digits and _ . -, then .json or .jsonld';

/** Maximum size of one example, in bytes. */
export const MAX_EXAMPLE_BYTES = 256 * 1024;

const EXAMPLE_NAME = new RegExp(EXAMPLE_NAME_PATTERN);

/** Whether an example may have this name. */
export function isExampleName(name: string): boolean {
  return EXAMPLE_NAME.test(name);
}

/**
 * Whether an example must follow NGSI-LD. Smart Data Models use `.json` for NGSIv2 examples, for which violations of
 * NGSI-LD alone are not reported.
 */
export function isStrictExample(name: string): boolean {
  return name.endsWith('.jsonld');
}
