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
      {errors.length > 0 && (
        <ul class="findings">
          {errors.slice(0, 50).map((fault, index) => (
            <li key={index}>
              <code>{fault.pointer === '' ? '/' : fault.pointer}</code> {fault.detail}
            </li>
          ))}
        </ul>
      )}
      {warnings.length > 0 && (
        <ul class="findings quiet">
          {warnings.slice(0, 50).map((warning, index) => (
            <li key={index}>
              <code>{warning.pointer === '' ? '/' : warning.pointer}</code> {warning.detail}
            </li>
          ))}
        </ul>
      )}
    </>
  );
}
