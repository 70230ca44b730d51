import { useId } from 'preact/hooks';

/** Several lines of text with their label. */
export function JsonArea({
  label,
  hint,
  value,
  onInput,
  rows = 6,
}: {
  readonly label: string;
  readonly hint?: string | undefined;
  readonly value: string;
  readonly onInput: (value: string) => void;
  readonly rows?: number;
}) {
  const id = useId();
  return (
    <div class="field wide">
      <label for={id}>{label}</label>
      <textarea
        id={id}
        rows={rows}
        value={value}
        spellcheck={false}
        autocapitalize="off"
        autocomplete="off"
        {...(hint === undefined ? {} : { 'aria-describedby': `${id}-hint` })}
        onInput={(event) => onInput(event.currentTarget.value)}
      />
      {hint !== undefined && (
        <p id={`${id}-hint`} class="hint">
          {hint}
        </p>
      )}
    </div>
  );
}
