import { shownPointer } from '../shared/format.js';
import { text } from '../strings.js';
import type { Verdict } from './models-api.js';

/** Whether an entity is valid, and why not. */
export function VerdictView({ verdict: { valid, form, errors, warnings } }: { readonly verdict: Verdict }) {
  const t = text.models.examples;
  return (
    <>
      <p>
        <span class={valid ? 'chip good' : 'chip bad'}>{valid ? t.valid : t.invalid}</span>{' '}
        <span class="quiet">{t.readAs(text.models.entityForms[form])}</span>
      </p>
      <Findings findings={errors} look="findings" />
      <Findings findings={warnings} look="findings quiet" />
    </>
  );
}

function Findings({
  findings,
  look,
}: {
  readonly findings: readonly { readonly pointer: string; readonly detail: string }[];
  readonly look: string;
}) {
  if (findings.length === 0) return null;
  return (
    <ul class={look}>
      {findings.slice(0, 50).map(({ pointer, detail }, index) => (
        <li key={index}>
          <code>{shownPointer(pointer)}</code> {detail}
        </li>
      ))}
    </ul>
  );
}
