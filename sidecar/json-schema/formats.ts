import { fullFormats } from 'ajv-formats/dist/formats.js';

/** Whether a format is asserted. Any other is accepted and means nothing. */
export function isAssertedFormat(format: string): boolean {
  return Object.hasOwn(fullFormats, format) && !['password', 'binary'].includes(format);
}
