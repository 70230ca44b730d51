import { useState } from 'preact/hooks';
import { Button } from '../parts/button.js';
import { text } from '../strings.js';
import type { EntityPlace } from './entity-api.js';
import { EntityDialog } from './entity-dialog.js';

/** Ids of entities; each opens its entity. */
export function SampleList({
  ids,
  place,
  label,
}: {
  readonly ids: readonly string[];
  readonly place: EntityPlace;
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
