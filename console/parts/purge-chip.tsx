import { text } from '../strings.js';

const TONES: Readonly<Record<string, string>> = {
  queued: 'calm',
  running: 'busy',
  cancelling: 'busy',
  succeeded: 'good',
  partial: 'warn',
  failed: 'bad',
  cancelled: 'calm',
  refused: 'warn',
  interrupted: 'warn',
};

/** The state of a purge, in a word and a colour. */
export function PurgeChip({ state }: { readonly state: string }) {
  return <span class={`chip ${TONES[state] ?? 'calm'}`}>{text.run.states[state] ?? state}</span>;
}
