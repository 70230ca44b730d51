import { text } from '../strings.js';

/** Says that changes are not saved, with a button to discard them. */
export function Unsaved({ onDiscard }: { readonly onDiscard: () => void }) {
  return (
    <>
      <span class="chip warn">{text.models.unsaved}</span>
      <button type="button" class="small" onClick={onDiscard}>
        {text.models.discard}
      </button>
    </>
  );
}
