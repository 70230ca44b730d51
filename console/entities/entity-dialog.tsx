import { Button } from '../parts/button.js';
import { Dialog } from '../parts/dialog.js';
import { JsonText, shownJson } from '../parts/json-text.js';
import { Pending } from '../parts/states.js';
import { Where } from '../parts/where.js';
import { useLoad } from '../shared/use-load.js';
import { text } from '../strings.js';
import { openInWorkbench } from '../workbench/bench.js';
import { readEntity, type EntityPlace } from './entity-api.js';

/** An entity as the broker has it now. */
export function EntityDialog({
  id,
  place,
  onClose,
}: {
  readonly id: string;
  readonly place: EntityPlace;
  readonly onClose: () => void;
}) {
  const isHistory = place.target === 'temporal';
  const { value, error, reload } = useLoad(JSON.stringify([id, place]), (signal) =>
    readEntity(id, place, signal),
  );
  return (
    <Dialog title={id} onClose={onClose} isWide>
      <Where tenant={place.tenant?.trim() ?? ''} />
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
