/** Schemas that several resources are made of. */

export const TIME = { type: 'string', format: 'date-time' } as const;
export const COUNT = { type: 'integer', minimum: 0 } as const;
export const VERSION_NUMBER = { type: 'integer', minimum: 1 } as const;
export const SHA256 = { type: 'string', pattern: '^[0-9a-f]{64}$' } as const;
export const TEXT = { type: 'string' } as const;
export const URL_TEXT = { type: 'string', format: 'uri' } as const;
export const STRINGS = { type: 'array', items: TEXT } as const;
