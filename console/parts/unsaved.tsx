import { text } from '../strings.js';

/** Says that what was typed is not saved, with a way to take it back. */
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
