import { Button } from './button.js';
import { text } from '../strings.js';

/** Says that changes are not saved, with a button to discard them. */
export function Unsaved({ onDiscard }: { readonly onDiscard: () => void }) {
  return (
    <>
      <span class="chip warn">{text.models.unsaved}</span>
      <Button class="small" onClick={onDiscard} label={text.models.discard} />
    </>
  );
}
