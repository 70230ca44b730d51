import { useState } from 'preact/hooks';
import { Button } from '../parts/button.js';
import { text } from '../strings.js';
import { type EntityScope, readEntity } from './entity-api.js';
import { Dialog } from '../parts/dialog.js';
import { JsonText, shownJson } from '../parts/json-text.js';
import { Pending } from '../parts/states.js';
import { EnvironmentInfo } from '../parts/environment.js';
import { useLoad } from '../shared/hooks.js';
import { openInWorkbench } from '../workbench/state.js';

/** Ids of entities; each opens its entity. */
export function SampleList({
  ids,
  place,
  label,
}: {
  readonly ids: readonly string[];
  readonly place: EntityScope;
  readonly label: string;
}) {
  const [shown, setShown] = useState<string>();
  return (
    <>
      <ul class="sample" tabIndex={0} aria-label={label}>
        {ids.map((id) => (
          <li key={id}>
            <Button class="link" title={text.entity.look} onClick={() => setShown(id)} label={id} />
          </li>
        ))}
      </ul>
      {shown !== undefined && <EntityDialog id={shown} place={place} onClose={() => setShown(undefined)} />}
    </>
  );
}

/** An entity as the broker has it now. */
function EntityDialog({
  id,
  place,
  onClose,
}: {
  readonly id: string;
  readonly place: EntityScope;
  readonly onClose: () => void;
}) {
  const isHistory = place.target === 'temporal';
  const { value, error, reload } = useLoad(JSON.stringify([id, place]), (signal) =>
    readEntity(id, place, signal),
  );
  return (
    <Dialog title={id} onClose={onClose} isWide>
      <EnvironmentInfo tenant={place.tenant?.trim() ?? ''} />
      <Pending {...{ value, error, reload }} />
      {value !== undefined && isHistory && <p class="hint">{text.entity.newest}</p>}
      {value !== undefined && <JsonText label={id} value={value} isWhole />}
      <div class="actions">
        {value !== undefined && !isHistory && (
          <Button onClick={() => openInWorkbench({ text: shownJson(value) })} label={text.quality.open} />
        )}
        <Button onClick={onClose} label={text.entity.close} />
      </div>
    </Dialog>
  );
}
