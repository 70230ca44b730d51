import type { Purge } from '../api/client.js';

const TONES = {
  queued: 'calm',
  running: 'busy',
  cancelling: 'busy',
  succeeded: 'good',
  partial: 'warn',
  failed: 'bad',
  cancelled: 'calm',
  refused: 'warn',
  interrupted: 'warn',
} as const satisfies Record<Purge['state'], string>;

/** The states of a purge, as the API names them. */
export const JOB_STATES = Object.keys(TONES) as readonly Purge['state'][];

/** The state of a purge, with a colour. */
export function PurgeChip({ state }: Pick<Purge, 'state'>) {
  return <span class={`chip ${TONES[state]}`}>{state}</span>;
}
