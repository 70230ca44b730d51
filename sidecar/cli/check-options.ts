import type { Schemas } from '../client/operations.js';
import type { StoredOptions } from './stored-check.js';

export interface CheckOptions extends StoredOptions {
  readonly domain?: string;
  /** The Git revision with which the first folder is compared. */
  readonly against?: string;
  readonly format?: 'text' | 'json' | 'github';
  readonly json?: boolean;
  /** The least severe change of a model that fails the check. @default breaking */
  readonly failOn?: FailOn;
}

export type FailOn = 'narrowing' | 'breaking' | 'never';

/** From least to most severe. */
const CHANGES = ['compatible', 'narrowing', 'breaking'] as const;

/** Whether a change fails a check. */
export function isTooMuch(change: Schemas['ChangeReport']['overall'], failOn: FailOn): boolean {
  return failOn !== 'never' && CHANGES.indexOf(change) >= CHANGES.indexOf(failOn);
}
