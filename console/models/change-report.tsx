import { Button } from '../parts/button.js';
import { JsonText } from '../parts/json-text.js';
import { useState } from 'preact/hooks';
import { shownPointer } from '../shared/format.js';
import { text } from '../strings.js';
import type { ChangeReport, Difference } from './models-api.js';
import { toModel } from './routes.js';
import type { UpdatedDependent } from './references-api.js';

/** The most severe comes first. */
const CLASSES = ['breaking', 'narrowing', 'compatible'] as const;

const CHIPS = { breaking: 'chip bad', narrowing: 'chip warn', compatible: 'chip good' } as const;

/** Number of differences shown at first. */
const AT_FIRST = 50;

/** The class of a change. */
export function ChangeChip({ of }: { readonly of: Difference['class'] }) {
  return <span class={CHIPS[of]}>{of}</span>;
}

/** Lists the changes, most severe first: each with a sentence, its position, and an entity that it makes invalid. */
export function ChangeList({
  report,
  onPosition,
}: {
  readonly report: ChangeReport;
  /** Shows a position in the new schema, given by its pointer. */
  readonly onPosition?: ((pointer: string) => void) | undefined;
}) {
  const t = text.models;
  const [shown, setShown] = useState(AT_FIRST);
  const { overall, differences } = report;
  const sorted = [...differences].sort((a, b) => CLASSES.indexOf(a.class) - CLASSES.indexOf(b.class));
  return (
    <>
      <p class="verdict">
        <ChangeChip of={overall} /> {t.meanings[overall]}
      </p>
      {differences.length === 0 ? (
        <p class="quiet">{t.noDifferences}</p>
      ) : (
        <ul class="differences">
          {sorted.slice(0, shown).map((difference, index) => (
            <li key={index}>
              <ChangeChip of={difference.class} />
              <div>
                <p>{difference.detail}</p>
                <p class="place">
                  {onPosition === undefined ? (
                    <code>{shownPointer(difference.pointer)}</code>
                  ) : (
                    <button type="button" class="link" onClick={() => onPosition(difference.pointer)}>
                      <code>{shownPointer(difference.pointer)}</code>
                    </button>
                  )}{' '}
                  · {t.reasons[difference.reason]}
                </p>
                {difference.witness !== undefined && <Witness entity={difference.witness} />}
              </div>
            </li>
          ))}
        </ul>
      )}
      {sorted.length > shown && (
        <Button onClick={() => setShown(shown + 500)} label={t.showMore(sorted.length - shown)} />
      )}
    </>
  );
}

function Witness({ entity }: { readonly entity: unknown }) {
  return (
    <details>
      <summary>{text.models.witness}</summary>
      <JsonText label={text.models.witness} value={entity} />
    </details>
  );
}

/** The classes of chips for what an import or an update does. */
export const STATUS_CHIPS = {
  refused: 'chip bad',
  created: 'chip good',
  updated: 'chip busy',
  unchanged: 'chip',
} as const;

/** Maximum number of models shown. */
const MOST = 500;

/** Models that use a changed document or context, and what happens to each. */
export function DependentList({ dependents }: { readonly dependents: readonly UpdatedDependent[] }) {
  const t = text.models.imports;
  return (
    <ul class="files">
      {dependents.slice(0, MOST).map(({ domain, model, status, change, differences = [], reason }) => (
        <li key={`${domain}/${model}`}>
          <span class={STATUS_CHIPS[status]}>{status}</span>
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
