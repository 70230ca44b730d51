import { text } from '../strings.js';
import { ChangeChip, ChangeList } from './change-report.js';
import { toModel } from './places.js';
import type { UpdatedDependent } from './references-api.js';

const CHIPS = { refused: 'chip bad', updated: 'chip busy', unchanged: 'chip' } as const;

/** Maximum number of models shown. */
const MOST = 500;

/** Models that use a changed document or context, and what happens to each. */
export function DependentList({ dependents }: { readonly dependents: readonly UpdatedDependent[] }) {
  const t = text.models.imports;
  return (
    <ul class="files">
      {dependents.slice(0, MOST).map(({ domain, model, status, change, differences = [], reason }) => (
        <li key={`${domain}/${model}`}>
          <span class={CHIPS[status]}>{status}</span>
          <div>
            <a href={toModel({ domain, name: model })}>
              {domain}/{model}
            </a>{' '}
            {change !== undefined && <ChangeChip of={change} />}
            {reason !== undefined && <p>{reason}</p>}
            {change !== undefined && differences.length > 0 && (
              <details>
                <summary>{t.differences}</summary>
                <ChangeList report={{ overall: change, differences }} />
              </details>
            )}
          </div>
        </li>
      ))}
    </ul>
  );
}
